"""The spool: spans leave it once and in order, and a mark has the end of the sent ones."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.otlp.protobuf_encoder import encode_span
from agentool_otel.tracing.export.disk import spool
from agentool_otel.tracing.export.disk.files import AppendFile, FileReplaced, RecordingDir
from agentool_otel.tracing.export.disk.frames import (
    SentMark,
    frame_span,
    read_spool,
    sent_stretches,
)
from agentool_otel.tracing.export.disk.journal import sent_marks
from agentool_otel.tracing.export.disk.spool import Remainder, Spool
from tests.tracing.export.samples import span_with


def encoded(size: int, counter: Iterator[int]) -> bytes:
    """Return an encoded span that no other one equals."""
    return encode_span(span_with({"number": next(counter), "text": "x" * size}))


def unsent(path: Path, marks: list[SentMark]) -> list[bytes]:
    """Return the spans of a file that recovery would send."""
    sent = sent_stretches(path, marks)
    datas: list[bytes] = []
    for stretch in read_spool(path, 1000):
        position = stretch.start
        for span in stretch.spans:
            if position not in sent:
                datas.append(span)
            position += 4 + len(span)
    return datas


put = st.tuples(st.just("put"), st.sampled_from([1, 100, 3000]))
send = st.tuples(st.just("send"), st.integers(1, 4000))
others = st.tuples(st.sampled_from(["cut", "copy", "delete"]), st.sampled_from([0, 100, 5000]))


@settings(deadline=None)
@given(
    st.lists(put | put | send | others, max_size=40),
    st.sampled_from([500, 5000, 1 << 20]),
    st.sampled_from([None, 1, 3]),
)
def test_spans_leave_once_and_in_order_and_recovery_knows_the_rest(
    tmp_path_factory: pytest.TempPathFactory,
    steps: list[tuple[str, int]],
    read: int,
    most: int | None,
) -> None:
    """However much of them is read at once, however often the file is cut or deleted, also while
    what waits is copied; and marks of a file that is gone skip nothing of the next one."""
    folder = tmp_path_factory.mktemp("spool")
    counter = itertools.count()
    expected: deque[bytes] = deque()
    marks: list[SentMark] = []
    lost = 0
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(spool, "_READ", read)
        waiting = Spool(RecordingDir(folder))
        remainder: Remainder | None = None
        for step, number in steps:
            if step == "put":
                span = encoded(number, counter)
                assert waiting.put(span, 1)
                expected.append(span)
            elif step == "send":
                batch = waiting.next(number, most)
                assert batch == list(expected)[: len(batch)]
                assert bool(batch) == bool(expected)
                assert len(batch) <= (most or 100)
                accepted = batch[: (len(batch) + 1) // 2]
                waiting.done(accepted)
                for _ in accepted:
                    expected.popleft()
                if (mark := waiting.sent_mark) is not None:
                    marks.append(mark)
            elif step == "copy":
                if remainder is None:
                    remainder = waiting.remainder()
                with suppress(FileReplaced):
                    if remainder is not None and remainder.left > 0 and number:
                        remainder.copy(number)
            elif step == "cut":
                remainder = remainder or waiting.remainder()
                waiting.remove_sent(remainder)
                if remainder is not None:
                    remainder.drop()
                remainder = None
            else:
                for path in folder.glob("*.spool"):
                    path.unlink()
                waiting.look()
                lost += len(expected)
                expected.clear()
            assert (waiting.waiting, waiting.lost) == (len(expected), lost)
            for path in folder.glob("*.spool"):
                assert unsent(path, marks) == list(expected)
        if remainder is not None:
            remainder.drop()
        assert list(folder.glob("*~*")) == []


def test_each_byte_that_waits_is_read_once_however_small_batches_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counter = itertools.count()
    read: list[int] = []
    original = AppendFile.read

    def watched(self: AppendFile, start: int, size: int) -> bytes:
        data = original(self, start, size)
        read.append(len(data))
        return data

    monkeypatch.setattr(AppendFile, "read", watched)
    waiting = Spool(RecordingDir(tmp_path))
    for _ in range(500):
        waiting.put(encoded(1000, counter), 1)
    written = waiting.waiting_bytes
    while batch := waiting.next(4 << 20, 10):
        waiting.done(batch)
    assert written <= sum(read) < 1.1 * written


def test_what_is_in_memory_beside_the_disk_is_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone: list[str] = []

    class Encoded(bytes):
        def __del__(self) -> None:
            gone.append("gone")

    waiting = Spool(RecordingDir(tmp_path))
    for _ in range(100):
        assert waiting.put(Encoded(b"\x0a" + b"x" * 10_000), 1)
    assert len(gone) > 90


def test_a_file_deleted_while_its_spans_are_sent_upsets_no_counter(tmp_path: Path) -> None:
    counter = itertools.count()
    waiting = Spool(RecordingDir(tmp_path))
    for _ in range(3):
        waiting.put(encoded(10, counter), 1)
    batch = waiting.next(1 << 20, 2)
    for path in tmp_path.glob("*.spool"):
        path.unlink()
    after = encoded(10, counter)
    waiting.put(after, 1)  # finds the file gone
    waiting.done(batch)
    assert (waiting.waiting, waiting.lost) == (1, 1)
    assert waiting.next(1 << 20) == [after]


def test_a_mark_of_an_earlier_file_skips_no_span_of_the_same_size(tmp_path: Path) -> None:
    counter = itertools.count()
    waiting = Spool(RecordingDir(tmp_path))
    waiting.put(encoded(10, counter), 1)
    waiting.done(waiting.next(1000))
    mark = waiting.sent_mark
    assert mark is not None
    (path,) = tmp_path.glob("*.spool")
    assert unsent(path, [mark]) == []
    waiting.remove_sent(None)
    after = encoded(10, counter)
    waiting.put(after, 1)
    assert path.stat().st_size == mark.end
    assert unsent(path, [mark]) == [after]


@pytest.mark.parametrize(
    "sent",
    [
        *(None, 1, [], {}, {"signal": "traces"}, {"signal": "logs", "end": 1, "size": 1}),
        {"signal": "traces", "end": "x", "size": None, "checksum": 0},
    ],
)
def test_a_damaged_note_of_what_was_sent_is_no_mark(sent: Any) -> None:
    import orjson

    line = orjson.dumps({"resourceSpans": [], "sent": sent}) + b"\n"
    assert list(sent_marks([line, line[:-5], b"", b"{}\n"], "traces")) == []


@given(st.builds(SentMark, *[st.integers(-(1 << 70), 1 << 70) | st.integers(-5, 300)] * 3))
def test_a_mark_that_does_not_fit_skips_nothing(
    tmp_path_factory: pytest.TempPathFactory, mark: SentMark
) -> None:
    path = tmp_path_factory.getbasetemp() / "fits.spool"
    path.write_bytes(frame_span(encode_span(span_with({"n": 1}))) * 2)
    path.chmod(0o600)
    assert len(sent_stretches(path, [mark])) == 0
