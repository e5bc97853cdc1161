"""Spans decoded when their trace is complete: the same spans, whatever is wrong in them."""

from __future__ import annotations

from pathlib import Path

import orjson
import pytest

from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.files.undecoded import UndecodedSpan, undecoded_spans
from agentool_otel.reading.sources.grouping.by_trace import by_trace
from agentool_otel.reading.sources.opening import open_source

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPANS = {
    "as exporters write it": {"traceId": TRACE, "spanId": "b7ad6b7169203331", "name": "chat"},
    "members in another order": {"name": "chat", "spanId": "b7ad6b7169203331", "traceId": TRACE},
    "ids in capitals": {"traceId": TRACE.upper(), "spanId": "B7AD6B7169203331", "name": "chat"},
    "an attribute of a wrong type": {
        "traceId": TRACE,
        "spanId": "b7ad6b7169203331",
        "name": "chat",
        "attributes": None,
    },
    "a time that is text": {
        "traceId": TRACE,
        "spanId": "b7ad6b7169203331",
        "startTimeUnixNano": "7",
    },
}


def recording(folder: Path, *spans: object) -> Path:
    path = folder / "spans.jsonl"
    scopes = [{"scope": {"name": "it"}, "spans": spans}]
    resource = {"attributes": [{"key": "service.name", "value": {"stringValue": "bot"}}]}
    document = {"resourceSpans": [{"resource": resource, "scopeSpans": scopes}]}
    path.write_bytes(orjson.dumps(document) + b"\n")
    return path


@pytest.mark.parametrize("budget", [64 << 20, 0], ids=["in memory", "through the disk"])
@pytest.mark.parametrize("span", SPANS.values(), ids=SPANS)
def test_an_undecoded_span_decodes_to_the_span_that_reading_gives(
    span: object, budget: int, tmp_path: Path
) -> None:
    second = {"traceId": "f" * 32, "spanId": "1" * 16}
    path = recording(tmp_path, span, second)
    plain: list[SpanRecord] = sorted(open_source(path).spans(), key=lambda span: span.span_id)
    grouped = [
        item for trace in by_trace(undecoded_spans(open_source(path)), budget) for item in trace
    ]
    assert sorted(grouped, key=lambda item: item.span_id) == plain


def test_spans_as_exporters_write_them_are_left_undecoded(tmp_path: Path) -> None:
    [span] = undecoded_spans(open_source(recording(tmp_path, SPANS["as exporters write it"])))
    assert isinstance(span, UndecodedSpan)


def test_a_span_without_a_usable_id_is_reported_and_left_out(tmp_path: Path) -> None:
    bad = {"traceId": TRACE, "spanId": "", "name": "chat"}
    source = open_source(recording(tmp_path, bad, SPANS["as exporters write it"]))
    [[result]] = by_trace(undecoded_spans(source))
    assert result.span_id == "b7ad6b7169203331"
    [problem] = source.problems
    assert "span 'chat' left out" in problem.message
    assert "line 1" in problem.where


def test_a_trace_of_unusable_spans_alone_is_no_trace(tmp_path: Path) -> None:
    source = open_source(recording(tmp_path, {"traceId": TRACE, "spanId": ""}))
    assert list(by_trace(undecoded_spans(source))) == []
