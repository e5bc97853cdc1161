"""A large file whose spans are read again from their places gives the same spans."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.files import span_files
from agentool_otel.reading.sources.files.span_files import SpanFiles
from agentool_otel.reading.sources.files.undecoded import undecoded_spans

ids = st.integers(1, 2**20)


@pytest.fixture(autouse=True)
def _read_small_files_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(span_files, "_LARGE", 0)


def span(number: int, upper: bool, name_first: bool, text: str) -> dict[str, Any]:
    trace_id = f"{number % 5 + 1:032x}"
    results = {
        "traceId": trace_id.upper() if upper else trace_id,
        "spanId": f"{number:016x}",
        "name": text,
        "startTimeUnixNano": str(number),
        "attributes": [{"key": "k", "value": {"stringValue": text}}],
    }
    return dict(reversed(results.items())) if name_first else results


spans = st.builds(span, ids, st.booleans(), st.booleans(), st.text("a,{}[]\"'\\é日", max_size=6))
scopes = st.builds(
    lambda scope, value: {"spans": value} | ({"scope": {"name": scope}} if scope else {}),
    st.sampled_from(["", "one", "other"]),
    st.lists(spans, max_size=3),
)
resources = st.builds(
    lambda attributes, value: {"scopeSpans": value, **attributes},
    st.sampled_from(
        [
            {},
            {"resource": {}},
            {"resource": {"attributes": [{"key": "s", "value": {"stringValue": "a"}}]}},
        ]
    ),
    st.lists(scopes, max_size=3),
)
documents = st.builds(lambda value: {"resourceSpans": value}, st.lists(resources, max_size=3))
lines = st.lists(documents, min_size=1, max_size=4)
TWICE = [{"resourceSpans": [{"scopeSpans": [{"spans": [span(1, False, False, "a")] * 2}]}]}]


def decoded(source: SpanFiles) -> list[SpanRecord]:
    items = (
        item if isinstance(item, SpanRecord) else item.decode() for item in undecoded_spans(source)
    )
    return [item for item in items if item is not None]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines, st.sampled_from([None, (",", ":")]), st.booleans())
@example(TWICE, None, False)
def test_reading_again_changes_nothing(
    tmp_path: Path, documents: list[Any], separators: Any, ends: bool
) -> None:
    file = tmp_path / "spans.jsonl"
    text = "\n".join(json.dumps(document, separators=separators) for document in documents)
    file.write_text(text + "\n" * ends)
    expected = list(SpanFiles([file]).spans())
    source = SpanFiles([file])
    assert decoded(source) == expected
    assert source.bytes_read == file.stat().st_size
    assert not source.problems


def test_a_file_that_shrinks_loses_only_what_is_missing(tmp_path: Path) -> None:
    file = tmp_path / "spans.jsonl"
    spans = [span(number, False, False, "") for number in range(1, 10)]
    text = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": spans}]}]})
    file.write_text(text)
    source = SpanFiles([file])
    found = [item for item in undecoded_spans(source) if not isinstance(item, SpanRecord)]
    file.write_text(text[: len(text) // 2])
    result = [record for item in found if (record := item.decode()) is not None]
    assert 0 < len(result) < len(spans)
    assert source.problems


def test_a_resource_may_be_null(tmp_path: Path) -> None:
    file = tmp_path / "spans.jsonl"
    spans = [span(number, False, False, "") for number in range(1, 10)]
    group = {"resource": None, "scopeSpans": [{"scope": None, "spans": spans}]}
    file.write_text(json.dumps({"resourceSpans": [group]}))
    source = SpanFiles([file])
    assert [item.resource for item in decoded(source)] == [{}] * 9
    assert not source.problems


@pytest.mark.parametrize(
    "odd",
    [
        {"traceId": "not hexadecimal, but 32 of them!", "spanId": "00000000000000aa"},
        {"traceId": "A" * 32, "spanId": "00000000000000ab", "name": "upper"},
    ],
)
@pytest.mark.parametrize(
    "resource", [{"attributes": {"service.name": "bot"}}, {"attributes": []}, {}, None]
)
def test_other_spellings_are_read_as_in_a_small_file(
    tmp_path: Path, odd: dict[str, Any], resource: Any
) -> None:
    file = tmp_path / "spans.jsonl"
    spans = [span(number, False, False, "") for number in range(1, 10)]
    groups = [{"resource": resource, "scopeSpans": [{"spans": [*spans, odd]}]}]
    groups.append({"resource": {}, "scopeSpans": [{"spans": [span(20, False, False, "")]}]})
    file.write_text(json.dumps({"resourceSpans": groups}) + "\n")
    plainly = SpanFiles([file])
    expected = list(plainly.spans())
    source = SpanFiles([file])
    assert decoded(source) == expected
    assert len(expected) >= 10
    assert len(source.problems) == len(plainly.problems)
