"""Names and owners of LangChain's runs.

Source: langchain-core runnables/config.py, langgraph pregel/main.py at 1.0 and 1.2.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from opentelemetry.context import Context

from agentool_otel.integrations.langchain.instrumentor.runs import LiveRun, Plumbing
from agentool_otel.providers.fields import get, is_a, plain_text, string
from agentool_otel.tracing.spans.identity import identify, names_of

__all__ = ["for_whom", "internal", "name_of", "names_in"]

_INTERNAL = frozenset({"__start__", "__end__", "model", "tools"})
"""Nodes of a prebuilt agent; going from one to another hands nothing over."""

_CONVERSATION = ("thread_id", "session_id", "conversation_id")
_NAMING = (str, int, UUID)


def names_in(metadata: dict[str, Any]) -> dict[str, str]:
    """Return the conversation and the user that a run's config names, as attributes.

    LangGraph puts the `thread_id` of `configurable` into the metadata, too; earlier versions put
    all of it there.
    """
    conversations = (_naming(get(metadata, key)) for key in _CONVERSATION)
    conversation = next((item for item in conversations if item is not None), None)
    return names_of(conversation, _naming(get(metadata, "user_id")))


def _naming(value: Any) -> Any:
    """Return a usable name, None for any other value."""
    kinds = any(is_a(value, kind) for kind in _NAMING)
    return value if kinds and plain_text(value) != "" else None


def for_whom(names: dict[str, str], above: LiveRun | Plumbing | None, parent: Context) -> Context:
    """Return the context of a run's parent with the conversation and the user the run names.

    LangChain hands metadata down: what the run above has named as well is not said anew, and gives
    way to whoever has named others in between. On Python 3.10 it is not handed down through async
    code; the context is.
    """
    outer = above.run if isinstance(above, Plumbing) else above
    names_above = {} if outer is None else outer.names
    return identify(
        parent, {key: name for key, name in names.items() if names_above.get(key) != name}
    )


def name_of(
    graph: Any, above: LiveRun | Plumbing | None, metadata: dict[str, Any], run_name: str | None
) -> str | None:
    """Return the name of a graph; one that has none is called by its node, or by its run."""
    graph_name = string(graph, "name")
    if graph_name and graph_name != "LangGraph":
        return graph_name
    if isinstance(above, Plumbing) and above.node is not None:
        return above.node
    if above is None and (agent_name := string(metadata, "lc_agent_name")):
        return agent_name
    return run_name or graph_name


def internal(node: str | None) -> bool:
    """True for a node that a prebuilt agent has made, middleware's among them."""
    return node is None or node in _INTERNAL or ".before_" in node or ".after_" in node
