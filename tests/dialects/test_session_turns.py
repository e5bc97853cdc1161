"""The turns of a session, which several channels name by keys of their own."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.dialects.kit.session_entries import Channel, Entry
from agentool_otel.dialects.kit.session_groups import Turns
from agentool_otel.model.operations import AgentInvocation
from agentool_otel.model.spans import SpanRecord

CHANNELS = [*Channel]
keys = st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=3, unique=True)


def turn(channel: Channel, *names: str) -> Entry:
    record = SpanRecord("1" * 32, "1" * 16, None, "turn")
    return Entry("turn", AgentInvocation(), record, channel, names, None, None)


def groups_of(entries: list[Entry]) -> list[set[str]]:
    """Return the keys of each turn: those that are connected by entries."""
    groups: list[set[str]] = []
    for entry in entries:
        own = set(entry.keys)
        near = [group for group in groups if group & own]
        groups = [group for group in groups if group not in near]
        groups.append(own.union(*near))
    return groups


@given(st.lists(st.tuples(st.sampled_from(CHANNELS), keys), max_size=8))
def test_turns_differ_where_two_channels_have_both(drawn: list[tuple[Channel, list[str]]]) -> None:
    entries = [turn(channel, *names) for channel, names in drawn]
    turns, groups = Turns(entries), groups_of(entries)
    has = {
        channel: [group for group in groups
                  if any(e.channel == channel and group & {*e.keys} for e in entries)]
        for channel in CHANNELS
    }  # fmt: skip
    for one in "abcdefghz":
        for other in "abcdefghz":
            own = next((group for group in groups if one in group), None)
            theirs = next((group for group in groups if other in group), None)
            for channel, another in zip(CHANNELS, [*CHANNELS[1:], CHANNELS[0]], strict=True):
                both = [group for group in has[channel] if group in has[another]]
                assert turns.differ(one, channel, other, another) == (
                    own != theirs and own in both and theirs in both
                )


def test_a_turn_without_a_key_differs_from_none() -> None:
    turns = Turns([turn(CHANNELS[0], "a"), turn(CHANNELS[1], "a")])
    assert not turns.differ(None, CHANNELS[0], "a", CHANNELS[1])
    assert not turns.differ("a", CHANNELS[0], None, CHANNELS[1])
