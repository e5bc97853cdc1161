"""A ToolRegistry as ToolSpecs, for formats that are lists of tools, and back.

Each tool of a registry keeps in its `metadata` which registry it is from and how it is reached.
Where all tools of a list are from one registry, they are that registry again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agentool_otel.converters.kit.fields import Object, below
from agentool_otel.converters.kit.objects import at, put, without
from agentool_otel.errors import DecodeError
from agentool_otel.ground.json_difference import same
from agentool_otel.model.documents import Document, ToolRegistry, ToolSpec

__all__ = ["joined", "specs_of"]

_PATH = ("metadata", "agentool_registry")
_EMPTY = (None, {})


def specs_of(documents: Sequence[Document], name: str) -> list[Object]:
    """Return the ToolSpecs that documents are, or the one registry among them holds.

    Args:
        documents: ToolSpecs, or one ToolRegistry.
        name: the format that takes them, for the error message.

    Raises:
        DecodeError: if they are something else.
    """
    if len(documents) == 1 and isinstance(documents[0], ToolRegistry):
        registry = documents[0].to_dict()
        tools: list[Object] = registry.pop("tools")
        return [_marked(tool, registry) for tool in tools]
    for n, document in enumerate(documents):
        if not isinstance(document, ToolSpec):
            expected = f"ToolSpecs, or one ToolRegistry, for {name}"
            raise DecodeError(expected, type(document).__name__, f"$[{n}]")
    return [it.to_dict() for it in documents]


def joined(specs: Sequence[Object], path: str) -> list[Document]:
    """Return the documents that such ToolSpecs are.

    Raises:
        DecodeError: if one of them is none, naming its place below `path`.
    """
    marks = [at(spec, _PATH) for spec in specs]
    if marks and all(isinstance(it, dict) and isinstance(it.get("tool"), dict) for it in marks):
        around = [{key: it for key, it in mark.items() if key not in _OF_A_TOOL} for mark in marks]
        if "registry_id" in around[0] and all(same(it, around[0]) for it in around):
            tools = [_unmarked(*pair) for pair in zip(specs, marks, strict=True)]
            return [ToolRegistry.from_dict({**around[0], "tools": tools})]
    return [_decoded(spec, f"{path}[{n}]") for n, spec in enumerate(specs)]


_OF_A_TOOL = ("tool", "metadata")


def _marked(tool: Object, registry: Object) -> Object:
    spec: Object = tool["spec"]
    mark: Object = {**registry, "tool": {key: it for key, it in tool.items() if key != "spec"}}
    if "metadata" in spec and spec["metadata"] in _EMPTY:
        mark["metadata"] = spec["metadata"]
    return put(spec, _PATH, mark)


def _unmarked(spec: Object, mark: Object) -> Object:
    bare = without(spec, _PATH)
    held: Any = {"metadata": mark["metadata"]} if "metadata" in mark else {}
    return {**mark["tool"], "spec": {**held, **bare}}


def _decoded(spec: Object, path: str) -> ToolSpec:
    try:
        return ToolSpec.from_dict(spec)
    except DecodeError as error:
        raise below(path, error) from None
