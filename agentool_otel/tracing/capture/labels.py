"""Labels of a whole run, on its own span: the case that it tries, tags and metadata."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from agentool_otel.content.policy import encode, label, masked
from agentool_otel.semconv import agentool

__all__ = ["labels", "metadata_text"]


def labels(tags: Iterable[str] | None = None, case_id: Any = None) -> dict[str, Any]:
    """Return the attributes of tags and case; a text instead of a list of tags is one tag."""
    attributes: dict[str, Any] = {}
    if tags:
        attributes[agentool.TAGS] = [
            label(tag) for tag in ([tags] if isinstance(tags, str) else tags)
        ]
    if case_id is not None and (text := label(case_id)):
        attributes[agentool.CASE_ID] = text
    return attributes


def metadata_text(metadata: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the attribute of metadata, as JSON without credentials; nothing if there is none."""
    return {agentool.METADATA: masked(encode(metadata))} if metadata else {}
