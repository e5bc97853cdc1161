"""Detect handoffs between agents: a transfer tool, or a run that follows another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from msgspec import UNSET

from agentool_otel.dialects.kit.dialect import agent_tools
from agentool_otel.ground import lazy_re as re
from agentool_otel.model.messages import parts_of
from agentool_otel.model.operations import Inference, ToolExecution
from agentool_otel.reading.rebuild.steps.delegation import delegate, may_delegate
from agentool_otel.reading.rebuild.tree import Node
from agentool_otel.reading.rebuild.values import json_or, plain
from agentool_otel.reading.rebuild.wrappers import run_name

__all__ = [
    "announced",
    "plain_name",
    "same_name",
    "spelled",
    "transfer_target",
    "transfers",
    "within_transfer",
]

_APART = re.compile(r"[^0-9a-z]+")


class _Transfers(NamedTuple):
    prefixes: tuple[str, ...]
    names: frozenset[str]
    plain: frozenset[str]
    """Names without the word agent, which tools of other purposes may have too."""


def _transfer_tools() -> _Transfers:
    return _of_names(agent_tools().handoffs)


@cache
def _of_names(declared: tuple[str, ...]) -> _Transfers:
    names = frozenset(name for name in declared if not name.endswith("_"))
    prefixes = tuple(name for name in declared if name.endswith("_"))
    return _Transfers(prefixes, names, frozenset(name for name in names if "agent" not in name))


def transfers(name: str, arguments: Any = UNSET) -> bool:
    """True for a tool that hands over to another agent. A plain `transfer` may move money: its
    arguments, if known, have to name an agent."""
    tools = _transfer_tools()
    if name not in tools.plain:
        return name in tools.names or name.startswith(tools.prefixes)
    return arguments is UNSET or transfer_target(name, arguments) is not None


def transfer_target(name: str, arguments: Any = UNSET) -> str | None:
    """Return the agent that a tool hands over to: an argument of tools with one name for all
    agents, else the end of the tool's name."""
    tools = _transfer_tools()
    if name in tools.names:
        members = plain(arguments)
        members = members if isinstance(members, Mapping) else {}
        agent = members.get("agent_name", members.get("to_agent"))
        return agent if isinstance(agent, str) else None
    for prefix in tools.prefixes:
        if name.startswith(prefix):
            return name.removeprefix(prefix) or None
    return None


def within_transfer(node: Node) -> bool:
    """True for a transfer inside another one: LangGraph's transfer tools return a
    `Command(goto=…)`, which has a span of its own."""
    up = node.nearest(_is_run_or_tool)
    operation = up.operation if up is not None else None
    return isinstance(operation, ToolExecution) and (
        operation.transfer_target is not None or transfers(operation.name, operation.arguments)
    )


def _is_run_or_tool(node: Node) -> bool:
    return node.is_run or isinstance(node.operation, ToolExecution)


def same_name(one: str | None, other: str | None) -> bool:
    """Compare names of agents or tools as models spell them: `transfer_to_refund_agent` means
    `Refund Agent`."""
    if one is None or other is None:
        return False
    return one == other or plain_name(one) == plain_name(other)


def spelled(target: str | None, node: Node | None) -> str | None:
    """Return an agent's name that was taken from a tool's name in the agent's own spelling."""
    if target is None or node is None:
        return target
    names = node.lineage.cached(_spellings)
    return names.get((node.lineage.top(node).span.span_id, plain_name(target)), target)


def _spellings(nodes: Sequence[Node]) -> dict[tuple[str, str], str]:
    """Return the names of the runs of a trace, the first of those that are one, by the span at the
    top of their tree and as models spell them."""
    spellings: dict[tuple[str, str], str] = {}
    for node in nodes:
        if node.is_run and (name := run_name(node)):
            key = node.lineage.top(node).span.span_id, plain_name(name)
            spellings[key] = min(name, spellings.get(key, name))
    return spellings


def announced(node: Node, earlier: Node) -> bool:
    """True if an earlier run has a handoff to this one among its own tool calls."""
    name = run_name(node)
    if name is None:
        return False
    return node.lineage.count(_announced_by, plain_name(name), below=earlier) > 0


def _announced_by(node: Node) -> Iterator[str]:
    """Yield the agents that a span hands over to, as models spell them."""
    operation = node.operation
    if isinstance(operation, ToolExecution):
        target = operation.transfer_target or _target(operation.name, operation.arguments)
        if target is not None:
            yield plain_name(target)
    elif isinstance(operation, Inference):
        for message in operation.output or ():
            for part in parts_of(message):
                tool = part.get("name") if part.get("type") == "tool_call" else None
                target = _target(tool, part.get("arguments")) if isinstance(tool, str) else None
                if target is not None:
                    yield plain_name(target)


def _target(name: str, arguments: Any) -> str | None:
    if may_delegate(name):
        return delegate(name, json_or(arguments, None))
    return transfer_target(name, json_or(arguments, None))


def plain_name(name: str) -> str:
    """Return the name of an agent or a tool so that all spellings of it are equal."""
    return _APART.sub("_", name.casefold()).strip("_")
