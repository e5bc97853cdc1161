"""The spans of a source and the trace documents between them, each on its own way."""

from __future__ import annotations

from array import array
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TypeVar

from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.files.undecoded import UndecodedSpan, undecoded_spans
from agentool_otel.reading.sources.source import Source

__all__ = ["Contents", "in_order"]

_Built = TypeVar("_Built")


def in_order(
    source: Source, *, decoded: bool = False
) -> Iterator[SpanRecord | UndecodedSpan | ReasoningTrace]:
    """Return the spans and the documents of a source in their order.

    Args:
        source: what is read.
        decoded: False for spans that are for grouping.

    Raises: as `Source.spans`.
    """
    read_own: Callable[..., Iterator[SpanRecord | UndecodedSpan | ReasoningTrace]] | None
    read_own = getattr(source, "in_order", None)
    return _beside(source, decoded) if read_own is None else read_own(undecoded=not decoded)


def _beside(source: Source, decoded: bool) -> Iterator[SpanRecord | UndecodedSpan | ReasoningTrace]:
    """Yield the same of a source that passes documents to a function."""
    documents: deque[ReasoningTrace] = deque()
    source.document = documents.append
    for span in source.spans() if decoded else undecoded_spans(source):
        yield from _drained(documents)
        yield span
    yield from _drained(documents)


class Contents:
    """Contents of a source, read once. A place that has only documents is streamed, whatever its
    size.

    A document and the spans of the same trace are one trace. It is that of the spans, which have
    more data, unless the document was passed on before a span was seen.

    Args:
        source: what is read.
        decoded: False for spans that are for grouping.
    """

    def __init__(self, source: Source, *, decoded: bool = False):
        self._items = in_order(source, decoded=decoded)
        self._first: SpanRecord | UndecodedSpan | None = None
        self._documents: deque[ReasoningTrace] = deque()
        self._passed_on = array("q")
        """Hashes of the ids of the leading documents: eight bytes of memory for each."""
        self._rebuilt = array("q")
        """Those of the traces of spans."""

    def merged(
        self, built: Iterable[_Built], trace_ids: Callable[[_Built], Iterable[str]]
    ) -> Iterator[ReasoningTrace | _Built]:
        """Yield the documents, and the traces built from spans, each trace once.

        Documents before the first span come as they are read, the others at the end.

        Args:
            built: what is built from `spans()`; read only after the first documents.
            trace_ids: returns the ids of the traces in one of them. It is left out if a document of
                one of these traces has come before.
        """
        yield from self._leading()
        for one in built:
            is_new = [self._is_new(trace_id) for trace_id in trace_ids(one)]
            if all(is_new):
                yield one
        yield from self._remaining()

    def _leading(self) -> Iterator[ReasoningTrace]:
        """Yield the documents before the first span as they are read."""
        for item in self._items:
            if not isinstance(item, ReasoningTrace):
                self._first = item
                return
            self._passed_on.append(hash(item.trace_id))
            yield item

    def spans(self) -> Iterator[SpanRecord | UndecodedSpan]:
        """Yield the spans."""
        if self._first is not None:
            yield self._first
        for item in self._items:
            if isinstance(item, ReasoningTrace):
                self._documents.append(item)
            else:
                yield item

    def _is_new(self, trace_id: str) -> bool:
        """Note that a trace was rebuilt from spans; return whether no document of it was passed on
        before."""
        key = hash(trace_id)
        self._rebuilt.append(key)
        return key not in self._leading_ids

    @cached_property
    def _leading_ids(self) -> frozenset[int]:
        return frozenset(self._passed_on)

    def _remaining(self) -> Iterator[ReasoningTrace]:
        """Yield the documents that were met among the spans and that none of the spans are of."""
        rebuilt = frozenset(self._rebuilt if self._documents else ())
        for document in _drained(self._documents):
            if hash(document.trace_id) not in rebuilt:
                yield document


def _drained(documents: deque[ReasoningTrace]) -> Iterator[ReasoningTrace]:
    while documents:
        yield documents.popleft()
