"""CloudWatch: events whose message is a span or a log record of ADOT as JSON text.

    {"events": [{"timestamp", "message"}]}          filter-log-events, get-log-events
    [{"field": "@message", "value": ...}, ...]      a row of a Logs Insights query

The messages hold span objects and log records; only the wrapping is undone here. Lines of an export
to S3 (a time, a space, the message) are left to the reader of lines.

Source: AWS CloudWatch Logs API reference; aws-otel-python-instrumentation v0.12.
"""

from __future__ import annotations

from agentool_otel.ground.json_codec import Json
from agentool_otel.reading.sources.stores import values as v
from agentool_otel.reading.sources.stores.store_format import Container

__all__ = ["CONTAINER"]

_MESSAGE = ("@message", "message")


def _object_inside(value: Json) -> Json:
    """Return the object in the message of an event or a row; None if there is none."""
    if isinstance(value, list):
        value = {
            cell["field"]: cell.get("value")
            for cell in value
            if isinstance(cell, dict) and isinstance(cell.get("field"), str)
        }
    if not isinstance(value, dict):
        return None
    message = v.first(value, *_MESSAGE)
    return v.json_object(message) or None if isinstance(message, str) else None


CONTAINER = Container(
    "events of CloudWatch",
    '{"message": "…"} or [{"field": "@message", "value": "…"}]',
    recognises=lambda o: False,
    spans=lambda o, report: iter(()),
    inside=_object_inside,
)
