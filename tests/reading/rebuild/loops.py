"""Programs that are loops around a client of a model, with tools whose spans have no call id."""

from __future__ import annotations

import json
import random
from typing import Any, NamedTuple

import msgspec

from agentool_otel.dialects.gen_ai.dialect import GenAI
from agentool_otel.model.messages import message, text, tool_call, tool_response
from agentool_otel.model.operations import Inference, McpRequest, Operation, ToolExecution
from agentool_otel.model.spans import SpanRecord

__all__ = ["MS", "START", "Call", "Loops", "span_of"]

MS = 1_000_000
START = 1_700_000_000_000 * MS
_NAMES = ("search", "lookup")
_WORDS = ("a", "b")


class Call(NamedTuple):
    """A tool call that a program made."""

    id: str
    name: str
    arguments: dict[str, Any]
    result: str | None
    """None where it failed."""
    error: str | None


def span_of(
    operation: Operation, number: int, start_ns: int, end_ns: int, **fields: Any
) -> SpanRecord:
    """Return the span of an operation, alone in its OTel trace."""
    name, kind, attributes = GenAI().write(operation)
    span = SpanRecord(
        f"{number:032x}", f"{number:016x}", None, name, kind=kind, start_ns=start_ns, end_ns=end_ns,
        attributes=attributes, scope="some.sdk",
        status="ERROR" if operation.error_type else "UNSET",
        resource={"service.name": "shop", "service.instance.id": "1"},
        status_message=operation.error_message,
    )  # fmt: skip
    return msgspec.structs.replace(span, **fields)


class Loops:
    """Conversations that run at the same time, and their spans.

    Args:
        chance: makes all choices.
        count: of the conversations.
        below: a server span is around all of them.
    """

    def __init__(self, chance: random.Random, count: int, *, below: bool = False):
        self._chance = chance
        self._below = below
        self.spans: list[SpanRecord] = []
        self.calls: dict[str, list[Call]] = {}
        """By the question of each conversation, in order of the requests."""
        for number in range(count):
            self._converse(f"question {number}", chance.randint(0, 40))
        if below:
            end_ns = max(span.end_ns or 0 for span in self.spans)
            server = SpanRecord(
                f"{1:032x}", "f" * 16, None, "POST /", start_ns=START - MS, end_ns=end_ns + MS,
                attributes={"http.route": "/"}, resource={"service.instance.id": "1"},
            )  # fmt: skip
            self.spans.append(server)

    def _converse(self, question: str, at: int) -> None:
        history = [message("user", [text(question)])]
        results = self.calls[question] = []
        for _ in range(self._chance.randint(1, 3)):
            calls = [
                self._call(len(results) + n, question) for n in range(self._chance.randint(1, 2))
            ]
            parts = [tool_call(call.name, self._sent(call.arguments), call.id) for call in calls]
            answer = message("assistant", parts)
            at = self._model(history, answer, at)
            repeated = [tool_call(call.name, self._sent(call.arguments), call.id) for call in calls]
            history.append(message("assistant", repeated))
            at = self._execute(calls, at)
            tool_responses = [
                tool_response(call.result or f"error: {call.error}", call.id) for call in calls
            ]
            history += [message("tool", [part]) for part in tool_responses]
            results += calls
        self._model(history, message("assistant", [text("Done.")]), at)

    def _call(self, number: int, question: str) -> Call:
        name, word = self._chance.choice(_NAMES), self._chance.choice(_WORDS)
        fails = (name, word) == ("search", "a")
        call_id = f"call_{question[-2:].strip()}_{number}"
        return Call(
            call_id,
            name,
            {"word": word},
            None if fails else f"page of {call_id}",
            "no page" if fails else None,
        )

    def _sent(self, arguments: dict[str, Any]) -> Any:
        return json.dumps(arguments) if self._chance.random() < 0.3 else arguments

    def _model(self, history: list[Any], answer: Any, at: int) -> int:
        end = at + self._chance.randint(1, 20)
        self._add(Inference(provider="p", input=list(history), output=[answer]), at, end)
        return end + self._chance.randint(0, 3)

    def _execute(self, calls: list[Call], at: int) -> int:
        """Execute the calls of a turn one after another, or at once; equal ones in their order."""
        at_once = self._chance.random() < 0.5
        latest = at
        alike = len({(call.name, str(call.arguments)) for call in calls}) < len(calls)
        for call in calls if alike else self._chance.sample(calls, len(calls)):
            start = at if at_once else latest
            end = start + self._chance.randint(1, 20)
            self._add(self._execution(call), start, end)
            latest = max(latest, end)
        return latest + self._chance.randint(0, 3)

    def _execution(self, call: Call) -> ToolExecution | McpRequest:
        result: dict[str, Any] = {} if call.result is None else {"result": call.result}
        failed: dict[str, Any] = (
            {} if call.error is None else {"error_type": "E", "error_message": call.error}
        )
        if call.name == "lookup" and self._chance.random() < 0.5:
            arguments = call.arguments
            return McpRequest(tool_name="lookup", side="client", arguments=arguments, **result)
        arguments = self._chance.choice(
            [
                call.arguments,
                {**call.arguments, "limit": 10},
                {"db": "shop", **call.arguments},
                {"request": call.arguments},
            ]
        )
        return ToolExecution(name=call.name, arguments=arguments, **result, **failed)

    def _add(self, operation: Operation, start: int, end: int) -> None:
        parent = {"trace_id": f"{1:032x}", "parent_id": "f" * 16} if self._below else {}
        number = len(self.spans) + 1
        self.spans.append(
            span_of(operation, number, START + start * MS, START + end * MS, **parent)
        )
