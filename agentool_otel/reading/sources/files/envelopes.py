"""Members of an object around spans that describe their run: its input, output, status, session.

    {"trace_id": …, "input": …, "final_output": …, "status": …, "spans": […]}

They become attributes of the outermost span, unless the spans are of several traces. In a file of
lines, such an object without spans is the header of those that follow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from agentool_otel.ground import json_codec
from agentool_otel.ground.json_codec import Json
from agentool_otel.model.spans import Attributes, SpanRecord
from agentool_otel.model.statuses import STATUSES
from agentool_otel.reading.sources.stores import values as v
from agentool_otel.semconv import agentool

__all__ = ["RunMembers", "is_header", "run_members"]

_TRACE = ("trace_id", "traceId")
_SESSION = ("session_id", "sessionId", "conversation_id", "conversationId")
_INPUT = ("input",)
_OUTPUT = ("final_output", "finalOutput", "output")
_STATUS = ("status",)
_HEADER = ("schema_version", "schemaVersion", "schema", "format", "version", "run_id", "runId")
"""Members by which a header is recognised, without a place in a trace."""
_TYPES = ("header", "meta", "metadata")
_ALL = frozenset((*_TRACE, *_SESSION, *_INPUT, *_OUTPUT, *_STATUS, *_HEADER))
_STATUSES = {
    **{status: status for status in STATUSES},
    **dict.fromkeys(("ok", "succeeded", "completed", "complete", "done", "finished"), "success"),
    **dict.fromkeys(("failed", "failure"), "error"),
    **dict.fromkeys(("timed_out",), "timeout"),
    **dict.fromkeys(("running", "started"), "in_progress"),
}
"""Statuses of the spec, by the words that programs use."""


class RunMembers(NamedTuple):
    """Members of an object that describe a run."""

    trace_id: str | None
    """None if it names no trace."""
    attributes: Attributes

    def inside(self, outer: RunMembers) -> RunMembers:
        """Return these members, completed by those of the object around."""
        return RunMembers(self.trace_id or outer.trace_id, {**outer.attributes, **self.attributes})

    def add_to(self, spans: Sequence[SpanRecord]) -> None:
        """Add the attributes to the outermost span of the run, if there is one such span."""
        if self.trace_id is not None and any(span.trace_id == self.trace_id for span in spans):
            spans = [span for span in spans if span.trace_id == self.trace_id]
        ids = {span.span_id for span in spans}
        roots = [span for span in spans if span.parent_id is None or span.parent_id not in ids]
        if len(roots) == 1 and len({span.trace_id for span in spans}) == 1:
            self._add_to_span(roots[0])

    def add_to_root(self, span: SpanRecord) -> None:
        """Add the attributes to a span if it is the root of the trace that is named."""
        if span.parent_id is None and span.trace_id == self.trace_id:
            self._add_to_span(span)

    def _add_to_span(self, span: SpanRecord) -> None:
        span.attributes = {**self.attributes, **span.attributes}


def run_members(value: dict[str, Json]) -> RunMembers | None:
    """Return the members of an object that describe a run; None if there are none."""
    if _ALL.isdisjoint(value):
        return None
    try:
        trace_id = str(v.identifier(v.first(value, *_TRACE), 16))
    except ValueError:
        trace_id = None
    attributes: Attributes = {}
    for name, members in ((agentool.FILE_INPUT, _INPUT), (agentool.FILE_OUTPUT, _OUTPUT)):
        if (content := v.first(value, *members)) is not None:
            attributes[name] = json_codec.dumps(v.bounded_value(content))
    status = v.text(v.first(value, *_STATUS)).lower()
    # API responses have a status of their own beside the spans.
    if status in _STATUSES and (attributes or trace_id is not None):
        attributes[agentool.FILE_STATUS] = _STATUSES[status]
    if session := v.text(v.first(value, *_SESSION)):
        attributes["session.id"] = session
    return RunMembers(trace_id, attributes)


def is_header(value: Json) -> bool:
    """Return whether a value describes the spans that follow it, and holds nothing else."""
    if not isinstance(value, dict):
        return False
    if _ALL.isdisjoint(value) and value.get("type") not in _TYPES:
        return False
    return not any(
        isinstance(item, dict)
        for member in value.values()
        if isinstance(member, list)
        for item in member
    )
