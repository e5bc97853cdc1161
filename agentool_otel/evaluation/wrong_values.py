"""Every part of a value that does not fit its type; msgspec stops at the first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple, cast, get_args, get_origin, get_type_hints

import msgspec
from msgspec import inspect

from agentool_otel.ground.json_places import Path, parse_path

__all__ = ["WrongValue", "wrong_values"]


class WrongValue(NamedTuple):
    """A part of a value that does not fit its type."""

    path: Path
    """Where, in the outermost value."""
    message: str
    """Why, in the words of msgspec."""


def wrong_values(hint: Any, value: Any, path: Path = ()) -> Iterator[WrongValue]:
    """Yield the innermost parts that do not fit a type hint."""
    try:
        msgspec.convert(value, hint)
    except msgspec.ValidationError as error:
        inner = [
            wrong
            for step, part_hint, part in _parts(hint, value)
            for wrong in wrong_values(part_hint, part, (*path, step))
        ]
        yield from inner or [_whole(str(error), path)]  # or fitting parts that contradict


def _whole(error: str, path: Path) -> WrongValue:
    message, at, place = error.rpartition(" - at `")
    if not at:
        return WrongValue(path, error)
    return WrongValue((*path, *parse_path(place.removesuffix("`"))), message)


def _parts(hint: Any, value: Any) -> Iterator[tuple[str | int, Any, Any]]:
    """Yield each part of a value whose type a hint decides, with its step and its own hint."""
    origin, options = get_origin(hint), get_args(hint)
    if origin is Annotated:
        yield from _parts(options[0], value)
    elif origin is list and isinstance(value, list):
        yield from ((n, options[0], item) for n, item in enumerate(value))
    elif origin is dict and isinstance(value, dict):
        yield from (
            (name, options[1], item) for name, item in cast("dict[str, Any]", value).items()
        )
    elif origin is None and isinstance(hint, type) and isinstance(value, dict):
        yield from _members(hint, cast("dict[str, Any]", value))
    else:  # of a union the option that has parts, if any
        for option in options:
            yield from _parts(option, value)


def _members(kind: type, value: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    info = inspect.type_info(kind)
    if isinstance(info, (inspect.StructType, inspect.DataclassType)):
        hints = get_type_hints(kind, include_extras=True)
        for field in info.fields:
            if field.encode_name in value:
                yield field.encode_name, hints[field.name], value[field.encode_name]
