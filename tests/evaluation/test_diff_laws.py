"""Laws of the differences of any two traces."""

from __future__ import annotations

import copy
import random
from collections import Counter
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from agentool_otel import ReasoningTrace
from agentool_otel.evaluation import TraceDiff, diff
from agentool_otel.evaluation.trace_diff.alignment import align
from agentool_otel.evaluation.trace_diff.subsequence import longest_common_subsequence
from agentool_otel.evaluation.trace_view import TraceView
from tests.roundtrip.test_replay_law import there_and_back
from tests.strategies import steps, traces

Object = dict[str, Any]
law = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def between(a: Object, b: Object, **options: Any) -> TraceDiff:
    return diff(ReasoningTrace.from_dict(a), ReasoningTrace.from_dict(b), **options)


def finished(trace: Object) -> Object:
    """Return the trace of a run that has ended: what another one lacks is unknown."""
    return {**trace, "status": "success", "metadata": {}}


@law
@given(traces)
def test_a_trace_does_not_differ_from_itself(trace: Object) -> None:
    result = between(trace, copy.deepcopy(trace))
    assert result.same
    assert result.certain


_MIRRORED = {"added": "lost", "lost": "added"}


def told_by(trace_diff: TraceDiff, turned: bool = False) -> Counter[Any]:
    counts: Counter[Any] = Counter()
    for step in trace_diff.steps:
        sides = [action and action.place for action in (step.a, step.b)]
        changes = [
            (
                change.path,
                *(
                    repr(side)
                    for side in ((change.b, change.a) if turned else (change.a, change.b))
                ),
            )
            for change in step.changes
        ]
        kind = _MIRRORED.get(step.kind, step.kind) if turned else step.kind
        places = tuple(reversed(sides) if turned else sides)
        counts[kind, places, tuple(sorted(changes))] += 1
    return counts


@law
@given(traces, traces)
def test_swapping_the_sides_turns_added_into_lost(a: Object, b: Object) -> None:
    target, back = between(a, b), between(b, a)
    assert told_by(target) == told_by(back, turned=True)
    assert target.same == back.same
    assert target.equal_steps == back.equal_steps
    assert len(target.unknown) == len(back.unknown)
    assert sorted(change.path for change in target.changes) == sorted(
        change.path for change in back.changes
    )


@law
@given(traces, st.uuids().map(str))
def test_ids_and_times_make_no_difference(trace: Object, new: str) -> None:
    second = copy.deepcopy(trace)
    second |= {"trace_id": new, "session_id": new, "started_at": "2030-01-01T00:00:00Z"}
    for n, step in enumerate(second["steps"]):
        step |= {"step_id": f"{new} {n}", "timestamp": f"2030-01-01T00:{n:02}:00Z"}
        for body, name in ((step.get("tool_call"), "id"), (step.get("tool_result"), "call_id")):
            if body and isinstance(body.get(name), str):
                body[name] = f"{new} {body[name]}"
        if result := step.get("tool_result"):
            result["duration_ms"] = 1
    assert between(trace, second).same


@law
@given(traces, steps, st.data())
def test_an_extra_step_is_reported_as_added(trace: Object, step: Object, data: Any) -> None:
    trace = finished(trace)
    for name, member in (("tool_call", "id"), ("tool_result", "call_id")):
        if body := step.get(name):
            step = {**step, name: {**body, member: "an id of its own"}}
    place = data.draw(st.integers(0, len(trace["steps"])))
    second = copy.deepcopy(trace)
    second["steps"].insert(place, step)
    for one in (trace, second):  # a result without its call is no new step: the call is not shown
        assume(not TraceView(ReasoningTrace.from_dict(one)).answered_alone)
    (result,) = between(trace, second).steps
    assert result.kind == "added"
    (result,) = between(second, trace).steps
    assert result.kind == "lost"


@law
@given(st.lists(st.integers(0, 9), max_size=12), st.randoms(use_true_random=False))
def test_shuffled_calls_are_neither_added_nor_lost_nor_changed(
    queries: list[int], shuffled: random.Random
) -> None:
    calls = [
        {"type": "tool_call", "tool_call": {"name": "search", "arguments": {"query": query}}}
        for query in queries
    ]
    others = copy.deepcopy(calls)
    shuffled.shuffle(others)
    result = between({"trace_id": "a", "steps": calls}, {"trace_id": "b", "steps": others})
    assert {step.kind for step in result.steps} <= {"reordered"}
    assert result.same == (calls == others)
    assert between(
        {"trace_id": "a", "steps": calls}, {"trace_id": "b", "steps": others}, skip=["order"]
    ).same


@settings(law, max_examples=25)
@given(traces)
def test_a_replayed_trace_does_not_differ_from_its_original(trace: Object) -> None:
    (again,) = there_and_back(trace)
    assert between(trace, again).same


@law
@given(
    st.lists(st.sampled_from("abcd"), max_size=60), st.lists(st.sampled_from("abcd"), max_size=60)
)
def test_long_sequences_pair_as_many_elements_as_short_ones(a: list[str], b: list[str]) -> None:
    """Sequences that are too long for a full table still get a longest common subsequence."""
    keys_a, keys_b = ([(key, key, key) for key in map(str.encode, side)] for side in (a, b))
    small = align(keys_a, keys_b, lambda i, j: 0.0)
    subsequence = longest_common_subsequence(
        [item[0] for item in keys_a], [item[0] for item in keys_b]
    )
    assert all(a[i] == b[j] for i, j in subsequence)
    assert subsequence == sorted(set(subsequence))
    assert len({i for i, _ in subsequence}) == len({j for _, j in subsequence}) == len(subsequence)
    assert len(subsequence) == len(small.pairs)
