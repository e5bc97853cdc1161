"""Sessions of chats without an agent that begin alike."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.model.messages import Message, message, text, tool_call, tool_response
from agentool_otel.model.operations import Inference
from tests.records import Collected


class Chat:
    """Plays a chat call by call. Its first turns are those of all other chats.

    Args:
        name: of this chat.
        alike: how many turns are equal in all chats.
        tools: how many tool calls each turn has.
    """

    def __init__(self, name: str, alike: int = 1, tools: int = 0):
        self._name = name
        self._alike = alike
        self._tools = tools
        self._history: list[Message] = []
        self._turn = -1
        self._requested = 0

    def call(self, spans: Collected, trace: int | None = None) -> bool:
        """Record the next call; return whether it ends a turn."""
        if not self._requested:
            self._turn += 1
            self._history.append(message("user", [text(self._words("question"))]))
        is_answer = self._requested == self._tools
        call_id = f"{self._name}-{self._turn}-{self._requested}"
        part = text(self._words("answer")) if is_answer else tool_call("f", {}, call_id)
        answer = message("assistant", [part])
        call = Inference(provider="p", input=[*self._history], output=[answer])
        spans.add(call, trace=trace)
        self._history.append(answer)
        if not is_answer:
            self._history.append(message("tool", [tool_response("x", call_id)]))
        self._requested = 0 if is_answer else self._requested + 1
        return is_answer

    def turn(self, spans: Collected, trace: int | None = None) -> None:
        while not self.call(spans, trace):
            pass

    def _words(self, kind: str) -> str:
        whose = "" if self._turn < self._alike else f" of {self._name}"
        return f"{kind} {self._turn}{whose}"


def sessions(spans: Collected) -> dict[str, list[Any]]:
    """Return the inputs of the runs of each session; runs without one are left out."""
    by_session: dict[str, list[Any]] = defaultdict(list)
    for trace in spans.rebuilt():
        if "session_id" in trace:
            by_session[trace["session_id"]].append(trace["input"])
    return by_session


@given(
    lengths=st.lists(st.integers(1, 4), min_size=1, max_size=5),
    alike=st.integers(0, 3),
    tools=st.integers(0, 1),
    data=st.data(),
)
def test_chats_that_begin_alike_have_a_session_each(
    lengths: list[int], alike: int, tools: int, data: st.DataObject
) -> None:
    spans = Collected()
    chats = [Chat(f"chat {number}", alike, tools) for number in range(len(lengths))]
    waiting = [number for number, turns in enumerate(lengths) for _ in range(turns * (tools + 1))]
    for number in data.draw(st.permutations(waiting)):
        chats[number].call(spans)
    found = sessions(spans)
    assert Counter(map(len, found.values())) == Counter(turns for turns in lengths if turns > 1)
    for inputs in found.values():
        assert len({words.partition(" of ")[2] for words in inputs} - {""}) <= 1
        assert [words.split()[1] for words in inputs] == [str(turn) for turn in range(len(inputs))]


def test_a_turn_continues_the_equal_answer_in_its_own_trace() -> None:
    spans = Collected()
    one, other = Chat("one"), Chat("other")
    for chat, trace in ((one, 1), (other, 2), (one, 1), (other, 2)):
        chat.turn(spans, trace)
    first, second, third, fourth = spans.rebuilt()
    assert first["session_id"] == third["session_id"] != second["session_id"]
    assert second["session_id"] == fourth["session_id"]


def test_two_turns_after_one_answer_are_branches_of_a_session() -> None:
    spans = Collected()
    one, other = Chat("one"), Chat("other")
    one.turn(spans)
    other.turn(Collected())
    one.turn(spans)
    other.turn(spans)
    assert [*sessions(spans).values()] == [
        ["question 0", "question 1 of one", "question 1 of other"]
    ]
