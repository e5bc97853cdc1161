"""Content of a span: read from it, and left on it by masking as `content=False` does."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET

from agentool_otel.content.policy import Policy
from agentool_otel.dialects import LazyJson
from agentool_otel.errors import AgentoolError
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanEvent, SpanRecord, is_fragment
from agentool_otel.reading.sources.grouping.by_trace import by_trace
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.semconv import core
from agentool_otel.tracing.export.masking.spans import Masking
from agentool_otel.tracing.export.readable_spans import Readable

__all__ = ["FIELDS", "masked", "recordings", "spans_in", "texts_in", "texts_on", "texts_within"]

FIXTURES = Path(__file__).parent.parent / "fixtures"
FIELDS = (
    *("system", "input", "output", "tools", "query", "documents", "arguments", "result"),
    *("transfer_message", "tool_error", "records", "content", "results", "explanation"),
    "stop_sequences",
)
"""The fields of operations that hold content."""
_EXCEPTIONS = (core.EXCEPTION_MESSAGE, core.EXCEPTION_STACKTRACE)
_PLACES = frozenset({"role", "type", "id", "name", "finish_reason", "index", "mime_type"})
"""Members of messages and tool definitions that hold none."""


@cache
def recordings() -> list[Path]:
    """Return every fixture that spans can be read from."""
    files = [path for folder in ("spans", "traces", "stores", "tempo")
             for path in sorted((FIXTURES / folder).rglob("*"))
             if path.is_file() and path.suffix not in (".txt", ".md", "")]  # fmt: skip
    return [path for path in files if spans_in(path)]


@cache
def spans_in(path: Path) -> list[SpanRecord]:
    """Return the spans of a file as they were collected; log records stand apart as fragments."""
    try:
        return list(open_source(str(path)).spans())
    except AgentoolError:
        return []


def masked(spans: list[SpanRecord]) -> list[SpanRecord]:
    """Return spans, and the log records that belong to them, as they leave with content off."""
    masking, readable = Masking(Policy(capture=False)), Readable()
    left = [_masked(masking, readable, span) for span in spans]
    return joined(left)


def joined(spans: list[SpanRecord]) -> list[SpanRecord]:
    """Return spans with their log records, in order."""
    if any(map(is_fragment, spans)):
        spans = [span for trace in by_trace(spans) for span in trace]
    return sorted(spans, key=lambda span: (span.start_ns or 0, span.span_id))


def _masked(masking: Masking, readable: Readable, span: SpanRecord) -> SpanRecord:
    left = masking(readable(span))
    events = [SpanEvent(event.name, event.timestamp or None, dict(event.attributes or {}))
              for event in left.events]  # fmt: skip
    return msgspec.structs.replace(
        span, name=left.name, attributes=dict(left.attributes or {}), events=events
    )


# ------------------------------------------------------------------------------------------ texts


def texts_in(operation: Operation) -> set[str]:
    """Return the texts in the content of an operation."""
    results: set[str] = set()
    for field in FIELDS:
        value = getattr(operation, field, None)
        if value is not None and value is not UNSET:
            plain = field in ("arguments", "result", "content", "results", "tool_error")
            results.update(texts_within(value, frozenset() if plain else _PLACES))
    return results


def texts_within(value: Any, leaves_out: frozenset[str] = frozenset()) -> Iterator[str]:
    """Yield the texts in a JSON value, but for those under some names; a key is none."""
    if isinstance(value, LazyJson):
        value = value.value
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            if name in ("arguments", "response", "result"):
                yield from texts_within(inner)
            elif name not in leaves_out:
                yield from texts_within(inner, leaves_out)
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from texts_within(inner, leaves_out)


def texts_on(span: SpanRecord) -> str:
    """Return all texts in the attributes and events of a span, escaped texts plain as well; not
    those of exceptions, which stay where content is off.
    """
    values = [*span.attributes.values()]
    values += [attribute for event in span.events for key, attribute in event.attributes.items()
               if key not in _EXCEPTIONS]  # fmt: skip
    text = json.dumps(values, ensure_ascii=False, default=str)
    return "\n".join((text, text.replace("\\\\", "\\").replace('\\"', '"').replace("\\n", "\n")))
