"""Names, kinds and sensitive data of the tools that are called."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

from agentool_otel.integrations.agent_tool.events.withholding import field_names

__all__ = ["Tool", "Tools"]

T = TypeVar("T")
Object = Mapping[str, Any]

_MOST = 10_000
"""Tools, and as many profiles, kept in memory; the longest unused are forgotten first."""
_KEPT = (
    "name", "tool_kind", "namespace", "description", "external_mappings", "permission_profile",
    "permission_profile_ref",
)  # fmt: skip
"""Members of a declaration that are needed later: no schemas."""
_TYPES = {
    "mcp_tool": "extension",
    "openapi_operation": "extension",
    "peer_agent_tool": "extension",
    "browser_action": "extension",
    "web_search": "extension",
    "retrieval": "datastore",
}
"""`gen_ai.tool.type` of kinds that are no function. The conventions: an extension acts on the
agent's side with external APIs, a datastore is requested data.
"""


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
    mappings: tuple[Object, ...] = ()
    """The tool in native protocols."""


class _Known(NamedTuple):
    """Facts about a tool from the objects so far."""

    declaration: Object = MappingProxyType({})
    sensitive: frozenset[str] = frozenset()


class Tools:
    """Declarations, interfaces and permission profiles, by id.

    Of what is forgotten, because there are too many, nobody knows any more what is sensitive: all
    data of such a tool is withheld.
    """

    def __init__(self) -> None:
        self._tools: OrderedDict[str, _Known] = OrderedDict()
        self._profiles: OrderedDict[str, bool] = OrderedDict()
        self._tools_forgotten = self._profiles_forgotten = False

    def learn(self, kind: str, members: Object) -> None:
        """Merge the facts that an object has about a tool. A field that was sensitive once stays
        so.
        """
        if kind in ("ToolDeclaration", "ToolInterface"):
            tool_id = str(members.get("tool_id"))
            tool = self._tools.get(tool_id, _Known())
            declaration = tool.declaration
            if kind == "ToolDeclaration":
                declaration = {name: members[name] for name in _KEPT if name in members}
            sensitive = tool.sensitive.union(_sensitive(members))
            self._tools_forgotten |= _keep(self._tools, tool_id, _Known(declaration, sensitive))
        elif kind == "PermissionProfile":
            profile_id = str(members.get("permission_profile_id"))
            required = members.get("redaction_required") is True
            self._profiles_forgotten |= _keep(self._profiles, profile_id, required)

    def tool(self, tool_id: object) -> Tool:
        """Return the facts about a tool; an unknown one has its id as its name."""
        name = tool_id if isinstance(tool_id, str) and tool_id else "unknown"
        tool = self._tools.get(name)
        if tool is None:
            return Tool(name, withheld=self._tools_forgotten)
        self._tools.move_to_end(name)
        declaration = tool.declaration
        kind = _text(declaration, "tool_kind")
        raw_mappings = declaration.get("external_mappings")
        mappings = raw_mappings if isinstance(raw_mappings, (list, tuple)) else ()
        return Tool(
            name=_text(declaration, "name") or name,
            tool_type=_TYPES.get(kind or "", "function"),
            kind=kind,
            namespace=_text(declaration, "namespace"),
            description=_text(declaration, "description"),
            sensitive=tool.sensitive,
            withheld=self._withheld(declaration),
            mappings=tuple(m for m in mappings if isinstance(m, Mapping)),
        )

    def _withheld(self, declaration: Object) -> bool:
        inline = declaration.get("permission_profile")
        if isinstance(inline, Mapping) and inline.get("redaction_required") is True:
            return True
        reference = _text(declaration, "permission_profile_ref")
        if reference is None:
            return False
        return self._profiles.get(reference, self._profiles_forgotten)


def _sensitive(members: Object) -> Iterator[str]:
    contracts = ("input_contract", "output_contract", "tool_interface")
    for holder in (members, *(members.get(name) for name in contracts)):
        if isinstance(holder, Mapping):
            yield from field_names(holder.get("sensitive_fields"))


def _text(members: Object, name: str) -> str | None:
    value = members.get(name)
    return value if isinstance(value, str) else None


def _keep(entries: OrderedDict[str, T], key: str, value: T) -> bool:
    """Keep a value; return whether another had to be forgotten for it."""
    entries[key] = value
    entries.move_to_end(key)
    if len(entries) <= _MOST:
        return False
    entries.popitem(last=False)
    return True
