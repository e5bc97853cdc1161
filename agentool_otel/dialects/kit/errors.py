"""The error of a span that has only an exception event for it, as in most vocabularies."""

from __future__ import annotations

import msgspec

from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.model.spans import STATUS_ERROR
from agentool_otel.semconv import core

__all__ = ["take_exception"]


_STACK = "\n    at "


def take_exception(span: Reader) -> None:
    """Set `error.type` of a failed span from its last exception event, unless it has one.

    Some instrumentations put a whole stack trace into the status description, and OpenTelemetry's
    SDK puts the type before the message; the exception's message then replaces it. OpenInference's
    instrumentations for JavaScript put the stack after the message in both places.
    """
    record = span.span
    if record.status != STATUS_ERROR:
        return
    if record.status_message is not None and _STACK in record.status_message:
        words, error_type = _before_stack(record.status_message)
        if error_type is not None:
            span.rest.setdefault(core.ERROR_TYPE, error_type)
            span.span = msgspec.structs.replace(record, status_message=words)
            return
    event = next(
        (event for event in reversed(record.events) if event.name == core.EXCEPTION_EVENT), None
    )
    if event is None:
        return
    kind, message = (
        event.attributes.get(key) for key in (core.EXCEPTION_TYPE, core.EXCEPTION_MESSAGE)
    )
    if isinstance(kind, str) and kind and core.ERROR_TYPE not in span.rest:
        span.rest[core.ERROR_TYPE] = kind
    described = record.status_message
    repeats = not described or "Traceback (" in described or described == f"{kind}: {message}"
    if isinstance(message, str) and message and repeats:
        span.span = msgspec.structs.replace(record, status_message=message)


def _before_stack(description: str) -> tuple[str, str | None]:
    """Return message and type of `no map`, an empty line, `Error: no map` and its stack; no type
    for anything else."""
    message, _, stack = description.partition("\n\n")
    kind, _, again = stack.partition(": ")
    return message, kind if again.startswith(f"{message}\n") and kind.isidentifier() else None
