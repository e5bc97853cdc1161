"""Grouping: the same traces whatever the order, the copies and the memory."""

from __future__ import annotations

import os
import pickle
import random
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.errors import SourceError
from agentool_otel.model.spans import Deduplicated, SpanEvent, SpanLink, SpanRecord
from agentool_otel.reading.sources.grouping.by_trace import by_trace

NOTHING = 0
"""A budget that sends everything to disk, split as often as it can be."""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """No test leaves anything in the temporary folder."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    yield tmp_path
    assert list(tmp_path.iterdir()) == []


def test_spans_of_a_trace_come_together_sorted_by_start() -> None:
    spans = [span("b", 3, start=30), span("a", 1, start=20), span("b", 2, start=10)]
    assert names(by_trace(spans)) == [["b2", "b3"], ["a1"]]


def test_equal_starts_are_sorted_by_id_and_unknown_ones_come_first() -> None:
    spans = [span("b", 2), span("b", 1), span("a", 3), span("a", 4, start=None)]
    assert names(by_trace(spans)) == [["a4", "a3"], ["b1", "b2"]]


def test_unfinished_copy_completes_the_finished_one() -> None:
    open_copy = span("a", 1, attributes={"x": 1, "y": 2})
    whole = kept(open_copy, span("a", 1, end=5, attributes={"y": 3}))
    assert (whole.end_ns, whole.attributes) == (5, {"y": 3, "x": 1})


def test_the_more_complete_of_two_finished_copies_is_kept() -> None:
    less, more = span("a", 1, end=9), span("a", 1, end=5, events=[SpanEvent("step")])
    assert kept(less, more) is more


def test_the_later_of_two_equally_complete_copies_is_kept() -> None:
    assert kept(span("a", 1, end=5), span("a", 1, end=6)).end_ns == 6


def test_copies_are_counted_and_merged_log_records_are_not() -> None:
    record = msgspec.structs.replace(span("a", 1, start=None, events=[SpanEvent("said")]), name="")
    [joined] = by_trace([span("a", 1), record])
    [copied] = by_trace([span("a", 1), record, span("a", 1), span("a", 2), span("a", 1)])
    assert not isinstance(joined, Deduplicated)
    assert isinstance(copied, Deduplicated)
    assert copied.copies == 2
    assert pickle.loads(pickle.dumps(copied)).copies == 2


def test_no_spans_give_no_traces() -> None:
    assert list(by_trace([])) == []


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.binary(max_size=5)
    | st.text(st.characters(exclude_categories=())),  # with lone surrogates
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=4,
)  # fmt: skip
attributes = st.dictionaries(st.text(), values, max_size=3)
times = st.none() | st.integers(1, 4)
records = st.builds(
    SpanRecord,
    trace_id=st.sampled_from(["a" * 32, "b" * 32, "c" * 32, "0" * 31 + "1"]),
    span_id=st.sampled_from(["1" * 16, "2" * 16, "3" * 16]),
    parent_id=st.none() | st.just("1" * 16),
    start_ns=times,
    end_ns=times,
    attributes=attributes,
    events=st.lists(st.builds(SpanEvent, st.text(), times, attributes), max_size=2),
    links=st.lists(
        st.builds(SpanLink, st.just("d" * 32), st.just("4" * 16), attributes), max_size=1
    ),
    status_message=st.none() | st.text(),
    resource=attributes,
)


@given(spans=st.lists(records, max_size=12), budget=st.integers(0, 8000), seed=st.integers())
def test_order_copies_and_budget_do_not_matter(
    spans: list[SpanRecord], budget: int, seed: int
) -> None:
    rng = random.Random(seed)
    shuffled = spans + rng.choices(spans, k=5) if spans else []
    rng.shuffle(shuffled)
    assert as_set(by_trace(shuffled, budget)) == as_set(by_trace(spans))


@given(spans=st.lists(records, max_size=12), budget=st.integers(0, 8000), seed=st.integers())
def test_the_same_budget_gives_the_same_order_of_traces(
    spans: list[SpanRecord], budget: int, seed: int
) -> None:
    shuffled = random.Random(seed).sample(spans, len(spans))
    assert shown(by_trace(shuffled, budget)) == shown(by_trace(spans, budget))


def test_more_traces_than_temporary_files_are_grouped_on_disk() -> None:
    spans = [span(f"{trace:032x}", number) for number in range(3) for trace in range(5000)]
    grouped = list(by_trace(spans, NOTHING))
    assert len(grouped) == 5000
    assert {len(trace) for trace in grouped} == {3}


def test_spans_from_disk_share_their_resource() -> None:
    resource = {"service.name": "bot"}
    spans = [span(trace, number, resource=resource) for trace in "ab" for number in (1, 2)]
    for trace in by_trace(spans, NOTHING):
        assert trace[0].resource is trace[1].resource


def test_temporary_files_have_no_name_that_could_stay_behind(temporary: Path) -> None:
    traces = by_trace([span(trace, 1) for trace in "abcdef"], NOTHING)
    next(traces)
    assert open_files(temporary)
    assert not list(temporary.iterdir())
    traces.close()  # type: ignore[attr-defined] # a generator
    assert not open_files(temporary)


def test_nothing_stays_on_disk_when_the_spans_fail(temporary: Path) -> None:
    def failing() -> Iterator[SpanRecord]:
        yield from (span(trace, 1) for trace in "abcdef")
        raise RuntimeError("the network")

    with pytest.raises(RuntimeError, match="the network"):
        list(by_trace(failing(), NOTHING))
    assert not open_files(temporary)


def test_a_full_disk_is_reported_with_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "TemporaryFile", partial(Path("/dev/full").open, "w+b"))
    with pytest.raises(SourceError, match="hint: set TMPDIR"):
        list(by_trace([span("a", 1), span("b", 1)], NOTHING))


def open_files(folder: Path) -> list[str]:
    """Return what this process holds open below a folder, with a name or without."""
    results: list[str] = []
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            results.append(os.readlink(descriptor))
    return [name for name in results if name.startswith(str(folder))]


def span(trace: str, number: int, start: int | None = 7, **fields: Any) -> SpanRecord:
    end = fields.pop("end", None)
    return SpanRecord(
        trace.rjust(32, "0"), f"{number:016x}", name=f"{trace}{number}", start_ns=start,
        end_ns=end, **fields,
    )  # fmt: skip


def kept(*copies: SpanRecord) -> SpanRecord:
    """Return the copy that is kept, which has to be the same one in either order."""
    ((one,),) = by_trace(copies)
    ((second,),) = by_trace(reversed(copies))
    assert one == second
    return one


def names(traces: Iterator[list[SpanRecord]]) -> list[list[str]]:
    return [[record.name for record in trace] for trace in traces]


def shown(traces: Iterator[list[SpanRecord]]) -> list[str]:
    """Attributes sorted: equal copies may differ in the order of their attributes."""
    return [
        repr(msgspec.to_builtins(trace, order="sorted", builtin_types=(bytes,))) for trace in traces
    ]


def as_set(traces: Iterator[list[SpanRecord]]) -> list[str]:
    return sorted(shown(traces))
