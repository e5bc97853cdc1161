"""Calls that share a key are told apart as looking at each two of them would tell them apart."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.reading.rebuild.correlation.duplicate_calls import Answered, AnsweredCalls
from agentool_otel.reading.rebuild.correlation.keys import Keys
from agentool_otel.reading.rebuild.correlation.union_find import Joining

few = st.integers(0, 3)
ranks = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 2)), max_size=12)
calls = st.lists(
    st.builds(
        lambda response, start, length, scope: Answered(response, start, start + length, scope),
        st.sampled_from("rs"),
        st.integers(0, 8),
        st.integers(0, 8),
        st.sampled_from("abc"),
    ),
    max_size=12,
)


@given(calls, calls)
def test_of_a_duplicate_and_a_call_of_another_tracer_one_lies_within_the_other(
    own: list[Answered], others: list[Answered]
) -> None:
    result, parent = AnsweredCalls(), AnsweredCalls()
    for number, call in enumerate(own):
        result.add(call, number)
    for call in others:
        parent.add(call)
    assert result.duplicates(parent) == {
        number
        for number, call in enumerate(own)
        for answered in others
        if call.response_id == answered.response_id
        and (_is_within(call, answered) or _is_within(answered, call))
        and call.scope != answered.scope
    }


def _is_within(one: Answered, other: Answered) -> bool:
    return other.start_ns <= one.start_ns and one.end_ns <= other.end_ns


@given(ranks, st.tuples(st.integers(0, 6), st.integers(0, 2)))
def test_a_call_continues_the_last_one_before_it_that_offers_its_key(
    offers: list[tuple[int, int]], rank: tuple[int, int]
) -> None:
    joining = Joining()
    for offer in offers:
        joining.add(Keys([1], []), offer)
    number = joining.add(Keys([], [1]), rank)
    joining.settle()
    places = [(*offer, n) for n, offer in enumerate(offers)]
    before = [place for place in places if place[:2] < rank]
    after = [place for place in places if place[:2] > rank]
    wanted = max(before)[2] if before else min(after or places or [(0, 0, number)])[2]
    assert joining.group_of(number) == joining.group_of(wanted)
    assert [joining.group_of(n) for n in range(len(offers))] == [*range(len(offers))]
