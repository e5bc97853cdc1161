"""The law of cut values: JSON that ends in the middle is kept, and noted as truncated.

Stores and SDKs cut attributes at a length. What is left of an argument or a result is in the
document as text; of messages, the text that they have up to there.
"""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.cli import main
from agentool_otel.model import operations as ops
from agentool_otel.model.messages import message, text, text_of
from agentool_otel.model.spans import SpanRecord
from tests.click_runner import CliRunner
from tests.laws import many
from tests.programs import WRITERS, spans_of, words
from tests.reading.sources.encoders import ENCODERS, Encoder

values = st.one_of(
    st.dictionaries(words, words | st.integers(0, 999), min_size=1, max_size=2),
    st.lists(st.integers(1, 99), min_size=2, max_size=3),
    st.lists(words, min_size=2, max_size=3),
    st.dictionaries(words, st.lists(st.integers(1, 99), min_size=2), min_size=1, max_size=1),
)
questions = words.map(lambda word: [message("user", [text(f"i{word}")])])
answers = words.map(lambda word: [message("assistant", [text(f"o{word}")])])


@pytest.mark.parametrize("encoder", ENCODERS, ids=lambda encoder: encoder.name)
@settings(max_examples=many(25, fewer=5))
@given(
    agent=st.builds(ops.AgentInvocation, agent_name=words, input=questions, output=answers),
    call=st.builds(ops.ToolExecution, name=words, call_id=words, arguments=values, result=values),
    writer=st.sampled_from([*WRITERS]),
    share=st.floats(0.05, 0.95),
)
def test_cut_json_is_kept(
    encoder: Encoder, agent: ops.AgentInvocation, call: ops.ToolExecution, writer: str, share: float
) -> None:
    spans = spans_of([agent, call], WRITERS[writer])
    cut: list[list[str]] = [cut_values(span, share) for span in spans]
    document, report = rebuilt_with_report(encoder.encode(spans))
    steps = {step["type"]: step for step in document["steps"]}
    for value in cut[1]:
        assert value in (
            steps["tool_call"]["tool_call"]["arguments"],
            steps["tool_result"]["tool_result"]["output"],
        )
    for field, messages in (("input", agent.input), ("output", agent.output)):
        assert messages is not None
        whole = text_of(messages[0])
        left = document.get(field, "")
        assert whole is not None
        assert whole.startswith(left)
        assert left or not any(f'"content":"{whole[0]}' in value for value in cut[0])
    truncated = [
        note for note in report["notes"] if note["outcome"] == "truncated" and "attribute" in note
    ]
    assert len(truncated) == len([value for value in chain(*cut) if set(value[1:]) & set('",:[{')])


def cut_values(span: SpanRecord, share: float) -> list[str]:
    """Cut every JSON text on a span, and return what is left of each."""
    left: list[str] = []
    for name, value in span.attributes.items():
        if isinstance(value, str) and value[:1] in ("{", "["):
            span.attributes[name] = value[: max(1, int(share * len(value)))]
            left.append(span.attributes[name])
    return left


def rebuilt_with_report(data: bytes) -> tuple[Any, Any]:
    """Return the one document of a file and its fidelity report, as the command writes them."""
    with TemporaryDirectory() as folder:
        (file := Path(folder) / "spans").write_bytes(data)
        report = Path(folder) / "report"
        result = CliRunner().invoke(main, ["rebuild", str(file), "--fidelity", str(report)])
        return json.loads(result.stdout), json.loads(report.read_text())
