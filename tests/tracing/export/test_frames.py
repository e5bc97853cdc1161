"""The format of spools: damage costs the frame that has it, and marks of what was sent fit."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from agentool_otel.otlp.log_record import LogRecord
from agentool_otel.otlp.protobuf_encoder import WholeRequests, encode_log, encode_span, is_whole
from agentool_otel.tracing.export.disk.frames import (
    SentMark,
    Stretches,
    frame_span,
    sent_stretches,
    stretches,
)
from tests.tracing.export.samples import span_with

sizes = st.lists(st.sampled_from([0, 1, 90, 300, 5000]), min_size=1, max_size=8)


def log_of(body: str) -> LogRecord:
    scope = InstrumentationScope("scope")
    return LogRecord(
        resource=Resource({}), scope=scope, attributes={}, body=body, observed_ns=1 << 60
    )


def encoded(sizes: list[int], logs: bool = False) -> list[bytes]:
    if logs:
        return [encode_log(log_of("x" * size)) for size in sizes]
    return [encode_span(span_with({"n": n, "text": "x" * size})) for n, size in enumerate(sizes)]


def read(data: bytes, size: int = 1 << 20) -> tuple[list[bytes], list[tuple[int, int]]]:
    """Return the spans in the bytes of a spool, and the parts that are damaged."""
    spans: list[bytes] = []
    damaged: list[tuple[int, int]] = []
    at = 0
    for stretch in stretches(lambda start, most: data[start : start + most], 0, len(data), size):
        assert stretch.start == at
        at = stretch.end
        spans += stretch.spans
        if not stretch.spans:
            damaged.append((stretch.start, stretch.end))
    return spans, damaged


@given(sizes, st.sampled_from([1, 100, 4000, 1 << 20]), st.booleans())
def test_whole_frames_are_read_at_any_buffer_size(sizes: list[int], size: int, logs: bool) -> None:
    spans = encoded(sizes, logs)
    assert read(b"".join(map(frame_span, spans)), size) == (spans, [])


@given(sizes, st.integers(1, 5000))
def test_a_frame_cut_at_the_end_is_no_damage(sizes: list[int], cut: int) -> None:
    spans = encoded(sizes)
    data = b"".join(map(frame_span, spans))
    last = len(frame_span(spans[-1]))
    assert read(data[: -min(cut, last)]) == (spans[:-1], [])


@given(sizes, sizes, st.sampled_from([1, 100, 300, 5000]), st.data())
def test_a_torn_frame_costs_itself_alone(
    before: list[int], after: list[int], torn: int, data: st.DataObject
) -> None:
    """As when a write was interrupted and the next ones were not."""
    spans = encoded([*before, torn, *after])
    frames = [frame_span(span) for span in spans]
    middle = len(before)
    kept = data.draw(st.integers(1, len(frames[middle]) - 1))
    whole = [span for number, span in enumerate(spans) if number != middle]
    content = b"".join(frames[:middle]) + frames[middle][:kept] + b"".join(frames[middle + 1 :])
    found, damaged = read(content, data.draw(st.sampled_from([100, 1 << 20])))
    assert found == whole
    assert len(damaged) == 1


@given(sizes, sizes, st.binary(min_size=1, max_size=400))
def test_foreign_bytes_between_frames_cost_no_span(
    before: list[int], after: list[int], junk: bytes
) -> None:
    spans = encoded([*before, *after])
    frames = [frame_span(span) for span in spans]
    content = b"".join(frames[: len(before)]) + junk + b"".join(frames[len(before) :])
    found, damaged = read(content)
    assert found == spans
    assert damaged == [(at := sum(map(len, frames[: len(before)])), at + len(junk))]


@given(sizes, sizes, st.integers(0, 40), st.integers(1, 60))
def test_zeroes_cost_the_frames_that_they_are_in(
    before: list[int], after: list[int], start: int, length: int
) -> None:
    spans = encoded([*before, 300, *after])
    frames = [frame_span(span) for span in spans]
    middle = len(before)
    hit = bytearray(frames[middle])
    hit[start : start + length] = bytes(length)
    content = b"".join([*frames[:middle], hit, *frames[middle + 1 :]])
    found, _ = read(content)
    assert [span for number, span in enumerate(spans) if number != middle] == [
        span for span in found if span != bytes(hit[4:])
    ]


@given(st.binary(max_size=2000), st.sampled_from([1, 64, 1 << 20]))
def test_any_bytes_can_be_read(data: bytes, size: int) -> None:
    read(data, size)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9)), max_size=20))
def test_stretches_have_the_positions_that_were_added(parts: list[tuple[int, int]]) -> None:
    known = {at for start, length in parts for at in range(start, start + length)}
    result = Stretches((start, start + length) for start, length in parts)
    assert {at for at in range(80) if at in result} == known
    assert len(result) == len(known)
    ends = [end for _, end in result]
    assert all(end < start for end, (start, _) in zip(ends, list(result)[1:], strict=False))


@given(sizes, st.data())
def test_marks_name_the_frames_that_were_sent(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], data: st.DataObject
) -> None:
    spans = encoded(sizes)
    ends = [sum(len(span) + 4 for span in spans[: n + 1]) for n in range(len(spans))]
    starts = [0, *ends]
    marks: list[SentMark] = []
    sent: set[int] = set()
    for _ in range(data.draw(st.integers(0, 3))):
        first = data.draw(st.integers(0, len(spans) - 1))
        last = data.draw(st.integers(first, len(spans) - 1))
        sent.update(range(first, last + 1))
        marks.append(SentMark.of(ends[last], spans[last], starts[first]))
    path = tmp_path_factory.getbasetemp() / "marks.spool"
    path.write_bytes(b"".join(map(frame_span, spans)))
    path.chmod(0o600)
    result = sent_stretches(path, marks)
    assert {n for n, start in enumerate(starts[:-1]) if start in result} == sent


@given(st.lists(st.binary(max_size=3), max_size=4), st.integers(0, 5000), st.data())
def test_a_request_is_whole_or_not_whatever_came_before(
    noise: list[bytes], size: int, data: st.DataObject
) -> None:
    """The faster check gives the answer of the full one, also where only a few bytes differ."""
    whole = WholeRequests()
    assert whole.has(encode_span(span_with({"text": "x" * 300})))
    request = encode_span(span_with({"text": "x" * size}))
    for piece in noise:
        at = data.draw(st.integers(0, len(request)))
        request = request[:at] + piece + request[at + data.draw(st.integers(0, 3)) :]
    assert whole.has(request) == is_whole(request)
