"""The model's side of a script."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field

from agentool_otel.testing.loopback_model import Request, ToolCall, Turn
from tests.coding_agents.agent import Agent, Call, Json, Place
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
            custom = isinstance(call.arguments, str)
            calls.append(ToolCall(call.tool, call.arguments, call_id, call.namespace, custom))
            self._note(call, call_id, type(action).__name__, position)
        text = answer.text
        if part.prompt is not None and text is not None and not calls:
            report = self._agent.report(text)
            if report is not None:
                text, call_id = None, f"{self._agent.call_prefix}{len(self.calls) + 1:06d}"
                calls.append(ToolCall(report.tool, report.arguments, call_id))
                self._note(report, call_id, "Report", position)
        turn = Turn(
            text=text,
            tool_calls=tuple(calls),
            reasoning=answer.reasoning,
            phase="commentary" if calls else "final_answer",
            input_tokens=usage.input,
            output_tokens=usage.output,
            cached_tokens=usage.cached,
            reasoning_tokens=usage.reasoning,
            chunk_size=40,
            delay_s=self._agent.model_delay_s,
        )
        part.answers.append((f"turn {position}", turn))
        for action in answer.actions:
            if isinstance(action, Delegate):
                delegated = _Part(action.prompt)
                self._parts.append(delegated)
                for turn_of_it in action.turns:
                    self._add(delegated, turn_of_it)

    def _note(self, call: Call, call_id: str | None, action: str, position: int | None) -> None:
        row = {"id": call_id, "action": action, "turn": position, **vars(call)}
        self.calls.append({name: value for name, value in row.items() if value is not None})

    def __call__(self, request: Request) -> Turn:
        own = self._agent.own_request(request)
        with self._lock:
            name, turn = ("of the agent itself", own) if own else self._next(request)
            number = len(self.requests) + 1
            for call in own.tool_calls if own else ():
                self._note(Call(call.name, call.arguments, call.namespace), call.id, "own", None)
            row: Json = {"number": number, "model": request.model, "answer": name}
            if turn.status == 200:
                row |= {"input_tokens": turn.input_tokens, "output_tokens": turn.output_tokens}
            self.requests.append(row)
        return turn

    def _next(self, request: Request) -> tuple[str, Turn]:
        users = "\n".join(_user_texts(request))
        part = next((part for part in self._parts[1:] if (part.prompt or "") in users),
                    self._parts[0])  # fmt: skip
        if not part.answers:
            return "not in the script", Turn(
                text="The script has no more turns.", input_tokens=100, output_tokens=5
            )
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
