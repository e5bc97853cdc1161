"""Trace ids of spans that are not decoded yet: most spans begin with it, and many share one."""

from __future__ import annotations

import msgspec

from agentool_otel.otlp.json_decoder import hex_id, trace_id_of
from agentool_otel.reading.sources.files.bounded_cache import Interned

__all__ = ["FIRST", "HEAD", "TraceIds", "raw_trace_id"]

FIRST = b'{"traceId":"'
"""Beginning of a span as exporters write it; 32 digits and a quote follow."""
HEAD = len(FIRST) + 33
"""Bytes of such a span up to the end of its trace id."""


class _Traced(msgspec.Struct, gc=False):
    traceId: str


_decode = msgspec.json.Decoder(_Traced).decode


def raw_trace_id(span: bytes | msgspec.Raw) -> str:
    """Return the trace id of a span, one JSON value, as lower-case hex.

    Raises:
        ValueError: it has none, or is not one value.
    """
    return trace_id_of(_decode(span).traceId)


class TraceIds:
    """Trace ids by the first bytes of a span, some thousand of them."""

    def __init__(self) -> None:
        self._by_head = Interned[str]()

    def of(self, head: bytes, span: bytes | msgspec.Raw) -> str:
        """Return the trace id of a span as lower-case hex.

        Args:
            head: the first `HEAD` bytes of the span.
            span: the span as JSON.

        Raises:
            ValueError: it has none.
        """
        trace_id = self._by_head.known.get(head)
        if trace_id is not None:
            return trace_id
        if not (head.startswith(FIRST) and head.endswith(b'"')):
            return raw_trace_id(span)
        try:
            trace_id = hex_id(head[len(FIRST) : -1].decode("ascii"), 16)
        except ValueError:  # escaped, or in base64 that happens to be as long
            return raw_trace_id(span)
        self._by_head.put(head, trace_id)
        return trace_id
