"""The stores whose exports are read, ours and third parties': entry points, each a `Container`."""

from __future__ import annotations

from functools import cache

from agentool_otel.ground.json_codec import Json
from agentool_otel.ground.plugins import load_plugins
from agentool_otel.reading.sources.stores.store_format import Container, Object

__all__ = ["store_of", "stores", "unwrap"]


@cache
def stores() -> tuple[Container, ...]:
    """Return every installed store, sorted by the name of its entry point."""
    return tuple(load_plugins("agentool_otel.stores").values())


def store_of(value: Object) -> Container | None:
    """Return the store that an object is from; None if it is from none, or only wrapped by one."""
    return next((store for store in stores() if store.recognises(value)), None)


def unwrap(value: Json) -> Json:
    """Return the object or list inside a store's wrapper; None if it is not wrapped."""
    unwrapped = (store.inside(value) for store in stores() if store.inside is not None)
    return next((item for item in unwrapped if item is not None), None)
