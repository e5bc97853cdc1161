"""A ToolRegistry as ToolSpecs, for formats that are lists of tools, and back.

Each tool of a registry keeps in its `metadata` which registry it is from and how it is reached.
Where all tools of a list are from one registry, they are that registry again.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from agentool_otel.converters.kit.fields import Object, error_below
from agentool_otel.converters.kit.objects import put, value_at, without_each, without_path
from agentool_otel.errors import DecodeError
from agentool_otel.ground.json_difference import same
from agentool_otel.model.documents import Document, ToolRegistry, ToolSpec

__all__ = [
    "decode_document",
    "is_marked",
    "join_specs",
    "mark_registered",
    "specs_of",
    "without_mark",
]

D = TypeVar("D", bound=Document)

_PATH = ("metadata", "agentool_registry")
_EMPTY: tuple[object, ...] = (None, {})


def specs_of(documents: Sequence[Document], name: str) -> list[Object]:
    """Return the ToolSpecs among documents, or those of the only registry.

    Args:
        documents: ToolSpecs, or one ToolRegistry.
        name: the format that takes them, for the error message.

    Raises:
        DecodeError: if they are something else.
    """
    if len(documents) == 1 and isinstance(documents[0], ToolRegistry):
        registry = documents[0].to_dict()
        tools: list[Object] = registry.pop("tools")
        return [mark_registered(tool, registry) for tool in tools]
    for n, document in enumerate(documents):
        if not isinstance(document, ToolSpec):
            expected = f"ToolSpecs, or one ToolRegistry, for {name}"
            raise DecodeError(expected, type(document).__name__, f"$[{n}]")
    return [document.to_dict() for document in documents]


def join_specs(specs: Sequence[Object], path: str) -> list[Document]:
    """Return the documents that such ToolSpecs are.

    Raises:
        DecodeError: if one of them is none, naming its place below `path`.
    """
    if specs and all(map(is_marked, specs)):
        registries = [value_at(spec, (*_PATH, "registry")) for spec in specs]
        if isinstance(registries[0], dict) and all(
            same(item, registries[0]) for item in registries
        ):
            registry = {**registries[0], "tools": [*map(without_mark, specs)]}
            return [decode_document(ToolRegistry, registry, path)]
    return [decode_document(ToolSpec, spec, f"{path}[{n}]") for n, spec in enumerate(specs)]


def mark_registered(tool: Object, registry: Object | None = None) -> Object:
    """Return the spec of a registered tool, with the registry's data about it and about itself."""
    spec: Object = tool["spec"]
    mark: Object = {"tool": without_each(tool, ("spec",))}
    if registry is not None:
        mark["registry"] = registry
    if "metadata" in spec and spec["metadata"] in _EMPTY:
        mark["metadata"] = spec["metadata"]
    return put(spec, _PATH, mark)


def is_marked(spec: Object) -> bool:
    """Return whether a spec has data about its registration."""
    return isinstance(value_at(spec, (*_PATH, "tool")), dict)


def without_mark(spec: Object) -> Object:
    """Return the registered tool that a marked spec is."""
    mark: Object = value_at(spec, _PATH)
    metadata: Object = {"metadata": mark["metadata"]} if "metadata" in mark else {}
    return {**mark["tool"], "spec": {**metadata, **without_path(spec, _PATH)}}


def decode_document(cls: type[D], value: Object, path: str) -> D:
    """Return a document.

    Raises:
        DecodeError: if it is none, with its path below `path`.
    """
    try:
        return cls.from_dict(value)
    except DecodeError as error:
        raise error_below(path, error) from None
