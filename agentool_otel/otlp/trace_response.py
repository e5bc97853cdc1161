"""The envelope of a trace in Grafana Tempo's second API.

Spec: grafana/tempo v3.0, pkg/tempopb/tempo.proto: TraceByIDResponse has a `trace` under 1, in which
the ResourceSpans are under 1, `metrics` under 2, a `status` under 3, where 1 is PARTIAL, and a
`message` under 4.
"""

from __future__ import annotations

from agentool_otel.ground.invalid_utf8 import MARKING
from agentool_otel.ground.json_codec import Json
from agentool_otel.otlp.wire import LENGTH_DELIMITED, fields

__all__ = ["holds_trace", "partial_in_json", "partial_in_protobuf"]

_STATUS, _MESSAGE = 3, 4
_PARTIAL = 1
_SCOPE_SPANS = 2
_SCOPE_SPANS_FOLLOW = bytes([_SCOPE_SPANS << 3 | LENGTH_DELIMITED])


def holds_trace(data: bytes) -> bool:
    """Return whether field 1 of a message, which may be truncated, is a trace and no ResourceSpans.

    Under its own field 1 a trace has a ResourceSpans, and that one has a resource. Of these two,
    only the first can have messages under 2.
    """
    try:
        first = next(fields(data, cut_short=True), None)
        if first is None or first.number != 1 or first.wire_type != LENGTH_DELIMITED:
            return False
        if data.startswith(_SCOPE_SPANS_FOLLOW, len(first.encoded)):
            return False  # a ResourceSpans, as nearly always
        inner = (field for field in fields(first.value, cut_short=True) if field.number != 1)
        after = next(inner, None)
    except ValueError:
        return False
    return after is not None and (after.number, after.wire_type) == (_SCOPE_SPANS, LENGTH_DELIMITED)


def partial_in_protobuf(data: bytes) -> str | None:
    """Return the problem of a trace by the fields that come after it; None if it is complete.

    Raises:
        ValueError: they are no fields.
    """
    values = {field.number: field.value for field in fields(data)}
    if values.get(_STATUS) != bytes([_PARTIAL]):
        return None
    return _partial(values.get(_MESSAGE, b"").decode("utf-8", MARKING))


def partial_in_json(answer: Json) -> str | None:
    """Return why the trace in a response is partial; None if it is complete or missing."""
    if not isinstance(answer, dict) or not isinstance(answer.get("trace"), dict):
        return None
    if answer.get("status") not in ("PARTIAL", _PARTIAL):
        return None
    return _partial(str(answer.get("message") or ""))


def _partial(message: str) -> str:
    why = f": {message}" if message else ""
    return (
        f"Tempo returned only a part of the trace{why}; hint: raise its limits on the size of a "
        f"trace, "
        "or read a shorter time"
    )
