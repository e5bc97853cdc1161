"""Spans of what a coding agent keeps in its session file.

Ids are made of those in the file, so that the same file gives the same spans whenever it is read,
and a file that has grown gives those and more.
"""

from __future__ import annotations

from hashlib import blake2b

from agentool_otel.dialects.gen_ai.dialect import GenAI
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import STATUS_ERROR, Attributes, SpanRecord

__all__ = ["SessionSpans", "count_or_none"]

_writer = GenAI()


class SessionSpans:
    """Makes the spans of one file."""

    def __init__(self, scope: str, service: str):
        """
        Args:
            scope: instrumentation scope of the spans.
            service: `service.name` of their resource.
        """
        self._scope = scope
        self._resource: Attributes = {"service.name": service}

    def span(
        self,
        operation: Operation,
        turn: str,
        key: str,
        start_ns: int | None,
        end_ns: int | None,
        attributes: Attributes,
    ) -> SpanRecord:
        """Return the span of an operation.

        Args:
            operation: what happened.
            turn: id of the turn that it is part of, unique among all sessions.
            key: id of the span in the turn.
            start_ns: when it began, nanoseconds since the epoch.
            end_ns: when it ended; None if the file does not have its end.
            attributes: those without a field in the operation. None is left out.
        """
        name, kind, written = _writer.draft(operation)
        written.update((name, value) for name, value in attributes.items() if value is not None)
        failed = operation.error_type is not None
        return SpanRecord(
            _digest(turn, 16),
            _digest(f"{turn}\0{operation.kind}\0{key}", 8),
            None,
            name,
            kind,
            start_ns,
            end_ns,
            written,
            status=STATUS_ERROR if failed else "UNSET",
            status_message=operation.error_message if failed else None,
            scope=self._scope,
            resource=self._resource,
        )


def count_or_none(value: object) -> int | None:
    """Return a token count; None for what cannot be one."""
    return value if type(value) is int and value >= 0 else None


def _digest(text: str, size: int) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()
