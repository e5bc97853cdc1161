"""Requests that no client of a model sends: they are refused, as a server of a model does."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["fault_in", "object_in"]

_MESSAGES = ("messages", "contents", "input", "tools")
"""Members that are lists of objects; `input` may be a text, or a list of texts to embed."""
_OBJECTS = ("stream_options", "toolConfig", "inferenceConfig", "generationConfig", "text")
_BLOCKS = ("content", "parts")


def object_in(data: bytes) -> dict[str, Any] | None:
    """Return the JSON object that a request has as its body, None for anything else."""
    try:
        body = json.loads(data or b"{}")
    except (ValueError, RecursionError):
        return None
    return body if isinstance(body, dict) else None


def fault_in(body: dict[str, Any], protocol: str) -> str | None:
    """Return what is wrong with a request, None if it can be answered."""
    for name in _OBJECTS:
        if not isinstance(body.get(name), (dict, type(None))):
            return f"{name} has to be an object"
    for name in _MESSAGES:
        value = body.get(name)
        if value is None or (name == "input" and (isinstance(value, str) or "embed" in protocol)):
            continue
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            return f"{name} has to be a list of objects"
        for item in value:
            for blocks in _BLOCKS:
                if isinstance(found := item.get(blocks), list) and not _are_blocks(found):
                    return f"{name}.{blocks} has to be text or a list of objects"
    return None


def _are_blocks(blocks: list[Any]) -> bool:
    return all(isinstance(block, (dict, str)) for block in blocks)
