"""Spans of large files are read where they lie when their trace is complete, not copied."""

from __future__ import annotations

import io
import json
import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.files import file_slices, otlp_json, span_files
from agentool_otel.reading.sources.files.file_slices import Reread, fits_in_memory
from agentool_otel.reading.sources.files.span_files import SpanFiles
from agentool_otel.reading.sources.files.undecoded import UndecodedSpan, undecoded_spans
from agentool_otel.reading.sources.grouping.by_trace import by_trace

NOTHING = 0
"""A budget that holds no span in memory."""


@pytest.fixture(autouse=True)
def _every_file_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(span_files, "_LARGE", 0)


def span(number: int, text: str, linked: bool) -> dict[str, Any]:
    link = {"traceId": "f" * 32, "spanId": "e" * 16}
    return {
        "traceId": f"{number % 5 + 1:032x}",
        "spanId": f"{number:016x}",
        "name": text,
        "startTimeUnixNano": str(number),
        **({"links": [link]} if linked else {}),
    }


FRAMES = [
    ('{"resourceSpans":[{"scopeSpans":[{"spans":[', "]}]}]}"),
    ('{"resourceSpans":[{"scopeSpans":[{"scope":{"name":"one"},"spans":[', "]}]}]}"),
    ('{"resourceSpans":[{"scopeSpans":[{"scope":{"name":"one"},"spans":[', '],"x":1}]}]}'),
    (
        '{"resourceSpans":[{"resource":{"attributes":[{"key":"{\\"traceId\\":\\"","value":'
        '{"stringValue":"a"}}]},"scopeSpans":[{"spans":[',
        "]}]}]}",
    ),
    ('{"resourceSpans":[{"scopeSpans":[{"spans":[', ']}]}],"resourceLogs":[]}'),
    ('{"resourceSpans":[{"scopeSpans":[{"spans":[', '{"traceId":"cut'),  # damaged
]
spans = st.builds(span, st.integers(1, 2**20), st.text('a,{}[]"\\é日', max_size=6), st.booleans())


def line(frame: tuple[str, str], contents: list[dict[str, Any]]) -> str:
    texts = (json.dumps(item, separators=(",", ":")) for item in contents)
    return frame[0] + ",".join(texts) + frame[1] + "\n"


def pretty(frame: tuple[str, str], contents: list[dict[str, Any]]) -> str:
    return json.dumps(json.loads(line(frame, contents)), indent=2) + "\n"


several = st.lists(spans, min_size=1, max_size=3)
lines = st.builds(line, st.sampled_from(FRAMES), several) | st.builds(
    pretty, st.sampled_from(FRAMES[:-1]), several
)
ONE, OTHER = span(1, "one", False), span(2, "other", False)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(lines, min_size=1, max_size=12))
@example([line(FRAMES[0], [ONE]), line(FRAMES[0], [ONE, OTHER])])
@example([line(FRAMES[1], [ONE]), line(FRAMES[2], [OTHER])])
@example([line(FRAMES[0], [ONE]), FRAMES[0][0] + '{"traceId":"7", no JSON' + FRAMES[0][1] + "\n"])
def test_the_spans_of_a_large_file_are_those_of_a_small_one(
    tmp_path: Path, lines: list[str]
) -> None:
    file = tmp_path / "spans.jsonl"
    file.write_text("".join(lines))
    source = SpanFiles([file])
    expected = shown(by_trace(source.spans()))
    problems = list(source.problems)
    assert shown(by_trace(undecoded_spans(source), NOTHING)) == expected
    assert source.problems == problems


def test_nothing_of_a_large_file_is_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bytes] = []
    temporary = tempfile.TemporaryFile

    def watched() -> Any:
        file = temporary()
        write = file.write

        def watch(data: Any) -> int:
            written.append(bytes(data))
            return write(data)

        monkeypatch.setattr(file, "write", watch)
        return file

    monkeypatch.setattr(tempfile, "TemporaryFile", watched)
    file = tmp_path / "spans.jsonl"
    spans = [span(number, "a secret", False) for number in range(1, 100)]
    file.write_text("".join(line(FRAMES[0], [item]) for item in spans))
    trace = list(by_trace(undecoded_spans(SpanFiles([file])), NOTHING))
    assert sum(map(len, trace)) == len(spans)
    assert written
    assert not any(b"a secret" in block for block in written)


