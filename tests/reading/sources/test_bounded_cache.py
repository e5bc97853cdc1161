"""The cache takes no more memory than its bound."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentool_otel.reading.sources.files import bounded_cache, span_offsets
from agentool_otel.reading.sources.files.bounded_cache import Interned
from agentool_otel.reading.sources.files.span_files import SpanFiles


def test_stored_values_are_known() -> None:
    numbers = Interned[int]()
    numbers.put(b"a", 1)
    numbers.put(b"b", 2)
    assert numbers.known == {b"a": 1, b"b": 2}


@pytest.mark.parametrize(("limit", "value"), [("MANY", 3), ("MANY_BYTES", 30)])
def test_a_full_cache_forgets_everything(
    monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    monkeypatch.setattr(bounded_cache, limit, value)
    numbers = Interned[int]()
    for number in range(100):
        numbers.put(f"{number:010}".encode(), number)
        assert len(numbers.known) <= 3
        assert numbers.known[f"{number:010}".encode()] == number


def test_a_file_of_many_large_resources_is_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(span_offsets, "MANY_BYTES", 2000)
    file = tmp_path / "spans.jsonl"
    with file.open("w") as out:
        for number in range(1, 10):
            texts = [{"key": "host.name", "value": {"stringValue": f"{number}" * 300}}]
            results = {"traceId": "6a" * 16, "spanId": f"{number:016x}"}
            group = {"resource": {"attributes": texts}, "scopeSpans": [{"spans": [results]}]}
            out.write(json.dumps({"resourceSpans": [group]}) + "\n")
    source = SpanFiles([file])
    monkeypatch.setattr("agentool_otel.reading.sources.files.span_files._LARGE", 0)
    assert source.census() is None
    assert {span.resource["host.name"] for span in source.spans()} == {
        f"{n}" * 300 for n in range(1, 10)
    }
