"""Damage costs what is damaged: all other spans are read, as if it were not there."""

from __future__ import annotations

import io
import json
import tracemalloc
from functools import partial
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.files import otlp_json
from agentool_otel.reading.sources.files.large_json import LargeJson
from agentool_otel.reading.sources.files.span_files import SpanFiles

SPANS = 24
DAMAGE = '"\0'
"""Stands nowhere in JSON."""


def span(number: int) -> dict[str, Any]:
    return {
        "traceId": "6a" * 16,
        "spanId": f"{number + 1:016x}",
        "name": f"span {number}",
        "startTimeUnixNano": str(number + 1),
        "attributes": [{"key": "said", "value": {"stringValue": 'é "{' + "a" * 20}}],
        "links": [{"traceId": "6b" * 16, "spanId": "6c" * 8}] * (number % 3),
    }


def document(first: int) -> dict[str, Any]:
    return {
        "resourceSpans": [
            {
                "resource": {
                    "attributes": [{"key": "service.name", "value": {"stringValue": item}}]
                },
                "scopeSpans": [
                    {"scope": {"name": f"{item} scope"}, "spans": [*map(span, numbers)]}
                ],
            }
            for item, numbers in (
                (f"service {first}", range(first, first + 8)),
                (f"service {first + 8}", range(first + 8, first + 12)),
            )
        ]
    }  # fmt: skip


def text_of(indent: int | None) -> str:
    documents = [document(first) for first in range(0, SPANS, 12)]
    return "".join(json.dumps(item, indent=indent, ensure_ascii=False) + "\n" for item in documents)


@pytest.fixture(params=["as a whole", "in windows"])
def _size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "in windows":
        monkeypatch.setattr(otlp_json, "LARGE_LINE", 3000)
        monkeypatch.setattr(otlp_json, "_LARGE_BLOCK", 2000)
        monkeypatch.setattr(otlp_json, "LargeJson", partial(LargeJson, window=1000))


def test_a_document_that_ends_between_two_spans_is_damaged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(otlp_json, "LARGE_LINE", 1000)
    text = text_of(None)
    source = read(text[: text.index('{"traceId"', 3000)])
    assert len(list(source.spans())) > 3
    assert any("cut short" in problem.message for problem in source.problems)


@pytest.mark.thorough
@pytest.mark.usefixtures("_size")
@pytest.mark.parametrize("_size", ["in windows"], indirect=True)
def test_a_damaged_document_is_never_held_as_a_whole() -> None:
    assert peak_of(16_000) < 2 * peak_of(4000)


@pytest.mark.usefixtures("_size")
@pytest.mark.parametrize("line", ["{'a': 1}", "{", "[", "[" + 300 * " ", "x {", '{"a": [}'])
def test_lines_that_are_not_json_are_skipped(line: str) -> None:
    source = read(f"{line}\n" * 5000 + text_of(None))
    assert len(list(source.spans())) == SPANS


@pytest.mark.parametrize(
    "word", ['"spans":[', '"resource":{"a":', '{"traceId":', '{"traceId":1,"a":[']
)
def test_damage_upon_damage_is_given_up(word: str) -> None:
    good = json.dumps(document(0))
    source = read("{" + word * 100_000 + "\n" + good)
    assert len(list(source.spans())) == 12


def peak_of(count: int) -> int:
    spans = {"data": [span(number) for number in range(count)]}
    source = read(json.dumps(spans).replace("span 10", DAMAGE, 1))
    tracemalloc.start()
    result = sum(1 for _ in source.spans())
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert result == count - 1
    return peak


def read(text: str) -> SpanFiles:
    return SpanFiles([io.BytesIO(text.encode())])


@pytest.mark.usefixtures("_size")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, SPANS - 1), st.floats(0.01, 0.99), st.sampled_from([None, 1]))
def test_a_damaged_span_loses_only_itself(number: int, share: float, indent: int | None) -> None:
    text = text_of(indent)
    spans = list(read(text).spans())
    start = text.index(f'"spanId": "{number + 1:016x}"')
    end = text.index('"links"', start)
    at = int(start + share * (end - start))
    source = read(text[:at] + DAMAGE + text[at:])
    result = list(source.spans())
    assert shown(result) == shown(spans[:number] + spans[number + 1 :])
    assert any("damaged" in problem.message for problem in source.problems)


def shown(spans: list[SpanRecord]) -> list[str]:
    return sorted(map(repr, spans))
