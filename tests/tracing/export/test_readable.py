"""Collected spans as the SDK's: written again, they are the same."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace import Event, Span, TracerProvider

from agentool_otel.model.spans import SpanEvent, SpanLink, SpanRecord
from agentool_otel.model.times import unsigned_ns
from agentool_otel.otlp.json_encoder import encode_spans
from agentool_otel.otlp.protobuf_encoder import encode_span, merged
from agentool_otel.reading.sources.files.span_files import SpanFiles
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.tracing.export.readable_spans import Readable

SPANS = Path(__file__).parents[2] / "fixtures" / "spans"
WHOLE = SpanRecord(
    trace_id="0" * 31 + "7",
    span_id="f" * 16,
    parent_id="0" * 15 + "1",
    name="chat m",
    kind="CLIENT",
    start_ns=1_790_000_000_000_000_001,
    end_ns=1_790_000_000_000_000_999,
    attributes={
        "text": "ä\n",
        "n": -(2**63),
        "f": 0.5,
        "b": True,
        "list": [1, "a"],
        "o": {"a": []},
    },
    events=[SpanEvent("step", 5, {"n": 1})],
    links=[SpanLink("1" * 32, "2" * 16, {"why": "retry"})],
    status="ERROR",
    status_message="no luck",
    scope="some.scope",
    resource={"service.name": "bot", "telemetry.sdk.version": "1.45"},
)
BARE = SpanRecord("1" * 32, "2" * 16, name="bare")


def test_spans_survive_either_encoding() -> None:
    results = [Readable()(span) for span in (WHOLE, BARE)]
    for data in (encode_spans(results), merged(map(encode_span, results))):
        assert list(SpanFiles([BytesIO(data)]).spans()) == [WHOLE, BARE]


@pytest.mark.parametrize(
    "fixture", ["openai-3.54.0.openinference", "strands-agents-1.62.0.strands", "mcp-2.3.0.gen_ai"]
)
def test_spans_recorded_by_others_survive_too(fixture: str) -> None:
    spans = list(open_source(SPANS / f"{fixture}.jsonl").spans())
    readable = Readable()
    data = b"\n".join(encode_spans([readable(span)]) for span in spans)
    assert list(SpanFiles([BytesIO(data)]).spans()) == spans


def test_equal_resources_and_scopes_are_built_once() -> None:
    readable = Readable()
    one, second = readable(WHOLE), readable(WHOLE)
    assert one.resource is second.resource
    assert one.instrumentation_scope is second.instrumentation_scope


@pytest.mark.parametrize("odd", [{"a": b"\xff"}, {"a": float("nan")}, {"a": "\ud800"}, {"a": None}])
def test_odd_resources_raise_nothing(odd: dict[str, Any]) -> None:
    span = SpanRecord("1" * 32, "2" * 16, name="odd", resource=odd)
    assert encode_spans([Readable()(span)])


TIMES = st.integers() | st.floats() | st.none() | st.text(max_size=3)


@given(TIMES, TIMES, TIMES.filter(lambda time: time is not None))  # an event without one is now
def test_whatever_a_program_takes_for_a_time_its_span_arrives(
    start: Any, end: Any, happened: Any
) -> None:
    span = TracerProvider(shutdown_on_exit=False).get_tracer("a").start_span("b", start_time=start)
    assert isinstance(span, Span)
    span._add_event(Event("e", timestamp=happened))
    span._start_time, span._end_time = start, end
    for data in (encode_spans([span]), encode_span(span)):
        [result] = SpanFiles([BytesIO(data)]).spans()
        assert result.start_ns == (unsigned_ns(start) or None)
        assert result.end_ns == (unsigned_ns(end) or None)
        assert result.events[0].time_ns in (unsigned_ns(happened), None)
