"""Arrow IPC streams: several in a row, with bytes behind their end, with damaged messages."""

from __future__ import annotations

import io
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pyarrow import ipc

from agentool_otel.errors import DecodeError
from agentool_otel.loading import rebuild
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.reading.sources.files.arrow_headers import Headers
from agentool_otel.reading.sources.files.span_files import SpanFiles
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.tables import trajectories
from tests.reading.sources.test_columnar import RECORDING, observations


def _of_table(table: pa.Table, size: int | None = None) -> bytes:
    with ipc.new_stream(sink := io.BytesIO(), table.schema) as writer:
        writer.write_table(table, max_chunksize=size)
    return sink.getvalue()


def _stream(rows: int, more: dict[str, Any] | None = None) -> bytes:
    """Return a stream of Langfuse's observations, a batch each, with further columns."""
    return _of_table(pa.table({**observations(rows), **(more or {})}), 1)


_END = b"\xff\xff\xff\xff\0\0\0\0"


@given(
    rows=st.lists(st.integers(0, 3), min_size=1, max_size=4),
    ended=st.booleans(),
    others=st.booleans(),
)
def test_streams_in_a_row_are_read(rows: list[int], ended: bool, others: bool) -> None:
    streams = [
        _stream(count, {f"x{place}": pa.nulls(count, pa.int64())} if others else None)
        for place, count in enumerate(rows)
    ]
    data = b"".join(s if ended else s.removesuffix(_END) for s in streams)
    assume(sum(rows))
    source = SpanFiles([io.BytesIO(data)])
    assert sum(1 for _ in source.spans()) == sum(rows)
    assert source.problems == []


def test_rows_and_batches_of_streams_in_a_row_have_one_count() -> None:
    data = bytearray(_stream(2) + _stream(2))
    table = pa.table({**observations(1), "trace_id": pa.nulls(1, pa.string())})
    source = SpanFiles([io.BytesIO(bytes(data) + _of_table(table))])
    assert sum(1 for _ in source.spans()) == 4
    assert [problem.where for problem in source.problems] == ["input row 4"]


def test_a_stream_of_another_table_behind_spans_is_named() -> None:
    cities = _of_table(pa.table({"city": ["Rome"]}))
    source = SpanFiles([io.BytesIO(_stream(2) + cities + _stream(1))])
    assert sum(1 for _ in source.spans()) == 3
    (problem,) = source.problems
    assert problem.message.endswith(": a table without a column for the trace: city")


def test_a_run_that_two_streams_share_is_read() -> None:
    spans = open_source(RECORDING).spans()
    rows = [row for run in rebuild(spans) for row in trajectories.step_rows(run.document)]
    halves = [
        trajectories.batch_of_rows(some, trajectories.SCHEMA) for some in (rows[:2], rows[2:])
    ]
    data = b"".join(_of_table(pa.Table.from_batches([half])) for half in halves)
    source = SpanFiles([io.BytesIO(data)])
    found = list(source.in_order())
    assert [len(document.steps) for document in found if isinstance(document, ReasoningTrace)]
    assert source.problems == []


@given(
    junk=st.binary(min_size=1, max_size=40)
    | st.binary(max_size=9).map(lambda data: b"\xff\xff\xff\xff" + data)
    | st.sampled_from([b"{}", b"PAR1", b"ARROW1", _stream(1)[:100]])
)
def test_bytes_behind_a_stream_are_named(junk: bytes) -> None:
    source = SpanFiles([io.BytesIO(_stream(2) + junk)])
    assert sum(1 for _ in source.spans()) == 2
    assert bool(source.problems) == bool(junk.strip(b"\0"))


@given(message=st.integers(0, 5), change=st.binary(min_size=0, max_size=8), at=st.integers(0, 7))
def test_a_damaged_mark_or_size_of_a_message_is_named(message: int, change: bytes, at: int) -> None:
    """Message 0 is the schema, the last one the end marker."""
    data = _stream(4)
    start = _messages(data)[message]
    damaged = data[: start + at] + change + data[start + max(at + len(change), 8) :]
    assume(damaged != data)
    source = SpanFiles([io.BytesIO(damaged)])
    try:
        count = sum(1 for _ in source.spans())
    except DecodeError:
        return
    assert count == 4 or source.problems


@pytest.mark.parametrize("kind", [0, 1, 2, 4, 5, 77, 255])
@pytest.mark.parametrize("message", range(1, 5))
def test_a_message_of_another_kind_is_named(message: int, kind: int) -> None:
    data = bytearray(_stream(4))
    headers = Headers(io.BytesIO(bytes(data)), stream_at=0)
    start, end = headers.place(message - 1)
    kinds = [at for at in range(start + 8, end) if data[at] == 3 and _is_other(data, at, message)]
    data[kinds[0]] = kind
    source = SpanFiles([io.BytesIO(bytes(data))])
    try:
        count = sum(1 for _ in source.spans())
    except DecodeError:
        return
    assert count < 4
    assert source.problems


def _is_other(data: bytearray, at: int, message: int) -> bool:
    """Return whether a byte is the kind of a message: with another one it is no batch."""
    changed = bytearray(data)
    changed[at] = 5
    return Headers(io.BytesIO(bytes(changed)), stream_at=0).batches == 3


def _messages(data: bytes) -> list[int]:
    """Return where the messages of a stream begin, and its end marker."""
    headers = Headers(io.BytesIO(data), stream_at=0)
    places = [headers.place(number) for number in range(headers.batches)]
    return [0, *(start for start, _ in places), places[-1][1]]
