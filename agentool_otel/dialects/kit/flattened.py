"""Lists and objects that a vocabulary spreads over dotted, indexed attribute names.

    llm.input_messages.0.message.role = "user"   <->   [{"message": {"role": "user"}}]

Some stores put the names together again; `tree` reads both forms.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.model.spans import Attributes

__all__ = ["flatten", "members", "tree"]

_DEPTH = 16
"""Levels that are taken apart; deeper names stay dotted. Keeps hostile names harmless."""


def tree(span: Reader, prefix: str) -> Any:
    """Take everything below `prefix` and return it as one list or object; None if there is nothing.

    Objects whose members are all numbered become lists in that order, gaps closed. Where one name
    is both a value and the beginning of longer names, the value is left in the span's rest.
    """
    value = span.json(prefix, keep_text=False) if prefix in span.rest else None
    if isinstance(value, (list, dict)):
        return value
    start = prefix + "."
    root: dict[str, Any] = {}
    keys: list[str] = []
    for key in sorted(key for key in span.rest if key.startswith(start)):
        *path, last = key[len(start) :].split(".", _DEPTH)
        branch: Any = root
        for name in path:
            branch = branch.setdefault(name, _Branch())
            if not isinstance(branch, _Branch):
                break
        else:
            if last not in branch:
                branch[last] = span.rest[key]
                keys.append(key)
    for key in keys:
        del span.rest[key]
    return _close(root) if keys else None


class _Branch(dict[str, Any]):
    """An object made from names, which a value that is an object is not."""


def _close(branch: dict[str, Any]) -> Any:
    for name, inner in branch.items():
        if isinstance(inner, _Branch):
            branch[name] = _close(inner)
    if all(name.isdecimal() and name.isascii() and len(name) < 10 for name in branch):
        return [branch[name] for name in sorted(branch, key=int)]
    return dict(branch)


def members(items: Any, wrapper: str) -> list[dict[str, Any]]:
    """Return the objects of a list, without the member each may be wrapped in.

    `[{"message": {"role": …}}]`, `[{"message.role": …}]` and `[{"role": …}]` give the same for
    wrapper "message".
    """
    objects: list[dict[str, Any]] = []
    start = wrapper + "."
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict):
            inner = item.get(wrapper)
            if not isinstance(inner, dict):
                inner = {key.removeprefix(start): value for key, value in item.items()}
            objects.append(inner)
    return objects


def flatten(prefix: str, value: Any, into: Attributes) -> None:
    """Write a value under dotted, indexed names; None and empty values leave no attribute."""
    if isinstance(value, dict):
        for name, inner in value.items():
            flatten(f"{prefix}.{name}", inner, into)
    elif isinstance(value, (list, tuple)):
        for index, inner in enumerate(value):
            flatten(f"{prefix}.{index}", inner, into)
    elif value is not None:
        into[prefix] = value
