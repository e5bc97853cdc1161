"""A program that asks a model in a loop and calls its own functions, and the tree of its spans."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pytest

import agentool_otel
from agentool_otel.testing.loopback_model import LoopbackModel, ToolCall, Turn

TOOLS = [
    {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
    for name in ("search", "weather")
]


def search(q: str) -> str:
    return f"page of {q}"


def weather(q: str) -> str:
    return "sun"


FUNCTIONS: dict[str, Callable[..., str]] = {"search": search, "weather": weather}


def wanted(name: str, q: str, call_id: str | None = None) -> ToolCall:
    return ToolCall(name, {"q": q}, call_id)


ROUND = (
    Turn(tool_calls=(wanted("search", "a"),)),
    Turn(tool_calls=(wanted("search", "b"), wanted("weather", "c"))),
)
"""Answers of a model that calls a tool, then two, before its last one."""
TREE = "invoke_agent[chat, search, chat, search, weather, chat]"
"""What they are in a trace."""


class Program:
    """Asks questions, and answers the tool calls of a model, on one list of messages."""

    def __init__(self, client: Any, functions: dict[str, Callable[..., str]] | None = None):
        self.client = client
        self.functions = functions or FUNCTIONS
        self.messages: list[dict[str, Any]] = []

    def ask(self, question: str, **options: Any) -> str:
        self.messages.append({"role": "user", "content": question})
        while calls := self.step(**options):
            self.send(calls)
        return str(self.messages[-1]["content"])

    def step(self, **options: Any) -> list[dict[str, Any]]:
        """Call the model once, and return the tool calls that it requests."""
        options = {"model": "m", "messages": self.messages, "tools": TOOLS, **options}
        completion = self.client.chat.completions.create(**options)
        message = completion.choices[0].message.model_dump(exclude_none=True)
        self.messages.append(message)
        return list(message.get("tool_calls") or ())

    def send(self, calls: Sequence[dict[str, Any]]) -> None:
        """Execute the tools, and add their results to the messages."""
        for call in calls:
            function = self.functions[call["function"]["name"]]
            result = function(**json.loads(call["function"]["arguments"]))
            self.messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})


def client_of(model: LoopbackModel, name: str = "OpenAI") -> Any:
    openai = pytest.importorskip("openai")
    return getattr(openai, name)(base_url=model.base_url, api_key="none", max_retries=0)


def trees(spans: Any) -> list[str]:
    """Return the trace of each root as `name[child, child]`, in order of start."""
    finished = sorted(spans.finished(), key=lambda span: span.start_time)
    ids = {span.context.span_id for span in finished}
    below: dict[int | None, list[Any]] = {}
    roots: list[Any] = []
    for span in finished:
        above = span.parent.span_id if span.parent is not None else None
        (below.setdefault(above, []) if above in ids else roots).append(span)

    def tree(span: Any) -> str:
        inside = [tree(each) for each in below.get(span.context.span_id, ())]
        name = span.name.removesuffix(" m").removeprefix("execute_tool ")
        return f"{name}[{', '.join(inside)}]" if inside else str(name)

    assert len({span.context.trace_id for span in finished}) == len(roots)
    return [tree(span) for span in roots]


def sessions(spans: Any) -> set[str]:
    """Return the sessions of all spans, each of which has one."""
    return {span.attributes["agentool.session.id"] for span in spans.finished()}


def roots(spans: Any) -> list[dict[str, Any]]:
    """Return the attributes of the inferred runs, in order of start."""
    finished = sorted(spans.finished(), key=lambda span: span.start_time)
    return [
        dict(span.attributes)
        for span in finished
        if span.attributes.get("agentool.inferred") == "run"
    ]


def find(item: str) -> str:
    return f"page of {item}"


class Chat:
    """A chat whose answers are known beforehand; each step is a call of the model."""

    def __init__(self, number: int, turns: list[list[int]], decorated: bool):
        self._number = number
        self._turns = turns
        self._messages: list[Any] = []
        self._search = agentool_otel.tool(name="search")(find) if decorated else find
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
