"""What is known of the tools that are called: names, kinds, and what is sensitive about them."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from agentool_otel.event_streams.agent_tool.withholding import field_names

__all__ = ["Tool", "Tools"]

_MOST = 10_000
"""Tools and profiles kept in memory; the oldest are forgotten then."""
_TYPES = {
    "mcp_tool": "extension",
    "openapi_operation": "extension",
    "peer_agent_tool": "extension",
    "browser_action": "extension",
    "web_search": "extension",
    "retrieval": "datastore",
}
"""`gen_ai.tool.type` of kinds that are no function. The conventions: an extension acts on the
agent's side with external APIs, a datastore is asked for data."""


class Tool(NamedTuple):
    """A tool, as its declaration has it."""

    name: str
    tool_type: str = "function"
    kind: str | None = None
    namespace: str | None = None
    description: str | None = None
    sensitive: frozenset[str] = frozenset()
    """Names of sensitive fields."""
    withheld: bool = False
    """Whether all its data has to be redacted."""
    mappings: tuple[Mapping[str, Any], ...] = ()
    """What it is in native protocols."""


class Tools:
    """Declarations, interfaces and permission profiles, by id."""

    def __init__(self) -> None:
        self._declared: OrderedDict[str, Mapping[str, Any]] = OrderedDict()
        self._profiles: OrderedDict[str, Mapping[str, Any]] = OrderedDict()

    def declare(self, declaration: Mapping[str, Any]) -> None:
        """Keep a declaration. What an earlier one called sensitive stays so."""
        tool_id = str(declaration.get("tool_id"))
        before = self._declared.pop(tool_id, {})
        kept = {"_sensitive": [*_sensitive(before), *_sensitive(declaration)]}
        _keep(self._declared, tool_id, {**declaration, **kept})

    def profile(self, profile: Mapping[str, Any]) -> None:
        """Keep a permission profile."""
        _keep(self._profiles, str(profile.get("permission_profile_id")), profile)

    def tool(self, tool_id: object) -> Tool:
        """Return what is known of a tool; of an unknown one its id is its name."""
        it = self._declared.get(str(tool_id))
        if it is None:
            return Tool(str(tool_id) if isinstance(tool_id, str) and tool_id else "unknown")
        kind = it.get("tool_kind")
        given = it.get("external_mappings")
        mappings = given if isinstance(given, (list, tuple)) else ()
        return Tool(
            name=str(it.get("name")),
            tool_type=_TYPES.get(str(kind), "function"),
            kind=kind if isinstance(kind, str) else None,
            namespace=_text(it, "namespace"),
            description=_text(it, "description"),
            sensitive=frozenset(_sensitive(it)),
            withheld=self._withheld(it),
            mappings=tuple(m for m in mappings if isinstance(m, Mapping)),
        )

    def _withheld(self, declaration: Mapping[str, Any]) -> bool:
        reference = declaration.get("permission_profile_ref")
        by_ref = self._profiles.get(str(reference)) or {}
        inline = declaration.get("permission_profile")
        profiles = [by_ref, inline if isinstance(inline, Mapping) else {}]
        return any(it.get("redaction_required") is True for it in profiles)


def _sensitive(declaration: Mapping[str, Any]) -> Iterator[str]:
    yield from declaration.get("_sensitive", ())
    for holder in (
        declaration,
        declaration.get("input_contract"),
        declaration.get("tool_interface"),
    ):
        if isinstance(holder, Mapping):
            yield from field_names(holder.get("sensitive_fields"))


def _text(members: Mapping[str, Any], name: str) -> str | None:
    value = members.get(name)
    return value if isinstance(value, str) else None


def _keep(held: OrderedDict[str, Mapping[str, Any]], key: str, members: Mapping[str, Any]) -> None:
    held[key] = members
    held.move_to_end(key)
    if len(held) > _MOST:
        held.popitem(last=False)
