"""For any loops in any order, the trees are those of each loop alone, and so are the runs that are
rebuilt, with and without the inferred spans."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

import agentool_otel
from agentool_otel.loading import rebuild
from agentool_otel.tracing.loops.ends import forget_loops
from agentool_otel.tracing.loops.open_loops import open_loops as loops
from tests.records import records
from tests.tracing.loops.plain_programs import TOOLS, sessions, trees

TURNS = st.lists(st.lists(st.integers(1, 3), max_size=3), min_size=1, max_size=3)
"""By turn, how many tools each answer but the last requests."""


def search(item: str) -> str:
    return f"page of {item}"


class Chat:
    """A chat whose answers are known beforehand; each step is a call of the model."""

    def __init__(self, number: int, turns: list[list[int]], decorated: bool):
        self._number = number
        self._turns = turns
        self._messages: list[Any] = []
        self._search = agentool_otel.tool(search) if decorated else search
        self._steps = self._play()

    def step(self) -> bool:
        """Call the model once; False after the last call."""
        return next(self._steps, None) is not None

    def _play(self) -> Any:
        for turn, rounds in enumerate(self._turns):
            self._messages.append({"role": "user", "content": self.question(turn)})
            for place, count in enumerate(rounds):
                ids = [f"{self._number}-{turn}-{place}-{each}" for each in range(count)]
                calls = [
                    {
                        "id": call_id,
                        "type": "function",
                        "function": {"name": "search", "arguments": f'{{"item": "{call_id}"}}'},
                    }
                    for call_id in ids
                ]
                self._ask({"role": "assistant", "content": None, "tool_calls": calls})
                yield True
                for call_id in ids:
                    result = self._search(item=call_id)
                    self._messages.append(
                        {"role": "tool", "tool_call_id": call_id, "content": result}
                    )
            self._ask({"role": "assistant", "content": self.answer(turn)})
            yield True

    def _ask(self, answer: dict[str, Any]) -> None:
        with agentool_otel.model_call(
            "m", messages=self._messages, tools=TOOLS, provider="own"
        ) as call:
            call.output(answer)
        self._messages.append(answer)

    def question(self, turn: int) -> str:
        return f"question {turn} of {self._number}"

    def answer(self, turn: int) -> str:
        return f"answer {turn} to {self._number}"

    def trees(self) -> list[str]:
        return [
            "invoke_agent[" + "".join("chat, " + "search, " * count for count in rounds) + "chat]"
            for rounds in self._turns
        ]

    def runs(self) -> list[tuple[str, str, int]]:
        """Return input, output and number of tool calls of each turn."""
        return [
            (self.question(turn), self.answer(turn), sum(rounds))
            for turn, rounds in enumerate(self._turns)
        ]


def interleaved(chats: list[Chat], seed: int) -> None:
    random = Random(seed)
    left = [*chats]
    while left:
        chat = random.choice(left)
        if not chat.step():
            left.remove(chat)


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


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    chats=st.lists(st.tuples(TURNS, st.booleans()), min_size=1, max_size=6),
    seed=st.integers(0, 1 << 30),
)
def test_interleaved_loops_are_those_of_each_alone(
    chats: list[tuple[list[list[int]], bool]], seed: int, spans: Any
) -> None:
    spans.forget()
    forget_loops()
    programs = [Chat(number, *each) for number, each in enumerate(chats)]
    interleaved(programs, seed)
    assert Counter(trees(spans)) == Counter(tree for each in programs for tree in each.trees())
    assert len(sessions(spans)) == len(programs)
    assert not len(loops)
    recorded = records(spans.finished())
    wanted = Counter(run for each in programs for run in each.runs())
    assert runs_in(recorded) == wanted
    assert sessions_in(recorded) == len(programs)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    chats=st.lists(st.tuples(TURNS, st.booleans()), min_size=1, max_size=4),
    seed=st.integers(0, 1 << 30),
)
def test_runs_are_the_same_without_the_inferred_spans(
    chats: list[tuple[list[list[int]], bool]], seed: int, spans: Any
) -> None:
    """A backend drops them, or a recording is from before there were any."""
    spans.forget()
    forget_loops()
    programs = [Chat(number, *each) for number, each in enumerate(chats)]
    interleaved(programs, seed)
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
