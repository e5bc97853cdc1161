"""The span of a decorated tool: the most frequent call there is.

What never changes is worked out when the tool is decorated. A call builds no operation, and where
the span is of our own kind, what is known goes straight into its attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import time_ns
from typing import Any

import msgspec
from opentelemetry.context import Context, set_value

from agentool_otel.content.fitting.fitter import NO_CUTS, Cut
from agentool_otel.content.policy import encode, note_redacted
from agentool_otel.dialects.gen_ai.dialect import tool_payload
from agentool_otel.ground.json_codec import loads
from agentool_otel.model.operations import ToolExecution
from agentool_otel.semconv import agentool, gen_ai
from agentool_otel.semconv.table import AT_START
from agentool_otel.tracing.spans import exceptions, metrics
from agentool_otel.tracing.spans.exceptions import error_type_of, str_of
from agentool_otel.tracing.spans.failure import fail
from agentool_otel.tracing.spans.identity import IDENTITY_KEY
from agentool_otel.tracing.spans.live import KINDS, OWNER_KEY
from agentool_otel.tracing.spans.run import RUN_KEY, Run, requested_id
from agentool_otel.tracing.spans.sdk_spans import (
    attribute_dict,
    context_with,
    end_span,
    parent_of,
    start_span,
)
from agentool_otel.tracing.spans.settings import settings
from agentool_otel.tracing.spans.start_attributes import report_open

__all__ = ["Tool", "ToolSpan"]


class Tool:
    """Values that all calls of a tool share."""

    __slots__ = ("at_start", "kind", "name", "operation", "rest", "span_name")

    def __init__(self, operation: ToolExecution):
        self.operation = operation
        self.name = operation.name
        self.span_name, kind, attributes = settings.dialect.draft(operation)
        self.kind = KINDS[kind]
        self.at_start = {key: attributes.pop(key) for key in AT_START & attributes.keys()}
        """Attributes that a sampler may want."""
        self.rest = attributes


class ToolSpan:
    """The span of one call, started. `end` is idempotent.

    Args:
        tool: what it is a call of.
        parent: context of its parent, as `parent_for` gives it.
    """

    __slots__ = (
        "_arguments",
        "_attributes",
        "_call_id",
        "_cuts",
        "_direct",
        "_ended",
        "_known",
        "_parent",
        "_parent_id",
        "_redacted",
        "_run",
        "_start_ns",
        "_tool",
        "context",
        "recording",
        "span",
    )

    def __init__(self, tool: Tool, parent: Context):
        tracer = settings.tracer()
        self._start_ns = start_ns = time_ns()
        self._tool = tool
        identity: Any = parent.get(IDENTITY_KEY)
        known = tool.at_start if identity is None else {**identity, **tool.at_start}
        self.span = span = start_span(
            tracer,
            tool.span_name,
            parent,
            tool.kind,
            settings.dialect.named(known),
            start_ns,
        )
        self.context = context_with(parent, span)
        if parent.get(OWNER_KEY) is not None:
            self.context = set_value(OWNER_KEY, None, self.context)  # as `begin` does
        self._ended = False
        self.recording = span.is_recording()
        if not self.recording:
            return
        held = attribute_dict(span) if settings.write_through else None
        self._direct = held is not None
        """Whether attributes are set on the span as soon as they are known."""
        self._known = len(known)
        self._attributes = attributes = dict(identity or ()) if held is None else held
        attributes.update(tool.rest)
        self._parent = parent
        self._parent_id = parent_of(parent)
        if settings.repeat_times:
            attributes[agentool.SPAN_START_NS] = start_ns
            if self._parent_id:
                attributes[agentool.SPAN_PARENT_ID] = f"{self._parent_id:016x}"
        self._call_id: str | None = None
        self._cuts: Mapping[str, Cut] = NO_CUTS
        self._redacted: list[str] | None = None
        self._run: Run | None = parent.get(RUN_KEY)  # type: ignore[assignment]
        if self._run is None:
            settings.last_call = span.get_span_context()

    def called(self, bound: dict[str, Any]) -> None:
        """Record the arguments: on the timeline of the run, and on the span if somebody keeps open
        spans.

        Args:
            bound: the arguments by name.
        """
        policy = settings.policy
        if policy.redact is not None:
            self._redacted = []
        self._arguments = policy.encoded(gen_ai.TOOL_CALL_ARGUMENTS, bound, self._redacted)
        run, name, attributes = self._run, self._tool.name, self._attributes
        self._call_id = requested_id(self._parent, name, lambda: loads(encode(bound)))
        if self._call_id is not None:
            attributes[gen_ai.TOOL_CALL_ID] = self._call_id
        if run is not None:
            index = attributes[agentool.STEP_INDEX] = run.timeline.next_index()
            run.tool_calls += 1
            run.timeline.add_tool(index, "tool_call", self._start_ns, name, self._call_id)
        if settings.on_described is not None:
            self._open()

    def _open(self) -> None:
        """Set the attributes known before the user's code runs: an open span has them after
        a kill.
        """
        attributes = {} if self._direct else self._attributes.copy()
        policy = settings.policy
        if self._redacted:
            note_redacted(attributes, self._redacted)
        if self._arguments is not None and policy.on_spans:
            attributes[gen_ai.TOOL_CALL_ARGUMENTS] = self._arguments
            if len(self._arguments) * 4 > policy.sizes.attribute:
                self._cuts = policy.fit(attributes)
        self._known = report_open(self.span, attributes, self._known)

    def interrupted(self, why: str) -> None:
        """Note that the caller stopped before the end, and why."""
        if self.recording:
            self._attributes[agentool.INTERRUPTED] = why

    def encoded_result(self, value: Any) -> str | None:
        """Return the tool's result encoded under the content policy."""
        return settings.policy.encoded(gen_ai.TOOL_CALL_RESULT, value, self._redacted)

    def end(self, result: str | None, error: BaseException | None) -> None:
        """End the span.

        Args:
            result: encoded by the content policy.
            error: the exception that ended the call.
        """
        if self._ended:
            return
        self._ended = True
        span = self.span
        if not self.recording:
            span.end()
            return
        end_ns = time_ns()
        ending = tool_payload(self._arguments, result)
        policy = settings.policy
        if self._redacted:
            note_redacted(ending, self._redacted)
        if error is not None:
            ending[agentool.TOOL_ERROR] = str_of(error)
            policy.clean_one(ending, agentool.TOOL_ERROR)
            policy.fit(ending, self._cuts)
            fail(span, self.context, self._parent_id, None, None, error, ending, end_ns)
        else:
            exceptions.forget(span)
            if sum(map(len, ending.values())) * 4 > policy.sizes.attribute:
                policy.fit(ending, self._cuts)
        if self._run is not None:
            timeline, name = self._run.timeline, self._tool.name
            index = ending[agentool.STEP_RESULT_INDEX] = timeline.next_index()
            failed = None if error is None else error_type_of(error)
            timeline.add_tool(index, "tool_result", end_ns, name, self._call_id, failed)
        if settings.repeat_times:
            ending[agentool.SPAN_END_NS] = end_ns
        if not self._direct:
            ending = {**self._attributes, **ending}
        if policy.in_events:
            from agentool_otel.tracing.spans import content_events  # few programs ask for events

            content_events.emit_content(
                span, self.context, ending, end_ns, about=self._tool.at_start
            )
        end_span(span, settings.dialect.named(ending), self._known, end_ns)
        if metrics.is_collected():
            finished = self._tool.operation
            if error is not None:
                finished = msgspec.structs.replace(finished, error_type=error_type_of(error))
            seconds = (end_ns - self._start_ns) / 1e9
            metrics.record(finished, seconds, self._run, self.context)
