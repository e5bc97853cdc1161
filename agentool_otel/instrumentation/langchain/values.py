"""What LangGraph and LangChain hand to callbacks, in the terms of the conventions.

Source: langgraph types.py (`Command`), langchain-core documents/base.py at 1.0 and 1.2.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.content.policy import jsonable
from agentool_otel.instrumentation.langchain.interrupts import imported
from agentool_otel.model.operations import UNSET
from agentool_otel.providers.documents import identified
from agentool_otel.providers.fields import get, items, record, string
from agentool_otel.providers.langchain import from_message

__all__ = ["arguments", "commands", "document", "plain", "reply", "targets"]


def commands(value: Any) -> list[Any]:
    command = imported("langgraph.types", "Command")
    if command is None:
        return []
    return [each for each in (value, *items(value)) if isinstance(each, command)]


def targets(value: Any, parent: bool = False) -> list[str]:
    """Return the nodes that the commands in a result go to.

    Args:
        value: what a node or a tool gave.
        parent: whether commands to the graph around this one count.
    """
    found: dict[str, None] = {}
    for command in commands(value):
        if command.graph is not None and not parent:
            continue
        goto: Any = command.goto
        for target in items(goto) or [goto]:
            name = target if isinstance(target, str) else string(target, "node")
            if name and name != "__end__":
                found[name] = None
    return list(found)


def reply(output: Any, call_id: str | None) -> Any:
    """Return what a tool gave: its message where a command carries one, UNSET for no reply."""
    found = commands(output)
    if not found:
        return output
    for command in found:
        for each in items(get(command.update, "messages")):
            answered = string(each, "tool_call_id")
            if answered is not None and call_id in (None, answered):
                return each
    return UNSET


def arguments(inputs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments a model gave, without what LangGraph has put in beside them."""
    kinds = tuple(
        kind
        for module, name in (
            ("langgraph.prebuilt.tool_node", "ToolRuntime"),
            ("langgraph.store.base", "BaseStore"),
        )
        if isinstance(kind := imported(module, name), type)
    )
    return {name: value for name, value in inputs.items() if not isinstance(value, kinds)}


def plain(value: Any) -> Any:
    """Return a graph's state in JSON terms, messages as the conventions have them."""
    fields = record(value)
    if fields is not None:
        return {str(key): plain(each) for key, each in fields.items()}
    if isinstance(value, (list, tuple)):
        return [plain(each) for each in items(value)]
    base = imported("langchain_core.messages", "BaseMessage")
    if isinstance(base, type) and isinstance(value, base):
        return from_message(value)
    return jsonable(value)


def document(retrieved: Any) -> dict[str, Any]:
    """Return a `Document` as the conventions have it."""
    made: dict[str, Any] = {"content": string(retrieved, "page_content")}
    if identity := string(retrieved, "id"):
        made["id"] = identity
    if metadata := get(retrieved, "metadata"):
        made["metadata"] = jsonable(metadata)
    return identified(made)
