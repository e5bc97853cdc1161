"""A container: a shape of JSON object with spans."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from agentool_otel.ground.json_codec import Json
from agentool_otel.model.spans import SpanRecord

__all__ = ["Container", "Object", "Report", "each"]

Object = dict[str, Json]
Report = Callable[[str], None]
"""Takes the reason why a piece was left out."""


class Container(NamedTuple):
    """One shape of JSON object, recognised by its members alone."""

    name: str
    """Its usual name."""
    shape: str
    """Its members as a person would look for them."""
    recognises: Callable[[Object], bool]
    spans: Callable[[Object, Report], Iterator[SpanRecord]]
    loses: tuple[str, ...] = ()
    """Data of a span that the store loses, one line each."""
    members: tuple[str, ...] = ()
    """Names of which one is near the beginning of a file, in quotes, unless span ids are there."""
    inside: Callable[[Json], Json] | None = None
    """Returns what the store wrapped an object or a list around; None if it did not."""


def each(
    items: Json, record: Callable[[Object], SpanRecord], report: Report, name: str = "name"
) -> Iterator[SpanRecord]:
    """Yield the record of each object of a list; one that is no span costs only itself."""
    for item in items if isinstance(items, list) else ():
        if not isinstance(item, dict):
            report(f"expected a span as an object, got {type(item).__name__}")
            continue
        try:
            yield record(item)
        except (ValueError, RecursionError) as error:
            report(f"span {item.get(name)!r} left out: {error}")
