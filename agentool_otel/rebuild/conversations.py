"""Which calls of a bare provider SDK belong together.

Without an agent around them every model call may be a trace of its own. Two calls belong to one run
when the later one answers a tool call the earlier one asked for, continues its response, or repeats
its history with its answer in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import blake2b
from typing import Any

from agentool_otel._json import canonical
from agentool_otel.model.messages import Message, parts_of, text_of
from agentool_otel.model.operations import Inference, ToolExecution
from agentool_otel.rebuild.tree import Node

__all__ = ["Joining", "needed", "offered"]


def offered(node: Node) -> list[str]:
    """Return the keys under which a later call can refer to this one."""
    operation = node.operation
    keys: list[str] = []
    if not isinstance(operation, Inference):
        return keys
    if operation.response_id is not None:
        keys.append(f"response {operation.response_id}")
    before = _history(operation.input or ())
    *_, state = before
    for message in operation.output or ():
        keys.append(f"history {_next(state, message)}")
        for part in parts_of(message):
            if part.get("type") == "tool_call" and isinstance(part.get("id"), str):
                keys.append(f"call {part['id']} {part.get('name')}")
    return keys


def needed(node: Node) -> list[str]:
    """Return the keys of the earlier calls this one refers to, the surest first."""
    operation = node.operation
    if isinstance(operation, ToolExecution):
        return [f"call {operation.call_id} {operation.name}"] if operation.call_id else []
    if not isinstance(operation, Inference):
        return []
    keys: list[str] = []
    if operation.previous_response_id is not None:
        keys.append(f"response {operation.previous_response_id}")
    messages = operation.input or []
    names: dict[str, Any] = {}
    answered: list[str] = []
    states = list(_history(messages))
    for message, state in zip(messages, states[1:], strict=True):
        if message.get("role") == "assistant":
            keys.append(f"history {state}")
        for part in parts_of(message):
            if part.get("type") == "tool_call":
                names[str(part.get("id"))] = part.get("name")
            elif part.get("type") == "tool_call_response":
                answered.append(str(part.get("id")))
    keys += [f"call {call_id} {names[call_id]}" for call_id in answered if call_id in names]
    return keys


def _history(messages: Any) -> Iterator[str]:
    """Yield a fingerprint of the history before the first message, and after each one."""
    state = ""
    yield state
    for message in messages:
        state = _next(state, message)
        yield state


def _next(state: str, message: Message) -> str:
    """Fold a message into a fingerprint: role, text and tool calls count, the rest varies."""
    said: list[Any] = [state, message.get("role"), text_of(message)]
    for part in parts_of(message):
        if part.get("type") in ("tool_call", "tool_call_response"):
            said += [part.get("id"), part.get("name"), part.get("arguments")]
    return blake2b(canonical(said).encode(), digest_size=8).hexdigest()


class Joining:
    """Groups numbered calls by the keys they offer and need, in order of time (union-find)."""

    def __init__(self) -> None:
        self._parent: list[int] = []
        self._offers: dict[str, int] = {}
        self._waiting: list[tuple[int, list[str]]] = []

    def add(self, offers: list[str], needs: list[str]) -> int:
        """Add a call and return its number. Keys are short; the call itself is not kept."""
        number = len(self._parent)
        self._parent.append(number)
        for key in offers:
            self._offers.setdefault(key, number)
        if needs:
            self._waiting.append((number, needs))
        return number

    def tie(self, one: int, other: int) -> None:
        """Say that two calls belong together for another reason."""
        one, other = self._find(one), self._find(other)
        if one != other:
            self._parent[max(one, other)] = min(one, other)

    def groups(self) -> list[list[int]]:
        """Return the numbers that belong together."""
        for number, needs in self._waiting:
            for key in needs:
                found = self._offers.get(key)
                if found is not None and found != number:
                    self.tie(number, found)
        together: dict[int, list[int]] = {}
        for number in range(len(self._parent)):
            together.setdefault(self._find(number), []).append(number)
        return list(together.values())

    def _find(self, number: int) -> int:
        root = number
        while self._parent[root] != root:
            root = self._parent[root]
        while self._parent[number] != root:
            self._parent[number], number = root, self._parent[number]
        return root
