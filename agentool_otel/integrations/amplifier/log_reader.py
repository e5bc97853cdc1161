"""Amplifier's logs: `events.jsonl`, a line for each event of a session.

    {"ts", "lvl", "schema": {"name": "amplifier.log", "ver": "1.0.0"}, "event", "session_id",
     "status"?, "duration_ms"?, "error"?, "request_id"?, "data": {...}}

Some members of an event stand beside `data`, which holds the others. Each session has a file of
its own: a child's steps are a trace of their own where its file is read without its parent's.

Source: microsoft/amplifier-module-hooks-logging, schema `amplifier.log` 1.0.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agentool_otel.integrations.amplifier.events.event_names import KERNEL, MODULES
from agentool_otel.integrations.amplifier.events.payloads import event_time
from agentool_otel.integrations.amplifier.events.translator import AmplifierEvents
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.recorded_steps import RecordedStep, SpanRecorder
from agentool_otel.reading.sources.stores.store_format import Object

__all__ = ["AmplifierLog"]

_SCHEMA = "amplifier.log"
_KNOWN = frozenset((*KERNEL, *MODULES))
_ENVELOPE = frozenset({"ts", "lvl", "schema", "event", "data"})


class AmplifierLog:
    """Turns the lines of one file into spans, in their order."""

    name = "logs of Amplifier"
    members = (_SCHEMA,)

    @staticmethod
    def recognises(event: Object) -> bool:
        """Return whether an object is a line of such a log: by its schema, else by its event."""
        schema, kind = event.get("schema"), event.get("event")
        if not isinstance(kind, str):
            return False
        if isinstance(schema, dict):
            return schema.get("name") == _SCHEMA
        return kind in _KNOWN and isinstance(event.get("session_id"), str)

    def __init__(self) -> None:
        self._done: list[SpanRecord] = []
        recorder = SpanRecorder(self._done.append, "amplifier", {"service.name": "amplifier"})
        self._events: AmplifierEvents[RecordedStep] = AmplifierEvents(recorder)
        self._last_ns = 0

    def spans(self, event: Object) -> Iterator[SpanRecord]:
        """Yield the spans that a line completes."""
        data: dict[str, Any] = {k: v for k, v in event.items() if k not in _ENVELOPE}
        inner = event.get("data")
        if isinstance(inner, dict):
            data = {**inner, **data}
        self._last_ns = event_time(event.get("ts")) or self._last_ns
        self._events.read(str(event["event"]), data, self._last_ns)
        yield from self._take()

    def rest(self) -> Iterator[SpanRecord]:
        """Yield the spans that were still open at the end of the file."""
        self._events.close()
        yield from self._take()

    def _take(self) -> Iterator[SpanRecord]:
        done = self._done[:]
        self._done.clear()
        return iter(done)
