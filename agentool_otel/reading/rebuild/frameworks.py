"""Identify the framework of a run by its spans.

Agent Spec's runtimes are named on the span of the run. For other spans the scope decides: the
instrumentation of a framework is called after it, by us, by OpenTelemetry and by OpenInference,
and a framework's own spans after itself.

A program that uses no framework, with decorators of ours or without, goes by the client of its
model calls; where no client was recorded, by this package. A replayed document has no framework.
"""

from __future__ import annotations

from collections.abc import Iterable

from agentool_otel.dialects import linking_dialects
from agentool_otel.ground import lazy_re as re
from agentool_otel.model.operations import (
    AgentInvocation,
    Embeddings,
    Inference,
    Retrieval,
    ToolExecution,
    WorkflowInvocation,
)
from agentool_otel.reading.rebuild.tree import Node
from agentool_otel.semconv import agentool

__all__ = ["framework_of", "is_coding_agent"]

RUNTIME = "agentspec.runtime"
_INSTRUMENTATION = re.compile(
    r"(?:agentool_otel|openinference|opentelemetry)[._]instrumentation[._](?:genai[._])?([^.]+)"
)
_NAMES = {"autogen-core": "autogen", "openai_v2": "openai"}
"""Scopes that are called after a part, or a version, of their framework."""
_OURS = "agentool_otel"
"""The scope of our decorators."""
_NO_FRAMEWORK = frozenset({_OURS, "agent_spec", ""})
"""Our decorators, and Agent Spec itself where its runtime is not known."""
_RUNS = (AgentInvocation, WorkflowInvocation)
_KINDS = (*_RUNS, ToolExecution)
"""Operations that frameworks record, the most specific first; model calls may be a client's."""
_CALLS = (Inference, Embeddings, Retrieval)
"""Operations that clients record."""


def framework_of(nodes: Iterable[Node]) -> str | None:
    """Return the framework of a run; None if its spans do not show it.

    Args:
        nodes: its spans, with the run's own first.
    """
    node_list = list(nodes)
    for node in node_list:
        runtime = node.span.attributes.get(RUNTIME)
        if isinstance(runtime, str) and runtime:
            return runtime
    return _first_named(node_list, _KINDS) or _without_framework(node_list)


def _without_framework(nodes: list[Node]) -> str | None:
    """Return the label of a program without a framework; None for any other run."""
    runs = [node.span for node in nodes if isinstance(node.operation, _RUNS)]
    if any(run.scope != _OURS or agentool.SCHEMA_VERSION in run.attributes for run in runs):
        return None
    ours = any(node.span.scope == _OURS for node in nodes)
    return _first_named(nodes, _CALLS) or ("agentool-otel" if ours else None)


def _first_named(nodes: list[Node], kinds: tuple[type, ...]) -> str | None:
    for kind in kinds:
        for node in nodes:
            if isinstance(node.operation, kind) and (name := _name_of(node)) is not None:
                return name
    return None


def is_coding_agent(framework: str | None) -> bool:
    """Return whether a framework is a coding agent, which records its sessions by itself."""
    dialect = linking_dialects().get((framework or "").replace("-", "_"))
    return bool(getattr(dialect, "makes_spans", False))


def _name_of(node: Node) -> str | None:
    dialect = linking_dialects().get(node.dialect or "")
    if getattr(dialect, "makes_spans", False):  # a coding agent, whose scopes have other names
        return str(node.dialect).replace("_", "-")
    return _named(node.span.scope)


def _named(scope: str) -> str | None:
    match = _INSTRUMENTATION.match(scope)
    name = match[1] if match else scope.split(".", maxsplit=1)[0].split(" ", maxsplit=1)[0]
    return None if name in _NO_FRAMEWORK else _NAMES.get(name, name).replace("_", "-")
