"""Which framework a run was made in, as far as its spans say.

Agent Spec's runtimes are named on the span of the run. Of other spans the scope tells: the
instrumentation of a framework is called after it, by us, by OpenTelemetry and by OpenInference,
and a framework's own spans after itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from agentool_otel.model.operations import AgentInvocation, ToolExecution, WorkflowInvocation
from agentool_otel.reconstruction.tree import Node

__all__ = ["framework_of"]

RUNTIME = "agentspec.runtime"
_INSTRUMENTATION = re.compile(
    r"(?:agentool_otel|openinference|opentelemetry)[._]instrumentation[._](?:genai[._])?([^.]+)"
)
_NAMES = {"autogen-core": "autogen"}
"""Scopes that are called after a part of their framework."""
_NO_FRAMEWORK = frozenset({"agentool_otel", "agent_spec", ""})
"""Our decorators, and Agent Spec itself where its runtime is not known."""
_KINDS = (AgentInvocation, WorkflowInvocation, ToolExecution)
"""What frameworks record, most telling first; model calls may be those of a client."""


def framework_of(nodes: Iterable[Node]) -> str | None:
    """Return the framework of a run, None where its spans do not say.

    Args:
        nodes: its spans, with the run's own first.
    """
    held = list(nodes)
    for node in held:
        runtime = node.span.attributes.get(RUNTIME)
        if isinstance(runtime, str) and runtime:
            return runtime
    for kind in _KINDS:
        for node in held:
            if isinstance(node.operation, kind) and (name := _named(node.span.scope)) is not None:
                return name
    return None


def _named(scope: str) -> str | None:
    found = _INSTRUMENTATION.match(scope)
    name = found[1] if found else scope.split(".", maxsplit=1)[0].split(" ", maxsplit=1)[0]
    return None if name in _NO_FRAMEWORK else _NAMES.get(name, name).replace("_", "-")
