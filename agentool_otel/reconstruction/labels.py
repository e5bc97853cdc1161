"""What names a run beside its agent and its session: user, case and tags, kept in its metadata."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agentool_otel.reconstruction.tree import Node
from agentool_otel.semconv import agentool, core

__all__ = ["attributes_of", "labels_of"]

_NAMES = {"user_id": core.USER_ID, "case_id": agentool.CASE_ID}
"""Members of a trace's metadata that are texts, and the attributes that carry them."""


def labels_of(root: Node | None, nodes: Iterable[Node]) -> dict[str, Any]:
    """Return the members that the spans of a run give its metadata.

    The user is named by the run's own span or, where that does not name one, by any of its spans;
    the case by its own span or, where it has none, by any of its spans; tags by its own alone.
    """
    said = {} if root is None else root.span.attributes
    made: dict[str, Any] = {}
    for member, attribute in _NAMES.items():
        value = said.get(attribute)
        if not isinstance(value, str) and (root is None or member == "user_id"):
            value = _first(nodes, attribute)
        if isinstance(value, str):
            made[member] = value
    tags = said.get(agentool.TAGS)
    if isinstance(tags, (list, tuple)) and tags:
        made["tags"] = list(tags)
    return made


def _first(nodes: Iterable[Node], attribute: str) -> str | None:
    for node in nodes:
        if isinstance(value := node.span.attributes.get(attribute), str):
            return value
    return None


def attributes_of(metadata: Any) -> dict[str, Any]:
    """Return the attributes for what a trace's metadata says of user, case and tags: texts that are
    not empty, and lists of such."""
    if not isinstance(metadata, Mapping):
        return {}
    made: dict[str, Any] = {
        attribute: value
        for member, attribute in _NAMES.items()
        if _is_name(value := metadata.get(member))
    }
    tags = metadata.get("tags")
    if isinstance(tags, list) and tags and all(map(_is_name, tags)):
        made[agentool.TAGS] = tags
    return made


def _is_name(value: Any) -> bool:
    """Whether a value is a text that an attribute can hold: one that is valid Unicode."""
    if not isinstance(value, str) or not value:
        return False
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
