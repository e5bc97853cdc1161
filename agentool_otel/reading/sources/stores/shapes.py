"""All containers, in the order in which they are tried."""

from __future__ import annotations

from agentool_otel.reading.sources.stores import any_span, attribute_map, go_stdout, rows
from agentool_otel.reading.sources.stores.registry import store_of, stores
from agentool_otel.reading.sources.stores.store_format import Container, Object

__all__ = ["SHAPES", "containers", "recognise"]

SHAPES: tuple[Container, ...] = (
    go_stdout.CONTAINER,
    rows.CONTAINER,
    any_span.CONTAINER,
    attribute_map.CONTAINER,
)
"""Shapes of no store in particular. The special ones are first: several are span objects with more
to them. Stores are tried before, since theirs are more special still.
"""


def containers() -> tuple[Container, ...]:
    """Return those of the installed stores, and `SHAPES`."""
    return (*stores(), *SHAPES)


def recognise(value: Object) -> Container | None:
    """Return the container an object is, None if it is none of them."""
    store = store_of(value)
    if store is not None:
        return store
    return next((shape for shape in SHAPES if shape.recognises(value)), None)
