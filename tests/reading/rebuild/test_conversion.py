"""Recorded spans in the words of another dialect: the same traces come of them."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from msgspec import structs

from agentool_otel.dialects import classify, writing_dialect
from agentool_otel.dialects.gen_ai.dialect import GenAI
from agentool_otel.loading import rebuild
from agentool_otel.model import operations as ops
from agentool_otel.model.messages import message, text, tool_call
from agentool_otel.model.spans import SpanEvent, SpanLink, SpanRecord
from agentool_otel.otlp.json_encoder import encode_spans
from agentool_otel.reading.rebuild.conversion import converted
from agentool_otel.reading.sources.files.span_files import SpanFiles
from agentool_otel.reading.sources.grouping.by_trace import by_trace
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.tracing.export.readable_spans import Readable
from tests.dialects.test_beside import replayed
from tests.strategies import exact, traces

SPANS = Path(__file__).parents[2] / "fixtures" / "spans"
DIALECTS = ["gen_ai", "openinference", "traceloop"]
ASKED = [message("user", [text("go")])]
ANSWERED = [message("assistant", [text("done")], "stop")]


def rebuilt(spans: Sequence[SpanRecord]) -> list[dict[str, Any]]:
    return [item.trace.to_dict() for item in rebuild(spans)]


def through_a_file(spans: Sequence[SpanRecord]) -> list[SpanRecord]:
    readable = Readable()
    data = encode_spans([readable(span) for span in spans])
    return list(SpanFiles([BytesIO(data)]).spans())


def span(number: int, above: int, operation: ops.Operation, **others: Any) -> SpanRecord:
    """A span of ours, a microsecond inside the one above it."""
    name, kind, attributes = GenAI().write(operation)
    return SpanRecord(
        "a" * 32,
        f"{number:016x}",
        f"{above:016x}" if above else None,
        name,
        kind,
        number * 1_000,
        99_000 - number * 1_000,
        attributes,
        scope="agentool_otel",
        resource={"service.name": "app", "telemetry.sdk.name": "opentelemetry"},
        **others,
    )


def called(model: str, *parts: Any, **others: Any) -> ops.Inference:
    usage = ops.Usage(input_tokens=10, output_tokens=2)
    texts = [message("assistant", parts or [text("done")], "stop")]
    return ops.Inference(request_model=model, input=ASKED, output=texts, usage=usage, **others)


NESTED = [
    span(1, 0, ops.AgentInvocation(agent_name="lead", input=ASKED, output=ANSWERED)),
    span(2, 1, called("gpt", tool_call("look_up", {"a": 1}, "c1"))),
    span(
        3,
        1,
        ops.ToolExecution(name="look_up", call_id="c1", arguments={"a": 1}, tool_error="no map",
                          error_type="LookupError", error_message="no map"),
        status="ERROR",
        status_message="no map",
        events=[SpanEvent("exception", 3_500, {"exception.message": "no map"})],
    ),
    span(4, 1, ops.AgentInvocation(agent_name="helper", input=ASKED, output=ANSWERED)),
    span(5, 4, called("gpt-mini"), links=[SpanLink("b" * 32, "c" * 16, {"why": "retry"})]),
    span(6, 4, ops.Unclassified(extra={"http.method": "GET"})),
]  # fmt: skip
"""An agent below an agent, each with a call of its own."""


@pytest.mark.thorough
@pytest.mark.parametrize("dialect", ["openinference", "traceloop"])
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(document=traces)
def test_our_own_recordings_give_the_same_traces_after_conversion(
    dialect: str, document: dict[str, Any]
) -> None:
    spans = replayed(document)
    written = [converted(item, writing_dialect(dialect)) for item in spans]
    back = [converted(item, writing_dialect("gen_ai")) for item in written]
    assert exact(rebuilt(written)) == exact(rebuilt(spans)) == exact(rebuilt(back))


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(
    "fixture",
    [
        "openai-3.54.0.openinference",
        "langchain-1.4.7.openinference",
        "openai-3.54.0.traceloop",
        "google-adk-2.13.0.adk",
        "strands-agents-1.62.0.strands",
        "pydantic-ai-slim-2.68.0.pydantic_ai",
        "ai-6.0.326.vercel_ai",
        "langfuse-5.0.4.langfuse",
        "logfire-5.2.0-agents.logfire",
        "voltagent-core-2.10.0.voltagent",
        "opentelemetry-instrumentation-genai-openai-1.3b0-events.gen_ai",
    ],
)
def test_foreign_recordings_give_the_same_traces_after_conversion(
    fixture: str, dialect: str
) -> None:
    recorded = [item for trace in by_trace(open_source(SPANS / f"{fixture}.jsonl").spans())
                for item in trace]  # fmt: skip
    file = through_a_file([converted(item, writing_dialect(dialect)) for item in recorded])
    assert rebuilt(file) == rebuilt(recorded)


@pytest.mark.parametrize("dialect", ["openinference", "traceloop"])
def test_nested_agents_and_their_model_calls_stay_one_trace(dialect: str) -> None:
    file = through_a_file([converted(item, writing_dialect(dialect)) for item in NESTED])
    assert rebuilt(file) == rebuilt(NESTED)
    assert {classify(item)[0] for item in file[:5]} == {dialect}
    assert [type(classify(item)[1]) for item in file] == [
        type(classify(item)[1]) for item in NESTED
    ]


@pytest.mark.parametrize("dialect", DIALECTS)
def test_everything_but_names_and_attributes_stays(dialect: str) -> None:
    for before in NESTED:
        after = converted(before, writing_dialect(dialect))
        same = {"name": before.name, "kind": before.kind, "attributes": before.attributes}
        assert structs.replace(after, **same) == before


@pytest.mark.parametrize("dialect", DIALECTS)
def test_spans_already_in_the_dialect_are_returned_unchanged(dialect: str) -> None:
    foreign = SpanRecord("a" * 32, "b" * 16, name="GET /", attributes={"http.method": "GET"})
    steps = SpanRecord("a" * 32, "b" * 16, name="agentool.steps", scope="agentool_otel")
    for item in (foreign, steps, converted(NESTED[0], writing_dialect(dialect))):
        assert converted(item, writing_dialect(dialect)) is item


def test_error_of_an_event_is_written_in_dialect_form() -> None:
    texts = {"exception.type": "ValueError", "exception.message": "no map"}
    failed = SpanRecord(
        "a" * 32,
        "b" * 16,
        name="look_up",
        attributes={"openinference.span.kind": "TOOL", "tool.name": "look_up"},
        events=[SpanEvent("exception", 1, texts)],
        status="ERROR",
        status_message="ValueError: no map",
    )
    result = converted(failed, writing_dialect("gen_ai"))
    assert (result.status_message, result.attributes["error.type"]) == ("no map", "ValueError")
