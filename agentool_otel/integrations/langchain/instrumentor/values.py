"""Convert the values of LangGraph's and LangChain's callbacks to the conventions.

Source: langgraph types.py (`Command`), langchain-core documents/base.py at 1.0 and 1.2.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.content.policy import jsonable
from agentool_otel.integrations.langchain.instrumentor.interrupts import imported_name
from agentool_otel.model.operations import UNSET
from agentool_otel.providers.documents import with_id
from agentool_otel.providers.fields import (
    as_list,
    get,
    is_a,
    is_plain,
    items,
    plain_text,
    string,
)
from agentool_otel.providers.langchain import from_message

__all__ = ["arguments", "commands", "document", "plain", "reply", "targets"]


def commands(value: Any) -> list[Any]:
    command = imported_name("langgraph.types", "Command")
    if command is None:
        return []
    return [each for each in (value, *items(value)) if is_a(each, command)]


def targets(value: Any, parent: bool = False) -> list[str]:
    """Return the nodes that the commands in a result go to.

    Args:
        value: what a node or a tool gave.
        parent: whether commands to the graph around this one count.
    """
    names: dict[str, None] = {}
    for command in commands(value):
        if get(command, "graph") is not None and not parent:
            continue
        goto = get(command, "goto")
        for target in items(goto) or [goto]:
            name = plain_text(target) or string(target, "node")
            if name and name != "__end__":
                names[name] = None
    return list(names)


def reply(output: Any, call_id: str | None) -> Any:
    """Return the result of a tool: the message in a command, UNSET for no reply."""
    found_commands = commands(output)
    if not found_commands:
        return output
    for command in found_commands:
        for each in items(get(get(command, "update"), "messages")):
            answered = string(each, "tool_call_id")
            if answered is not None and call_id in (None, answered):
                return each
    return UNSET


def arguments(inputs: Any) -> Any:
    """Return the arguments from the model, without LangGraph's additions."""
    kinds = tuple(
        kind
        for module, name in (
            ("langgraph.prebuilt.tool_node", "ToolRuntime"),
            ("langgraph.store.base", "BaseStore"),
        )
        if is_a(kind := imported_name(module, name), type)
    )
    if not is_plain(inputs):
        return inputs
    return {
        name: value
        for name, value in inputs.items()
        if not any(is_a(value, kind) for kind in kinds)
    }


_MOST_CONTAINERS = 1000
"""In a graph's state, of those whose messages are looked for."""
_DEEPEST = 16


def plain(value: Any) -> Any:
    """Return a graph's state in JSON terms, messages as the conventions have them."""
    return jsonable(_with_messages(value, [_MOST_CONTAINERS], 0))


class _Nothing:
    """A class without instances."""


def _with_messages(value: Any, left: list[int], depth: int) -> Any:
    """Return a value with its messages as the conventions have them, the rest as it is.

    Args:
        value: a state, or a part of one.
        left: how many containers may still be looked into, a list of one number.
        depth: how many containers there are around the value.
    """
    if is_a(value, imported_name("langchain_core.messages", "BaseMessage") or _Nothing):
        return from_message(value)
    members = as_list(value)
    if left[0] <= 0 or depth >= _DEEPEST or (members is None and not is_plain(value)):
        return value
    left[0] -= 1
    if members is not None:
        return [_with_messages(each, left, depth + 1) for each in members]
    return {key: _with_messages(each, left, depth + 1) for key, each in value.items()}


def document(retrieved: Any) -> dict[str, Any]:
    """Return a `Document` as the conventions have it."""
    members: dict[str, Any] = {"content": string(retrieved, "page_content")}
    if identity := string(retrieved, "id"):
        members["id"] = identity
    if metadata := jsonable(get(retrieved, "metadata")):
        members["metadata"] = metadata
    return with_id(members)
