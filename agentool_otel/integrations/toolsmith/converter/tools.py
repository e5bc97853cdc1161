"""ToolSmith's `tools.json` and a ToolRegistry.

    name             registry_id                inputSchema    parameters
    version          version                    outputSchema   returns
    sideEffects      metadata.side_effects, where the free text leaves no doubt

All else that only ToolSmith knows (`safety`, `requiresConfirmation`, `examples`) is kept: of a tool
in its spec's `metadata`, of the file as member `toolsmith` of the registry.
"""

from __future__ import annotations

from collections.abc import Sequence

from agentool_otel.converters.kit.fields import Object, describe, each, error_below, member, unique
from agentool_otel.converters.kit.objects import Translation
from agentool_otel.converters.kit.registries import (
    decode_document,
    is_marked,
    mark_registered,
    without_mark,
)
from agentool_otel.errors import DecodeError
from agentool_otel.ground import lazy_re as re
from agentool_otel.model.documents import Document, ToolRegistry, ToolSpec

__all__ = ["read_tools", "write_tools"]

_ROOM = ("metadata", "agentool")
_SYNTHESIZED: Object = {
    "name": "tools",
    "version": "1.0.0",
    "metadata": {"agentool": {"synthesized": ["name", "version"]}},
}
"""Header of a file of tools that come from no registry."""
_HARMLESS = ("mock-only", "none", "no", "read-only")
_DENIED = re.compile(r"\b(?:no|non|not|none|never|nothing|without|cannot|mock\w*)\b|n't")
"""Words that may turn a sentence about side effects into its opposite."""


def read_tools(file: Object) -> list[Document]:
    """Return the registry a file is, or the ToolSpecs it was written from.

    Raises:
        DecodeError: if something required is missing, or something is malformed or there twice.
    """
    header = {name: value for name, value in file.items() if name != "tools"}
    registry = _FILE.to_agentool(header)
    tools = member(file, "tools", list, filled=True)
    specs = each(tools, "$.tools", _TOOL.to_agentool)
    unique(tools, "name", "$.tools")
    if header == _SYNTHESIZED:
        return [decode_document(ToolSpec, spec, f"$.tools[{n}]") for n, spec in enumerate(specs)]
    entries = [without_mark(spec) if is_marked(spec) else {"spec": spec} for spec in specs]
    return [decode_document(ToolRegistry, {**registry, "tools": entries}, "$")]


def write_tools(documents: Sequence[Document]) -> Object:
    """Return the file for a registry or for ToolSpecs.

    Raises:
        DecodeError: if they are no tools that ToolSmith could have: without a name, or two of one.
    """
    if len(documents) == 1 and isinstance(documents[0], ToolRegistry):
        registry = documents[0].to_dict()
        tools: list[Object] = registry.pop("tools")
        try:
            header = _FILE.from_agentool(registry)
        except DecodeError as error:
            raise error_below("$[0]", error) from None
        specs = [_spec_of(tool) for tool in tools]
        path = "$[0].tools"
    else:
        header, path = _SYNTHESIZED, "$"
        specs = each([document.to_dict() for document in documents], path, dict)
    if not specs:
        raise DecodeError("at least one tool, as ToolSmith needs", "none", path)
    unique(specs, "name", path)
    return {**header, "tools": each(specs, path, _TOOL.from_agentool)}


def _spec_of(tool: Object) -> Object:
    return mark_registered(tool) if tool.keys() != {"spec"} else tool["spec"]


# --- the file


def _check(file: Object) -> None:
    member(file, "name", str, filled=True)
    member(file, "version", str, filled=True)
    member(file, "description", str, None)
    safety = member(file, "safety", dict, {})
    try:
        member(safety, "network", bool, None)
        member(safety, "realSideEffects", bool, None)
    except DecodeError as error:
        raise error_below("$.safety", error) from None


def _read_file(file: Object) -> Object:
    _check(file)
    return {"registry_id": file["name"], "version": file["version"]}


def _write_file(registry: Object) -> Object:
    version = member(registry, "version", str, None) or _SYNTHESIZED["version"]
    return {"name": member(registry, "registry_id", str, filled=True), "version": version}


# --- a tool


def _check_tool(tool: Object) -> None:
    member(tool, "name", str, filled=True)
    for name, kind in _OPTIONAL.items():
        member(tool, name, kind, None)
    for n, example in enumerate(member(tool, "examples", list, [])):
        if not isinstance(example, str):
            raise DecodeError("string", describe(example), f"$.examples[{n}]")


_OPTIONAL: dict[str, type] = {
    "description": str,
    "sideEffects": str,
    "requiresConfirmation": bool,
    "inputSchema": dict,
    "outputSchema": dict,
}


def _read_tool(tool: Object) -> Object:
    _check_tool(tool)
    spec: Object = {
        "name": tool["name"],
        "description": member(tool, "description", str, ""),
        "parameters": member(tool, "inputSchema", dict, {}),
    }
    returns = member(tool, "outputSchema", dict, None)
    if returns is not None:
        spec["returns"] = returns
    side_effects = _has_side_effects(member(tool, "sideEffects", str, ""))
    if side_effects is not None:
        spec["metadata"] = {"side_effects": side_effects}
    return spec


def _has_side_effects(text: str) -> bool | None:
    """Return whether the free text describes side effects; None if it is ambiguous."""
    words = text.strip().lower()
    if words in _HARMLESS:
        return False
    return True if "external side effect" in words and not _DENIED.search(words) else None


def _write_tool(spec: Object) -> Object:
    tool: Object = {"name": member(spec, "name", str, filled=True)}
    if spec["description"]:
        tool["description"] = spec["description"]
    if spec["parameters"]:
        tool["inputSchema"] = spec["parameters"]
    if isinstance(spec.get("returns"), dict):
        tool["outputSchema"] = spec["returns"]
    return tool


_FILE = Translation(_read_file, _write_file, ("toolsmith",), _ROOM)
_TOOL = Translation(_read_tool, _write_tool, ("metadata", "toolsmith"), _ROOM)
