"""Live objects of the agentool reference package, read without importing it.

Source: agentool 0.1.0, modules tool, trace and eval: dataclasses with a `to_dict()`.

`to_dict()` loses values: empty ones (`returns: {}`, an empty query, `context_tokens` 0), the
message of a handoff to nobody, the content of a step that also has memory content. So the fields
are read, and `to_dict()` only decides what a field cannot tell: whether None means null or absent.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection
from datetime import datetime
from enum import Enum
from typing import Any, cast

__all__ = ["members"]

_JSON_NAMES = {"handoff_message": "message", "memory_key": "key"}
_OWN = {"reasoning": {"content", "context_tokens"}, "memory_read": {"query", "results"}}
"""Members that have a meaning even at their default, because the step's type is about them."""


def members(value: object, required: Collection[str]) -> dict[str, Any] | None:
    """Return the JSON members of such an object, or None for any other value.

    Nested objects are left as they are. A dataclass that lacks a field named in `required` is
    something else: only its `to_dict()` counts.
    """
    if isinstance(value, type):
        return None
    written = _to_dict_of(value)
    if not dataclasses.is_dataclass(value):
        return written
    fields = {field.name: field for field in dataclasses.fields(value)}
    if written is not None and not fields.keys() >= set(required):
        return written
    json_members: dict[str, Any] = dict(written or {})
    own_members = _OWN.get(_plain(getattr(value, "type", None)), frozenset[str]())
    for field in fields.values():
        name, item = _JSON_NAMES.get(field.name, field.name), _plain(getattr(value, field.name))
        if field.name in ("extra", "memory_content") or item is None:
            continue
        if written is None or name in written or name in own_members or item != _default(field):
            json_members[name] = item
    _add_memory_content(value, json_members)
    extra = getattr(value, "extra", None) if "extra" in fields else None
    return {**extra, **json_members} if isinstance(extra, dict) else json_members


def _to_dict_of(value: object) -> dict[str, Any] | None:
    """Return the result of an object's `to_dict()`, None if it has none."""
    to_dict = getattr(value, "to_dict", None)
    members: Any = to_dict() if callable(to_dict) else None
    return cast("dict[str, Any]", members) if isinstance(members, dict) else None


def _add_memory_content(value: object, json_members: dict[str, Any]) -> None:
    """Two fields share the JSON name `content`; the one the step is not about gets another name."""
    stored, content = getattr(value, "memory_content", None), getattr(value, "content", None)
    if stored is None:
        return
    if content in (None, ""):
        json_members["content"] = stored
    elif json_members.get("type") == "memory_write":
        json_members["content"], json_members["step_content"] = stored, content
    else:
        json_members["memory_content"] = stored


def _plain(value: Any) -> Any:
    if isinstance(value, Enum):
        return value.value
    return value.isoformat() if isinstance(value, datetime) else value


def _default(field: dataclasses.Field[Any]) -> Any:
    factory = field.default_factory
    return _plain(field.default if factory is dataclasses.MISSING else factory())