def test_a_file_cut_short_since_it_was_read_loses_only_what_is_missing(tmp_path: Path) -> None:
    file = tmp_path / "spans.jsonl"
    text = "".join(line(FRAMES[0], [span(number, "a", False)]) for number in range(1, 100))
    file.write_text(text)
    source = SpanFiles([file])
    traces = by_trace(undecoded_spans(source), NOTHING)
    first = next(traces)
    os.truncate(file, len(text) // 2)
    result = first + [record for trace in traces for record in trace]
    assert 0 < len(result) < 99
    assert {"a span left out: the file has changed since it was read first"} == {
        problem.message for problem in source.problems
    }


def test_spans_of_a_rewritten_file_are_not_mistaken_for_the_earlier_ones(
    tmp_path: Path,
) -> None:
    file = tmp_path / "spans.jsonl"
    before = "".join(line(FRAMES[0], [span(number, "a", False)]) for number in range(1, 100))
    file.write_text(before)
    source = SpanFiles([file])
    traces = by_trace(undecoded_spans(source), NOTHING)
    first = next(traces)
    file.write_text(before.replace(first[0].trace_id, "b" * 32).replace('"0000', '"c000'))
    assert list(traces) == []
    assert {problem.message for problem in source.problems} == {
        "a span left out: the file has changed since it was read first"
    }


def test_an_open_file_is_read_to_its_end_after_another_takes_its_name(tmp_path: Path) -> None:
    file = tmp_path / "spans.jsonl"
    file.write_text(
        "".join(line(FRAMES[0], [span(number, "a", False)]) for number in range(1, 100))
    )
    traces = by_trace(undecoded_spans(SpanFiles([file])), NOTHING)
    result = len(next(traces))
    file.rename(tmp_path / "spans.1.jsonl")
    file.write_text("")
    assert result + sum(map(len, traces)) == 99


def test_no_span_is_lost_after_a_document_that_was_read_in_windows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(otlp_json, "LARGE_LINE", 100_000)
    file = tmp_path / "spans.jsonl"
    lines = [line(FRAMES[0], [span(number, "a" * 900, False)]) for number in range(1, 9000)]
    file.write_text("[" * 200_000 + "\n" + "".join(lines))  # nested too deeply, and left there
    source = SpanFiles([file])
    expected = shown(by_trace(source.spans()))
    assert len(expected) == 5
    assert shown(by_trace(undecoded_spans(source), NOTHING)) == expected
    assert not [problem for problem in source.problems if "has changed" in problem.message]


def test_the_file_is_closed_once_its_spans_are_read(tmp_path: Path) -> None:
    file = tmp_path / "spans.jsonl"
    file.write_text("".join(line(FRAMES[0], [span(n, "a", False)]) for n in range(1, 20)))
    traces = by_trace(undecoded_spans(SpanFiles([file])), NOTHING)
    next(traces)
    assert str(file) in open_files()
    list(traces)
    assert str(file) not in open_files()


def test_files_are_read_at_any_offset_and_pipes_are_not(tmp_path: Path) -> None:
    (tmp_path / "spans.jsonl").write_bytes(b"0123456789")
    with (tmp_path / "spans.jsonl").open("rb") as file:
        result = Reread.of(file)
    assert result is not None
    assert result.read(3, 4) == b"3456"
    assert result.read(8, 4) == b"89"
    read, write = os.pipe()
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        assert Reread.of(pipe) is None
    assert Reread.of(io.BytesIO()) is None


@pytest.mark.parametrize(("limit", "again"), [(b"max\n", True), (b"40000\n", False)])
def test_only_files_that_fit_into_memory_are_read_out_of_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: bytes, again: bool
) -> None:
    (tmp_path / "memory.max").write_bytes(limit)
    monkeypatch.setattr(file_slices, "_LIMITS", (tmp_path / "memory.max", tmp_path / "missing"))
    assert fits_in_memory(20_000)
    for name in ("a.jsonl", "b.jsonl"):  # together they do not fit
        results = [span(number, "a" * 200, False) for number in range(1, 40)]
        (tmp_path / name).write_text("".join(line(FRAMES[0], [item]) for item in results))
    spans = list(undecoded_spans(SpanFiles([tmp_path / "a.jsonl", tmp_path / "b.jsonl"])))
    assert {isinstance(item, UndecodedSpan) and item.at >= 0 for item in spans} == {again}


def test_the_number_of_open_files_is_limited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(span_files, "_FEW", 2)
    files = [tmp_path / f"{n}.jsonl" for n in range(3)]
    for n, file in enumerate(files):
        file.write_text(line(FRAMES[0], [span(n, "a", False)]))
    value = list(undecoded_spans(SpanFiles(files)))
    assert len(value) == 3
    assert not {str(file) for file in files} & set(open_files())
    value = list(undecoded_spans(SpanFiles(files[:2])))
    assert {str(file) for file in files[:2]} <= set(open_files())
    assert len(value) == 2


def shown(traces: Any) -> list[str]:
    spans: list[list[SpanRecord]] = list(traces)
    return sorted(repr(msgspec.to_builtins(trace)) for trace in spans)


def open_files() -> list[str]:
    results: list[str] = []
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            results.append(os.readlink(descriptor))
    return results
