"""The law of unread values: "not captured" means that nothing in the file has it.

A value under a name that no reader takes is unread, by that name, in every container and
vocabulary.
"""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.cli import main
from agentool_otel.model import operations as ops
from agentool_otel.model.spans import SpanEvent, SpanRecord
from tests.click_runner import CliRunner
from tests.laws import many
from tests.programs import WRITERS, spans_of, words
from tests.reading.sources.encoders import ENCODERS, Encoder

NAMES = {
    "tool_call.arguments": ["zz.arguments_b64", "zz.tool_arguments", "app.call.arguments"],
    "tool_result.output": ["zz.tool.result_text", "zz.tool_response", "app.tool.output.raw"],
    "input": ["zz.prompt_text", "app.user.request"],
    "output": ["zz.completion_text", "app.final.response"],
}


@pytest.mark.parametrize("encoder", ENCODERS, ids=lambda encoder: encoder.name)
@settings(max_examples=many(25, fewer=5))
@given(
    member=st.sampled_from([*NAMES]),
    number=st.integers(0, 2),
    value=words,
    writer=st.sampled_from([*WRITERS]),
)
def test_a_value_under_an_unknown_name_is_unread(
    encoder: Encoder, member: str, number: int, value: str, writer: str
) -> None:
    tool = ops.ToolExecution(name="t", call_id="c")
    program: list[ops.Operation] = [ops.AgentInvocation(agent_name="a"), tool]
    names = NAMES[member]
    name = names[number % len(names)]
    assert outcomes(encoder, spans_of(program, WRITERS[writer]), member) == ["not_captured"]
    spans = spans_of(program, WRITERS[writer])
    spans["tool" in member].attributes[name] = value
    assert outcomes(encoder, spans, member, naming=name) == ["unread"]


KEEPING_EVENTS = [
    encoder
    for encoder in ENCODERS
    if encoder.kept(SpanRecord("1" * 32, "2" * 16, events=[SpanEvent("x", 1)])).events
]


@pytest.mark.parametrize("encoder", KEEPING_EVENTS, ids=lambda encoder: encoder.name)
@settings(max_examples=many(25, fewer=5))
@given(name=words, count=st.integers(1, 3), writer=st.sampled_from([*WRITERS]))
def test_an_event_that_no_reader_takes_is_unread(
    encoder: Encoder, name: str, count: int, writer: str
) -> None:
    spans = spans_of([ops.AgentInvocation(agent_name="a")], WRITERS[writer])
    start = spans[0].start_ns or 0
    spans[0].events = [SpanEvent(f"zz.{name}", start + 10**9 * n, {"n": "1"}) for n in range(count)]
    report, words_printed = report_of(encoder.encode(spans))
    assert report["unread_events"] == {f"zz.{name}": count}
    assert f"{count} unread events" in words_printed


def report_of(data: bytes) -> tuple[Any, str]:
    """Return the fidelity report of the one run in a file, and standard error."""
    with TemporaryDirectory() as folder:
        (file := Path(folder) / "spans").write_bytes(data)
        report = Path(folder) / "report"
        result = CliRunner().invoke(main, ["rebuild", str(file), "--fidelity", str(report)])
        return json.loads(report.read_text()), result.stderr


def outcomes(encoder: Encoder, spans: list[SpanRecord], member: str, naming: str = "") -> list[Any]:
    """Return the outcomes of a member in the fidelity report, of notes that name an attribute."""
    notes = report_of(encoder.encode(spans))[0]["notes"]
    return [
        note["outcome"]
        for note in notes
        if note["field"] == member and naming in note.get("rule", "")
    ]
