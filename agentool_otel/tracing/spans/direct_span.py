"""A span of our own kind whose attributes are made when somebody asks for them.

What all calls of one tool share is in a class built for the tool; a span holds its place, its start
and what its attributes are made of. Whatever other code does to it leaves something in its
`__dict__`: so one look tells whether it is as we made it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Generic, Protocol, TypeVar

from opentelemetry.trace import SpanKind

from agentool_otel.otlp.span_parts import Shared
from agentool_otel.tracing.spans.own_span import OwnSpan, SpanWriter

__all__ = ["DirectSpan", "Facts", "direct_class"]

T = TypeVar("T")


class Facts(Protocol):
    """What the attributes of a span are made of, beside those that all calls share."""

    @property
    def identity(self) -> Shared | None:
        """Those of the conversation and the agent around it."""
        ...

    @property
    def start_ns(self) -> int: ...

    @property
    def parent_id(self) -> int: ...

    def own(self) -> dict[str, Any]:
        """Return those of the call, as it began."""
        ...


class _OnUse(Generic[T]):
    """An attribute of a span that is made on its first use, by whichever thread is first."""

    def __init__(self, make: Callable[[Any], T]):
        self._make = make

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, span: Any, owner: type) -> T:
        made: T = vars(span).setdefault(self._name, self._make(span))
        return made


class DirectSpan(OwnSpan):
    """A recording span of a class that `direct_class` gives. It is made without `__init__`."""

    agentool_members = 4
    """How many members it has as it is made: context, parent, start and facts. With more of them,
    something was done to it."""
    facts: Facts
    """What its attributes are made of."""
    ending: Mapping[str, Any] = MappingProxyType({})
    """The attributes that it has got at its end."""
    _made: Callable[[DirectSpan], dict[str, Any]]

    agentool_held = _OnUse[Any](lambda span: span._made(span))
    _lock = _OnUse[Any](lambda _: threading.Lock())


def direct_class(
    span_class: type[OwnSpan],
    name: str,
    kind: SpanKind,
    writer: SpanWriter,
    attributes_of: Callable[[DirectSpan], dict[str, Any]],
) -> type[DirectSpan]:
    """Return the class of the direct spans of one name.

    Args:
        span_class: of the own spans of their tracer.
        name: of the spans.
        kind: of the spans.
        writer: what writes them.
        attributes_of: returns the attributes of such a span.
    """
    shared = {
        "_name": name,
        "agentool_first_name": name,
        "_kind": kind,
        "agentool_writer": writer,
        "_made": staticmethod(attributes_of),
    }
    return type(span_class.__name__, (DirectSpan, span_class), shared)
