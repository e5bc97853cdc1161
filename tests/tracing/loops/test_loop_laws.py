"""For any loops in any order, the trees are those of each loop alone, and so are the runs that are
rebuilt, with and without the inferred spans."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from agentool_otel.loading import rebuild
from agentool_otel.tracing.loops.ends import forget_loops
from agentool_otel.tracing.loops.open_loops import open_loops as loops
from tests.records import records
from tests.tracing.loops.plain_programs import Chat, interleaved, sessions, trees

TURNS = st.lists(st.lists(st.integers(1, 3), max_size=3), min_size=1, max_size=3)
"""By turn, how many tools each answer but the last requests."""


def runs_in(spans: list[Any]) -> Counter[tuple[str, str, int]]:
    traces = [item.trace.to_dict() for item in rebuild(spans)]
    assert {trace["status"] for trace in traces} == {"success"}
    return Counter(
        (trace["input"], trace["output"], trace["metrics"]["tool_call_count"]) for trace in traces
    )


def sessions_in(spans: list[Any]) -> int:
    """Return the number of sessions; a run without one is its own."""
    traces = [item.trace.to_dict() for item in rebuild(spans)]
    return len({trace.get("session_id", trace["trace_id"]) for trace in traces})


CHATS = st.lists(st.tuples(TURNS, st.booleans()), min_size=1, max_size=6)
any_chats = given(chats=CHATS, seed=st.integers(0, 1 << 30))
many_times = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def played(chats: list[tuple[list[list[int]], bool]], seed: int, spans: Any) -> list[Chat]:
    """Play chats in an order that the seed gives."""
    spans.forget()
    forget_loops()
    programs = [Chat(number, *each) for number, each in enumerate(chats)]
    interleaved(programs, seed)
    return programs


@many_times
@any_chats
def test_interleaved_loops_are_those_of_each_alone(
    chats: list[tuple[list[list[int]], bool]], seed: int, spans: Any
) -> None:
    programs = played(chats, seed, spans)
    assert Counter(trees(spans)) == Counter(tree for each in programs for tree in each.trees())
    assert len(sessions(spans)) == len(programs)
    assert not len(loops)
    recorded = records(spans.finished())
    assert runs_in(recorded) == Counter(run for each in programs for run in each.runs())
    assert sessions_in(recorded) == len(programs)


@many_times
@any_chats
def test_runs_are_the_same_without_the_inferred_spans(
    chats: list[tuple[list[list[int]], bool]], seed: int, spans: Any
) -> None:
    """A backend drops them, or a recording is from before there were any."""
    programs = played(chats, seed, spans)
    bare = [
        replace(record, parent_id=None, trace_id=f"{place:032x}", attributes=_bare(record))
        for place, record in enumerate(records(spans.finished()))
        if "agentool.inferred" not in record.attributes
    ]
    assert runs_in(bare) == Counter(run for each in programs for run in each.runs())
    assert sessions_in(bare) == len(programs)


def _bare(record: Any) -> dict[str, Any]:
    names = ("agentool.session.id", "agentool.span.parent_id", "agentool.step.index")
    return {key: value for key, value in record.attributes.items() if key not in names}


@pytest.mark.thorough
def test_a_thousand_equal_prompts_at_once(spans: Any) -> None:
    turns = [[1, 2], [1]]
    programs = [Chat(number, turns, number % 2 == 0) for number in range(1000)]
    interleaved(programs, 1)
    assert Counter(trees(spans)) == Counter(tree for each in programs for tree in each.trees())
    assert len(sessions(spans)) == 1000
