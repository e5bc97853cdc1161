"""The law of unknown vocabularies: spans that plainly name a tool, a model or an agent are read.

Everything read so is inferred, and nothing is read so that another dialect reads.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.model import operations as ops
from agentool_otel.model.spans import SpanRecord
from tests.laws import many
from tests.programs import START, WRITERS, programs, read_file, rebuilt, spans_of, words
from tests.reading.sources.encoders import ENCODERS, Encoder

TOOLS = ["tool_name", "toolName", "my.tool_name", "agent.tool.name", "TOOL_NAME", "tool"]
ARGUMENTS = ["arguments", "tool_input", "app.tool.arguments", "toolArgs", "input"]
RESULTS = ["result", "tool_output", "app.tool.result", "output"]
MODELS = ["model", "model_name", "llm.model", "request.modelName"]
INPUT_TOKENS = ["input_tokens", "prompt_tokens", "usage.promptTokens", "app.llm.input_tokens"]
OUTPUT_TOKENS = ["output_tokens", "completion_tokens", "usage.completionTokens"]
AGENTS = ["agent_name", "agentName", "crew.agent.name", "my_agent_name"]
OF_SERVERS = ["http.request.method", "db.system", "rpc.method", "messaging.system"]
_SECOND = 10**9
_OTHERS = {"Phoenix", "Phoenix data frame", "Langfuse", "MLflow"}
"""Encoders of stores that add names of their own, which are a known vocabulary."""
UNKNOWN = [encoder for encoder in ENCODERS if encoder.name not in _OTHERS]


def spans_with(*attributes: dict[str, Any]) -> list[SpanRecord]:
    """Return spans of no known vocabulary, the first one around the others."""
    return [
        SpanRecord(
            "1" * 32,
            f"{n + 1:016x}",
            None if n == 0 else f"{1:016x}",
            f"step {n}",
            start_ns=START + n * _SECOND,
            end_ns=START + (100 if n == 0 else n + 1) * _SECOND,
            attributes=values,
            scope="app",
        )
        for n, values in enumerate(attributes)
    ]


@st.composite
def traces(draw: st.DrawFn) -> list[SpanRecord]:
    """Draw the spans of an agent that calls a model and a tool, in names of its own."""
    one = st.sampled_from
    return spans_with(
        {draw(one(AGENTS)): "planner"},
        {
            draw(one(MODELS)): "m-1",
            draw(one(INPUT_TOKENS)): draw(st.integers(1, 99)),
            draw(one(OUTPUT_TOKENS)): draw(st.integers(1, 99)),
        },
        {
            draw(one(TOOLS)): "search",
            draw(one(ARGUMENTS)): '{"q": "x"}',
            draw(one(RESULTS)): "found",
        },
    )


@pytest.mark.parametrize("encoder", UNKNOWN, ids=lambda encoder: encoder.name)
@settings(max_examples=many(50, fewer=10))
@given(spans=traces())
def test_a_span_that_plainly_names_a_call_is_one(encoder: Encoder, spans: list[SpanRecord]) -> None:
    [run] = rebuilt(encoder.encode(spans))
    counts = [int(value) for key, value in spans[1].attributes.items() if "token" in key.lower()]
    steps = [step for step in run["steps"] if step["type"] in ("tool_call", "tool_result")]
    assert run["agent_id"] == "planner"
    assert run["metrics"]["total_tokens"] == sum(counts)
    assert steps[0]["tool_call"]["name"] == "search"
    assert steps[0]["tool_call"]["arguments"] == {"q": "x"}
    assert steps[1]["tool_result"]["output"] == "found"


@settings(max_examples=many(200, fewer=10))
@given(spans=traces())
def test_everything_read_so_is_inferred(spans: list[SpanRecord], tmp_path_factory: Any) -> None:
    report = tmp_path_factory.mktemp("reports") / "fidelity.jsonl"
    reading = read_file(ENCODERS[0].encode(spans), "rebuild", "--fidelity", str(report))
    notes = json.loads(report.read_text())["notes"]
    assert notes
    assert [note for note in notes if note["outcome"] == "kept"] == []
    assert "3 spans of no known vocabulary" in reading.words


@pytest.mark.parametrize("encoder", UNKNOWN, ids=lambda encoder: encoder.name)
@settings(max_examples=many(50, fewer=10))
@given(spans=traces(), key=st.sampled_from(OF_SERVERS))
def test_spans_of_servers_and_databases_are_no_calls(
    encoder: Encoder, spans: list[SpanRecord], key: str
) -> None:
    for span in spans:
        span.attributes = {**span.attributes, key: "x"}
    assert rebuilt(encoder.encode(spans)) == []


@settings(max_examples=many(200, fewer=5))
@given(
    program=programs(),
    writer=st.sampled_from([*WRITERS]),
    keys=st.sets(st.sampled_from([*TOOLS, *MODELS, *INPUT_TOKENS, *AGENTS]), min_size=1),
    value=words,
)
def test_what_another_dialect_reads_is_left_to_it(
    program: list[ops.Operation], writer: str, keys: set[str], value: str
) -> None:
    spans = spans_of(program, WRITERS[writer])
    expected = rebuilt(ENCODERS[0].encode(spans))
    for span in spans:
        span.attributes = {**dict.fromkeys(keys, value), **span.attributes}
    assert rebuilt(ENCODERS[0].encode(spans)) == expected


ORDINARY: list[dict[str, Any]] = [
    {"tool": "maven", "result": "SUCCESS"},
    {"tool": "excavator", "input": "2 days", "output": "420 EUR"},
    {"tool_name": "eslint", "arguments": "--fix", "result": "0 problems"},
    {"tool_name": "ruff", "exit_code": 0},
    {"tool": "fetch", "function_name": "window.fetch", "arguments": '["/x"]', "result": "200"},
    {"function_name": "resize", "arguments": "{}", "result": "ok"},
    {"code.function.name": "Order.save", "model": "app.models.Order", "input": "3", "output": "ok"},
    {"model": "SignupForm", "messages": '["too short"]'},
    {"model": "churn-xgb", "input": "[1,2]", "output": "0.4"},
    {"device.model.name": "iPhone", "user_agent.name": "Chrome"},
    {"agent_name": "gitlab-runner-1", "stage": "deploy"},
    {"agent_name": "Jane Doe", "result": "issued"},
    {"agent.name": "Operator 7", "input": "part 3"},
]


@pytest.mark.parametrize("attributes", ORDINARY, ids=str)
@settings(max_examples=many(50, fewer=10))
@given(program=programs(), writer=st.sampled_from([*WRITERS]), place=st.integers(0, 3))
def test_ordinary_spans_are_no_calls(
    attributes: dict[str, Any], program: list[ops.Operation], writer: str, place: int
) -> None:
    assert rebuilt(ENCODERS[0].encode(spans_with(attributes))) == []
    spans = spans_of(program, WRITERS[writer])
    expected = rebuilt(ENCODERS[0].encode(spans))
    parent = spans[place % len(spans)]
    [span] = spans_with(attributes)
    span.trace_id, span.span_id, span.parent_id = parent.trace_id, "f" * 16, parent.span_id
    assert rebuilt(ENCODERS[0].encode([*spans, span])) == expected
