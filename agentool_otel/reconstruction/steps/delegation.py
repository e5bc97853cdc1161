"""A task that an agent gives to another one through a tool, whose answer it waits for.

That is a tool call as well as a handoff, if the tool says to whom: by its name (`delegate_to_x`) or
by an argument. The run of the other agent lies below the tool's span, and where it says nothing of
what it was asked and what it answered, the tool does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from msgspec import UNSET

from agentool_otel.model.operations import ToolExecution
from agentool_otel.reconstruction.tree import Node

__all__ = ["answer_in", "below", "delegate", "may_delegate", "task_in", "tool_around"]

_BY_NAME = "delegate_to_"
_DELEGATIONS = ("delegate_", "Delegate ")
_SUBAGENT_TOOLS = frozenset({"Agent", "Task", "task"})
"""Of Claude Code and its SDK, where it was called `Task` before, and of deepagents."""
_SUBAGENT = ("subagent_type",)
_AGENTS = (*_SUBAGENT, "coworker", "to_agent", "agent_name", "agent")
"""Arguments that name the agent a task is for; `coworker` is CrewAI's."""
_TASKS = ("prompt", "task", "request", "input", "message", "query", "question", "description")
"""Arguments that hold the task; Claude's have a title beside the prompt as their description."""


@lru_cache(maxsize=1024)
def may_delegate(name: str) -> bool:
    """True for the name of a tool that may give a task to another agent."""
    return name in _SUBAGENT_TOOLS or name.startswith(_DELEGATIONS)


def delegate(name: str, arguments: Any) -> str | None:
    """Return the agent that such a tool gives a task to; None if neither arguments nor name say."""
    if isinstance(arguments, Mapping):
        for key in _SUBAGENT if name in _SUBAGENT_TOOLS else _AGENTS:
            if isinstance(said := arguments.get(key), str) and said:
                return said
    return (name.removeprefix(_BY_NAME) or None) if name.startswith(_BY_NAME) else None


def task_in(arguments: Any) -> Any:
    """Return the task that a tool was given in words; UNSET if it was given none."""
    if isinstance(arguments, str):
        return arguments or UNSET
    if not isinstance(arguments, Mapping):
        return UNSET
    return next((arguments[key] for key in _TASKS if isinstance(arguments.get(key), str)), UNSET)


def answer_in(result: Any) -> Any:
    """Return what came back: the text of content blocks, or the result as it is; UNSET for none."""
    said = result.get("content", result) if isinstance(result, Mapping) else result
    if isinstance(said, list) and said and all(map(_is_text, said)):
        return "\n".join(block["text"] for block in said)
    return UNSET if said is None else said


def _is_text(block: Any) -> bool:
    return isinstance(block, Mapping) and isinstance(block.get("text"), str)


def tool_around(run: Node) -> tuple[Node, ToolExecution] | None:
    """Return the tool's span that a run lies in, if it is the only run that the tool began."""
    for up in run.ancestors():
        if up.is_run:
            return None
        if isinstance(up.operation, ToolExecution) and up.operation.name:
            begun = (it for it in below(up) if it.is_run and run not in it.ancestors())
            return (up, up.operation) if all(it is run for it in begun) else None
    return None


def below(node: Node) -> Iterator[Node]:
    """Yield every node below one."""
    waiting = list(node.children)
    while waiting:
        inside = waiting.pop()
        yield inside
        waiting += inside.children
