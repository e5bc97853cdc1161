"""Delegation: an agent gives a task to another one through a tool, and waits for the answer.

It is a tool call as well as a handoff, if the other agent is named: by the tool's name
(`delegate_to_x`) or by an argument. The run of the other agent lies below the tool's span. If that
run has no input or output, those of the tool stand in for them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from msgspec import UNSET

from agentool_otel.dialects.kit.dialect import agent_tools
from agentool_otel.model.operations import ToolExecution
from agentool_otel.reading.rebuild.tree import Node

__all__ = ["answer_in", "below", "delegate", "may_delegate", "task_in", "tool_around"]

_BY_NAME = "delegate_to_"
_DELEGATIONS = ("delegate_",)
_AGENTS = ("to_agent", "agent_name", "agent")
"""Arguments that name the agent a task is for, besides those that dialects declare."""
_TASKS = ("prompt", "task", "request", "input", "message", "query", "question", "description")
"""Arguments that hold the task; Claude's have a title beside the prompt as their description."""


def may_delegate(name: str) -> bool:
    """True for the name of a tool that may give a task to another agent."""
    declared = agent_tools().delegations
    return name in declared or name.startswith(_prefixes(declared))


@cache
def _prefixes(declared: tuple[str, ...]) -> tuple[str, ...]:
    return (*_DELEGATIONS, *(name for name in declared if name.endswith(("_", " "))))


def delegate(name: str, arguments: Any) -> str | None:
    """Return the agent that such a tool delegates to; None if it is not named."""
    tools = agent_tools()
    if isinstance(arguments, Mapping):
        only_declared = name in tools.delegations
        for key in tools.agent_arguments if only_declared else (*tools.agent_arguments, *_AGENTS):
            if isinstance(agent := arguments.get(key), str) and agent:
                return agent
    return (name.removeprefix(_BY_NAME) or None) if name.startswith(_BY_NAME) else None


def task_in(arguments: Any) -> Any:
    """Return the task in the arguments of a tool, as text; UNSET if there is none."""
    if isinstance(arguments, str):
        return arguments or UNSET
    if not isinstance(arguments, Mapping):
        return UNSET
    return next((arguments[key] for key in _TASKS if isinstance(arguments.get(key), str)), UNSET)


def answer_in(result: Any) -> Any:
    """Return the answer in a result: the text of its blocks, else all of it; UNSET for none."""
    content = result.get("content", result) if isinstance(result, Mapping) else result
    if isinstance(content, list) and content and all(map(_is_text, content)):
        return "\n".join(block["text"] for block in content)
    return UNSET if content is None else content


def _is_text(block: Any) -> bool:
    return isinstance(block, Mapping) and isinstance(block.get("text"), str)


def tool_around(run: Node) -> tuple[Node, ToolExecution] | None:
    """Return the span of the tool around a run, if it is the only run that the tool started."""
    up = run.nearest(_is_run_or_named_tool)
    if up is None or up.is_run or not isinstance(up.operation, ToolExecution):
        return None
    count = run.lineage.count
    is_only_one = count(_runs, True, below=up) == count(_runs, True, below=run) + 1
    return (up, up.operation) if is_only_one else None


def _is_run_or_named_tool(node: Node) -> bool:
    return node.is_run or (isinstance(node.operation, ToolExecution) and bool(node.operation.name))


def _runs(node: Node) -> tuple[bool, ...]:
    return (True,) if node.is_run else ()


def below(node: Node) -> Iterator[Node]:
    """Yield every node below one."""
    waiting = list(node.children)
    while waiting:
        inside = waiting.pop()
        yield inside
        waiting += inside.children
