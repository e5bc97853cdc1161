"""Which calls of a bare provider SDK belong together.

Without an agent around them every model call may be a trace of its own. Two calls belong to one run
when the later one answers a tool call the earlier one asked for, continues its response, or repeats
its history with its answer in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from agentool_otel.ground.json_codec import canonical
from agentool_otel.model.messages import Message, call_id_of, parts_of, role_of
from agentool_otel.model.operations import Inference, ToolExecution
from agentool_otel.reconstruction.steps.model_calls import is_details
from agentool_otel.reconstruction.tree import Node

__all__ = ["Key", "Keys", "keys_of"]

Key = int
"""A hash of what a later call can refer to; of this process, 64 bits."""

_STATES = 4
"""How many of the latest states of its history a call is looked for by. The latest one is that of
the call before; the others help where that call was not recorded."""


class Keys(NamedTuple):
    """What ties a call to others."""

    offered: Sequence[Key] = ()
    """Under which a later call can refer to this one."""
    needed: Sequence[Key] = ()
    """Of the earlier calls this one refers to, the surest first."""


def keys_of(node: Node) -> Keys:
    """Return the keys of a model call or a tool execution."""
    operation = node.operation
    if isinstance(operation, ToolExecution):
        if operation.call_id is None:
            return Keys()
        return Keys(needed=[hash(("call", operation.call_id, operation.name))])
    if not isinstance(operation, Inference):
        return Keys()
    if is_details(node) and operation.response_id is not None:
        return Keys(needed=[hash(("response", operation.response_id))])
    state = 0
    states: list[Key] = []
    asked: list[Key] = []
    results: list[Key] = []
    alike: list[Key] = []
    for message in operation.input or ():
        before = state
        state, calls = _folded(before, message)
        if role_of(message) == "assistant":
            states.append(state)
            alike = _only(before, message, "text")
            if not calls:
                alike += _only(before, message, "tool_call")
            asked = calls  # of the last turn, which this call answers
            results = []
        else:
            asked += calls
            results += _ids(message, "tool_call_response")
    needed: list[Key] = []
    if operation.previous_response_id is not None:
        needed.append(hash(("response", operation.previous_response_id)))
    needed += states[: -_STATES - 1 : -1]
    needed += asked or results
    needed += alike
    offered: list[Key] = []
    if operation.response_id is not None:
        offered.append(hash(("response", operation.response_id)))
        # One SDK may tell what was said, and another, in a trace of its own, only that it was.
        told = offered if operation.input or operation.output else needed
        told.append(hash(("told", operation.response_id)))
    for message in operation.output or ():
        after, calls = _folded(state, message)
        offered.append(after)
        offered += calls
        offered += _ids(message, "tool_call")
        offered += _only(state, message, "text")
        if not calls:
            offered += _only(state, message, "tool_call")
    return Keys(offered, needed)


def _only(state: Key, message: Message, kind: str) -> list[Key]:
    """Fold the text alone, or the tool calls alone, of a message that has calls.

    Several tracers leave the calls out of the history, or out of the answer. Others have the
    thoughts in the history, as text, and not in the answer; then calls without ids tell which
    answer it is.
    """
    parts = parts_of(message)
    said = [{**part, "id": None} for part in parts if part.get("type") == kind]
    if not said or all(part.get("type") != "tool_call" for part in parts):
        return []
    return [_folded(state, {"role": role_of(message), "parts": said})[0]]


def _ids(message: Message, kind: str) -> list[Key]:
    """Return keys by the call ids alone: results do not name tools, and the responses API keeps
    the calls they are of."""
    parts = enumerate(parts_of(message))
    ids = [call_id_of(part, place) for place, part in parts if part.get("type") == kind]
    return [hash(("id", call_id)) for call_id in ids if call_id is not None]


def _folded(state: Key, message: Message) -> tuple[Key, list[Key]]:
    """Fold a message into the hash of a history, and return the keys of the tool calls in it.

    Role, text and tool calls count; the rest varies between what one call gives and what the next
    one repeats.
    """
    said: str | None = None
    calls: list[str] = []
    keys: list[Key] = []
    for place, part in enumerate(parts_of(message)):
        kind = part.get("type")
        if kind == "text":
            content = part.get("content")
            if isinstance(content, str):
                said = content if said is None else f"{said}\n{content}"
        elif kind in ("tool_call", "tool_call_response"):
            name, arguments = part.get("name"), part.get("arguments")
            call_id = call_id_of(part, place)
            if kind == "tool_call" and call_id is not None:
                keys.append(hash(("call", call_id, name)))
            if arguments is not None and not isinstance(arguments, str):
                arguments = canonical(arguments)
            calls += (str(call_id), str(name), arguments or "null")
    return hash((state, role_of(message), said, *calls)), keys
