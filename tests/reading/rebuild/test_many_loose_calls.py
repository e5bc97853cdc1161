"""Bare calls wait on disk when they are many, and make the same runs as in memory."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentool_otel.errors import SourceError
from agentool_otel.model.messages import message, text
from agentool_otel.model.operations import Inference
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.rebuild.correlation import disk_store
from agentool_otel.reading.rebuild.correlation.disk_store import Rows
from agentool_otel.reading.rebuild.runs import rebuild_groups
from tests.records import Collected
from tests.strategies import exact

WORDS = ("hello", "why?", "go on")
rows = st.lists(st.tuples(st.integers(0, 2), st.integers(-(2**63), 2**63 - 1)), max_size=50)
chances = st.randoms(use_true_random=False)


@pytest.fixture
def no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave room for one thing at a time."""
    monkeypatch.setattr(disk_store, "_IN_MEMORY", 16)
    monkeypatch.setattr(disk_store, "_UNITS", 3)
    monkeypatch.setattr(disk_store, "_BLOCK", 2)


def sessions(chance: random.Random) -> Iterator[list[tuple[str, str]]]:
    """Yield the questions and answers of sessions that now and then begin alike."""
    for _ in range(chance.randint(1, 6)):
        turns = range(chance.randint(1, 3))
        yield [(chance.choice(WORDS), chance.choice(WORDS)) for _ in turns]


def recorded(chance: random.Random) -> list[SpanRecord]:
    """Return the calls of sessions that ran at the same time, each call a trace of its own."""
    waiting = list(sessions(chance))
    texts: list[list[Any]] = [[] for _ in waiting]
    spans = Collected()
    while open_ones := [number for number, turns in enumerate(waiting) if turns]:
        number = chance.choice(open_ones)
        question, answer = waiting[number].pop(0)
        texts[number].append(message("user", [text(question)]))
        reply = message("assistant", [text(answer)])
        spans.add(Inference(provider="openai", input=list(texts[number]), output=[reply]))
        texts[number].append(reply)
    return spans.spans


def rebuilt(spans: list[SpanRecord]) -> list[Any]:
    return [
        exact(rebuild_group.trace.to_dict())
        for rebuild_group in rebuild_groups([[span] for span in spans], list)
    ]


@pytest.mark.thorough
@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(chance=chances)
def test_runs_do_not_depend_on_order_or_spooling(chance: random.Random, no_memory: None) -> None:
    spans = recorded(chance)
    on_disk = rebuilt(spans)
    mixed = chance.sample(spans, len(spans))
    assert rebuilt(mixed) == on_disk
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk_store, "_IN_MEMORY", 1 << 20)
        patch.setattr(disk_store, "_UNITS", 1 << 14)
        assert rebuilt(mixed) == on_disk


def test_runs_come_in_order_of_their_first_call(no_memory: None) -> None:
    spans = Collected()
    for number in range(20):
        question = message("user", [text(f"question {number}")])
        spans.add(Inference(provider="openai", input=[question], output=[message("assistant", [])]))
    inputs = [
        rebuild_group.trace.input
        for rebuild_group in rebuild_groups([[span] for span in reversed(spans.spans)], list)
    ]
    assert inputs == [f"question {number}" for number in range(20)]


def test_of_two_sessions_that_begin_alike_each_continues_its_own() -> None:
    spans = Collected()
    hello, hi = message("user", [text("hello")]), message("assistant", [text("hi")])
    for session in ("first", "second"):
        spans.add(Inference(provider="openai", input=[hello], output=[hi]))
        question = message("user", [text(f"the {session} question")])
        answer = message("assistant", [text(f"the {session} answer")])
        spans.add(Inference(provider="openai", input=[hello, hi, question], output=[answer]))
    hello_1, first, hello_2, second = spans.rebuilt()
    assert (first["output"], second["output"]) == ("the first answer", "the second answer")
    assert first["session_id"] == hello_1["session_id"]
    assert second["session_id"] == hello_2["session_id"] != first["session_id"]


def test_a_full_disk_is_reported_with_a_remedy(
    no_memory: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = partial(Path("/dev/full").open, "w+b", buffering=0)
    monkeypatch.setattr(tempfile, "SpooledTemporaryFile", lambda _: full())
    with pytest.raises(SourceError, match="hint: set TMPDIR"):
        rebuilt(recorded(random.Random(0)))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(added=rows)
def test_rows_come_back_by_part_in_the_order_they_were_added(
    added: list[tuple[int, int]], no_memory: None
) -> None:
    rows = Rows(2, 3)
    for part, number in added:
        rows.add(part, part, number)
    assert [list(rows.of(part)) for part in range(3)] == [
        [row for row in added if row[0] == part] for part in range(3)
    ]
    rows.close()
