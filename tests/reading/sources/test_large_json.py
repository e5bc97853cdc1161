"""A document that does not fit into memory gives the spans that it would give as a whole."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.files import large_json, otlp_json
from agentool_otel.reading.sources.files.any_json import AnyJson
from agentool_otel.reading.sources.files.large_json import LargeJson
from agentool_otel.reading.sources.opening import open_source

TRACE = "6a" * 16


def span(number: int, words: str = "hi") -> dict[str, Any]:
    return {
        "traceId": TRACE,
        "spanId": f"{number:016x}",
        "name": f"span {number}",
        "startTimeUnixNano": "1",
        "attributes": [{"key": "k", "value": {"stringValue": words}}],
    }


def resource(name: str, *scopes: tuple[str, list[dict[str, Any]]]) -> dict[str, Any]:
    texts = [{"key": "service.name", "value": {"stringValue": name}}]
    return {
        "resource": {"attributes": texts},
        "scopeSpans": [{"scope": {"name": scope}, "spans": spans} for scope, spans in scopes],
    }


DOCUMENT = {
    "resourceSpans": [
        resource("a", ("x", [span(n) for n in range(1, 20)]), ("y", [span(50)])),
        resource("b", ("z", [span(n, "ho" * 400) for n in range(100, 104)])),
    ]
}


def whole(value: Any) -> list[SpanRecord]:
    return list(AnyJson(unexpected, unexpected).spans(value, ""))


def by_pieces(text: str, window: int) -> Iterator[SpanRecord]:
    data = text.encode()
    large = LargeJson(data[:7], io.BytesIO(data[7:]), window)
    for value in large.values():
        yield from AnyJson(unexpected, unexpected).spans(value, "")
    assert large.rest is None


def unexpected(*text: object) -> None:
    raise AssertionError(text)


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("window", [700, 3000, 1 << 20])
def test_spans_keep_their_resource_and_scope(window: int, indent: int | None) -> None:
    pieces = list(by_pieces(json.dumps(DOCUMENT, indent=indent), window))
    assert pieces == whole(DOCUMENT)


@given(st.integers(200, 4000), st.lists(st.lists(st.integers(0, 900), min_size=1, max_size=6)))
def test_lists_of_spans_of_any_length_are_read_completely(
    window: int, sizes: list[list[int]]
) -> None:
    values = [{"data": [span(1 + n, "é" * size) for n, size in enumerate(one)]} for one in sizes]
    expected = [item for value in values for one in value["data"] for item in whole(one)]
    assert list(by_pieces(json.dumps(values, ensure_ascii=False), window)) == expected


def test_a_span_larger_than_the_window_is_one_value() -> None:
    (result,) = by_pieces(json.dumps([span(1, "long" * 1000)]), 100)
    assert result.attributes["k"] == "long" * 1000


def test_an_endless_text_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(large_json, "_LONGEST", 1000)
    stream = io.BytesIO(b'{"a":"' + b"a" * 100_000)
    large = LargeJson(b"", stream, 400)
    assert list(large.values()) == []
    assert large.rest is not None
    assert len(large.rest) < 10_000


def test_several_documents_may_follow_each_other() -> None:
    text = "\n".join([json.dumps(DOCUMENT, indent=1)] * 2)
    assert len(list(by_pieces(text, 500))) == 2 * len(whole(DOCUMENT))


def test_a_damaged_tail_loses_only_the_tail() -> None:
    text = json.dumps([span(n) for n in range(1, 30)])[:-100]
    large = LargeJson(b"", io.BytesIO(text.encode()), 400)
    names = [value[0]["name"] for value in large.values()]
    assert names == [f"span {n}" for n in range(1, 29)]
    assert large.rest is not None
    assert large.rest.startswith(b'{"traceId"')


def test_a_file_above_the_limits_is_read_in_windows(tmp_path: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(otlp_json, "_LARGE_BLOCK", 1000)
    monkeypatch.setattr(otlp_json, "LARGE_LINE", 1000)
    for indent in (None, 1):
        file = tmp_path / f"{indent}.json"
        file.write_text(json.dumps(DOCUMENT, indent=indent) + '\n{"cut": [')
        source = open_source(file)
        assert list(source.spans()) == whole(DOCUMENT)
        assert "cut short or damaged" in source.problems[-1].message


def test_a_jaeger_trace_is_one_value_with_its_processes() -> None:
    spans = [
        {"traceID": TRACE, "spanID": f"{n:016x}", "operationName": "x", "processID": "p1"}
        for n in range(1, 20)
    ]
    process = {"p1": {"serviceName": "shop"}}
    traces = {"data": [{"traceID": TRACE, "spans": spans, "processes": process}]}
    pieces = list(by_pieces(json.dumps(traces), 300))
    assert [item.resource for item in pieces] == [{"service.name": "shop"}] * 19
