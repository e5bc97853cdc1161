"""The model's side of a script."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

from agentool_otel.testing.loopback_model import Request, ToolCall, Turn
from tests.coding_agents.agent import Agent, Json, Place
from tests.coding_agents.situations import Delegate, Failure, ModelTurn, Situation

__all__ = ["Player"]


@dataclass
class _Part:
    """Answers of one agent or sub-agent, in order."""

    prompt: str | None
    """The prompt of a sub-agent, by which its requests are known."""
    answers: list[tuple[str, Turn]] = field(default_factory=list)


class Player:
    """A rule of the loopback model that answers by a script, and a log of the requests."""

    def __init__(self, agent: Agent, situation: Situation, place: Place):
        self.requests: list[Json] = []
        self.calls: list[Json] = []
        """The tool calls of the script, as the agent got them."""
        self._agent = agent
        self._place = place
        self._lock = threading.Lock()
        self._positions = iter(situation.turns())
        self._parts: list[_Part] = [_Part(None)]
        for prompt in situation.prompts:
            for answer in prompt.answers:
                self._add(self._parts[0], answer)

    def _add(self, part: _Part, answer: ModelTurn | Failure) -> None:
        if isinstance(answer, Failure):
            headers = {"retry-after": "1"} if answer.status == 429 else {}
            turn = Turn(status=answer.status, error=answer.message, headers=headers)
            part.answers.append((f"status {answer.status}", turn))
            return
        position, _ = next(self._positions)
        usage = answer.usage(position)
        calls: list[ToolCall] = []
        for action in answer.actions:
            call_id = f"{self._agent.call_prefix}{len(self.calls) + 1:06d}"
            call = self._agent.call(action, self._place)
            calls.append(ToolCall(call.tool, call.arguments, call_id))
            kind = type(action).__name__
            self.calls.append({"id": call_id, "action": kind, "turn": position, **vars(call)})
        turn = Turn(
            text=answer.text,
            tool_calls=tuple(calls),
            reasoning=answer.reasoning,
            input_tokens=usage.input,
            output_tokens=usage.output,
            cached_tokens=usage.cached,
            reasoning_tokens=usage.reasoning,
            chunk_size=40,
        )
        part.answers.append((f"turn {position}", turn))
        for action in answer.actions:
            if isinstance(action, Delegate):
                delegated = _Part(action.prompt)
                self._parts.append(delegated)
                for turn_of_it in action.turns:
                    self._add(delegated, turn_of_it)

    def __call__(self, request: Request) -> Turn:
        own = self._agent.own_request(request)
        with self._lock:
            name, turn = ("of the agent itself", own) if own else self._next(request)
            number = len(self.requests) + 1
            self.requests.append({"number": number, "model": request.model, "answer": name})
        return turn

    def _next(self, request: Request) -> tuple[str, Turn]:
        users = "\n".join(_user_texts(request))
        part = next((part for part in self._parts[1:] if (part.prompt or "") in users),
                    self._parts[0])  # fmt: skip
        if not part.answers:
            return "not in the script", Turn(text="The script has no more turns.")
        name, turn = part.answers[0]
        if len(part.answers) > 1 or turn.status == 200:
            part.answers.pop(0)
        return name, turn


def _user_texts(request: Request) -> Iterator[str]:
    for message in request.messages:
        if message.get("role") == "user":
            content = message.get("content") or message.get("parts")
            blocks = content if isinstance(content, list) else [{"text": content}]
            yield from (str(block["text"]) for block in blocks if "text" in block)


def as_line(value: Json) -> str:
    """Return an object as one short line of JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
