"""The labels of a run in its metadata: user, case and tags."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agentool_otel.reading.rebuild.tree import Node
from agentool_otel.semconv import agentool, core

__all__ = ["attributes_of", "labels_of"]

_NAMES = {"user_id": core.USER_ID, "case_id": agentool.CASE_ID}
"""Members of a trace's metadata that are texts, and the attributes that carry them."""


def labels_of(root: Node | None, nodes: Iterable[Node]) -> dict[str, Any]:
    """Return the labels of a run, as members of its metadata.

    The user is that of the run's own span, else of any span inside; the case that of its own span,
    or of any where it has none; tags are those of its own span alone.
    """
    attributes = {} if root is None else root.span.attributes
    labels: dict[str, Any] = {}
    for member, attribute in _NAMES.items():
        value = attributes.get(attribute)
        if not isinstance(value, str) and (root is None or member == "user_id"):
            value = _first(nodes, attribute)
        if isinstance(value, str):
            labels[member] = value
    tags = attributes.get(agentool.TAGS)
    if isinstance(tags, (list, tuple)) and tags:
        labels["tags"] = list(tags)
    return labels


def _first(nodes: Iterable[Node], attribute: str) -> str | None:
    for node in nodes:
        if isinstance(value := node.span.attributes.get(attribute), str):
            return value
    return None


def attributes_of(metadata: Any) -> dict[str, Any]:
    """Return the attributes for the labels in a trace's metadata: texts that are not empty, and
    lists of such texts."""
    if not isinstance(metadata, Mapping):
        return {}
    attributes: dict[str, Any] = {
        attribute: value
        for member, attribute in _NAMES.items()
        if _is_name(value := metadata.get(member))
    }
    tags = metadata.get("tags")
    if isinstance(tags, list) and tags and all(map(_is_name, tags)):
        attributes[agentool.TAGS] = tags
    return attributes


def _is_name(value: Any) -> bool:
    """Return whether a value is a text of valid Unicode, as an attribute needs it."""
    if not isinstance(value, str) or not value:
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
