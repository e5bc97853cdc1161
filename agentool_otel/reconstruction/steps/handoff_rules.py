"""How one agent hands over to another: by a transfer tool, or by a run that follows another."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec import UNSET

from agentool_otel.model.messages import parts_of
from agentool_otel.model.operations import Inference, ToolExecution
from agentool_otel.reconstruction.steps.delegation import below, delegate, may_delegate
from agentool_otel.reconstruction.tree import Node
from agentool_otel.reconstruction.values import json_or, plain
from agentool_otel.reconstruction.wrappers import run_name

__all__ = [
    "announced",
    "same_name",
    "spelled",
    "transfer_target",
    "transfers",
    "within_transfer",
]

_TRANSFERS = ("transfer_to_", "handoff_to_", "Handoff-transfer_to_")
"""Prefixes of transfer tools; Semantic Kernel puts the plugin's name before the tool's."""
_BARE = frozenset({"transfer", "handoff"})
_BY_ARGUMENT = frozenset({"transfer_to_agent", "handoff_to_agent", *_BARE})
_APART = re.compile(r"[^0-9a-z]+")


def transfers(name: str, arguments: Any = UNSET) -> bool:
    """True for a tool that hands over to another agent. A plain `transfer` may move money: its
    arguments, if known, have to name an agent."""
    if name not in _BARE:
        return name.startswith(_TRANSFERS)
    return arguments is UNSET or transfer_target(name, arguments) is not None


def transfer_target(name: str, arguments: Any = UNSET) -> str | None:
    """Return the agent that a tool hands over to. The one transfer tool of ADK, Strands and
    LlamaIndex has it as an argument, others have it in their name."""
    if name in _BY_ARGUMENT:
        members = plain(arguments)
        members = members if isinstance(members, Mapping) else {}
        agent = members.get("agent_name", members.get("to_agent"))
        return agent if isinstance(agent, str) else None
    for prefix in _TRANSFERS:
        if name.startswith(prefix):
            return name.removeprefix(prefix) or None
    return None


def within_transfer(node: Node) -> bool:
    """True for a transfer inside another one: LangGraph's transfer tools return a
    `Command(goto=…)`, which has a span of its own."""
    for up in node.ancestors():
        operation = up.operation
        if isinstance(operation, ToolExecution):
            return operation.transfer_target is not None or transfers(
                operation.name, operation.arguments
            )
        if up.is_run:
            break
    return False


def same_name(one: str | None, other: str | None) -> bool:
    """Compare names of agents or tools as models spell them: `transfer_to_refund_agent` means
    `Refund Agent`."""
    if one is None or other is None:
        return False
    return one == other or _plain(one) == _plain(other)


def spelled(target: str | None, node: Node | None) -> str | None:
    """Return an agent's name that was taken from a tool's name in the agent's own spelling."""
    if target is None or node is None:
        return target
    *_, top = (node, *node.ancestors())
    names = (run_name(run) for run in (top, *below(top)) if run.is_run)
    return min((name for name in names if name and same_name(name, target)), default=target)


def announced(node: Node, earlier: Node) -> bool:
    """True if an earlier run has a handoff to this one among its own tool calls."""
    name = run_name(node)
    for inside in below(earlier):
        operation = inside.operation
        if isinstance(operation, ToolExecution):
            target = operation.transfer_target or _target(operation.name, operation.arguments)
            if same_name(target, name):
                return True
        elif isinstance(operation, Inference):
            for message in operation.output or ():
                for part in parts_of(message):
                    tool = part.get("name") if part.get("type") == "tool_call" else None
                    if isinstance(tool, str) and same_name(
                        _target(tool, part.get("arguments")), name
                    ):
                        return True
    return False


def _target(name: str, arguments: Any) -> str | None:
    if may_delegate(name):
        return delegate(name, json_or(arguments, None))
    return transfer_target(name, json_or(arguments, None))


def _plain(name: str) -> str:
    return _APART.sub("_", name.casefold()).strip("_")
