"""The span of a decorated tool: the most frequent call there is.

What never changes is worked out when the tool is decorated. A call builds no operation, and where
the span is of our own kind, what is known goes straight into its attributes.
"""

from __future__ import annotations

from collections.abc import Mapping
from time import time_ns
from typing import TYPE_CHECKING, Any

import msgspec
from opentelemetry.context import Context, set_value

from agentool_otel.content.fitting.fitter import NO_CUTS, Cut
from agentool_otel.content.policy import encode, note_redacted
from agentool_otel.dialects.gen_ai.dialect import tool_payload
from agentool_otel.ground.interruptions import is_interruption
from agentool_otel.ground.json_codec import loads
from agentool_otel.model.operations import ToolExecution
from agentool_otel.otlp.json_encoder import escaped, pairs_of
from agentool_otel.otlp.span_parts import Shared, template
from agentool_otel.semconv import agentool, gen_ai
from agentool_otel.semconv.table import AT_START
from agentool_otel.tracing.spans import exceptions, metrics
from agentool_otel.tracing.spans.around import execution_of
from agentool_otel.tracing.spans.direct_call import SMALL
from agentool_otel.tracing.spans.direct_tool import DirectToolSpan
from agentool_otel.tracing.spans.exceptions import error_type_of, str_of
from agentool_otel.tracing.spans.failure import cut_off, fail
from agentool_otel.tracing.spans.identity import IDENTITY_KEY
from agentool_otel.tracing.spans.live import KINDS, OWNER_KEY
from agentool_otel.tracing.spans.requested_calls import open_answers
from agentool_otel.tracing.spans.run import RUN_KEY, Run, requested_id
from agentool_otel.tracing.spans.sdk_spans import (
    context_with,
    end_span,
    parent_of,
    start_span,
)
from agentool_otel.tracing.spans.settings import SCOPE, settings
from agentool_otel.tracing.spans.start_attributes import report_open
from agentool_otel.tracing.spans.steps import tool_step

if TYPE_CHECKING:
    from agentool_otel.tracing.spans.own_span import OwnSpan, SpanWriter

__all__ = ["Tool", "ToolSpan"]


class Tool:
    """Values that all calls of a tool share."""

    __slots__ = (
        "at_start",
        "call_step",
        "duration",
        "kind",
        "name",
        "operation",
        "rest",
        "result_step",
        "shared",
        "shared_alone",
        "span_name",
    )

    def __init__(self, operation: ToolExecution):
        self.operation = operation
        self.name = operation.name
        self.span_name, kind, attributes = settings.dialect.draft(operation)
        self.kind = KINDS[kind]
        self.duration = metrics.ToolDuration(operation)
        self.at_start = {key: attributes.pop(key) for key in AT_START & attributes.keys()}
        """Attributes that a sampler may want."""
        self.rest = attributes
        self.shared = Shared({**self.at_start, **attributes})
        """All of them."""
        self.shared_alone = (self.shared,)
        self.call_step: Mapping[str, str]
        self.result_step: Mapping[str, str]
        self.call_step, self.result_step = (
            Shared(tool_step(kind, self.name)) for kind in ("tool_call", "tool_result")
        )
        """Attributes of the steps of a call without an id."""


_TIME = template((agentool.SPAN_START_NS, "%d"))
_TIME_AND_PARENT = template((agentool.SPAN_START_NS, "%d"), (agentool.SPAN_PARENT_ID, "%016x"))
_CALL_ID = template((gen_ai.TOOL_CALL_ID, "%b"))
_INDEX = template((agentool.STEP_INDEX, "%d"))
_ARGUMENTS = template((gen_ai.TOOL_CALL_ARGUMENTS, "%b"))
_RESULT = template((gen_ai.TOOL_CALL_RESULT, "%b"))
_WRAPPED_RESULT = pairs_of({agentool.TOOL_WRAPPED: ["result"]})
_RESULT_INDEX = template((agentool.STEP_RESULT_INDEX, "%d"))
_END_TIME = template((agentool.SPAN_END_NS, "%d"))


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
        "_ended",
        "_is_repeated",
        "_known",
        "_own",
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
        self._start_ns = start_ns = time_ns()
        self._tool = tool
        self._parent = parent
        self._ended = False
        identity: Any = parent.get(IDENTITY_KEY)
        known = tool.at_start if identity is None else {**identity, **tool.at_start}
        if not settings.write_through:
            known = settings.dialect.named(known)
        tracer = settings.tracers.get(SCOPE) or settings.tracer()
        self.span = span = start_span(tracer, tool.span_name, parent, tool.kind, known, start_ns)
        self.context = context_with(parent, span)
        owner: Any = parent.get(OWNER_KEY)
        self._is_repeated = False
        """Whether a framework records this call already, as a step of the run."""
        if owner is not None:
            self.context = set_value(OWNER_KEY, None, self.context)  # as `begin` does
            self._is_repeated = execution_of(tool.name) in owner
        self.recording = span.is_recording()
        if not self.recording:
            return
        is_own = settings.write_through and getattr(span, "agentool_held", None) is not None
        self._own: OwnSpan | None = span if is_own else None  # type: ignore[assignment]
        own = self._own
        """The span if it is of our own kind: it gets attributes as soon as they are known."""
        self._known = len(known)
        if own is None:
            self._attributes = attributes = dict(identity or ())
            attributes.update(tool.rest)
        else:
            self._attributes = attributes = own.agentool_held
            attributes.update(tool.rest)
            if not identity:
                own.agentool_shared = tool.shared_alone
            elif len(attributes) == len(identity) + len(tool.shared):
                own.agentool_shared = identity, tool.shared
        self._parent_id = parent_id = parent_of(parent)
        if settings.repeat_times:
            attributes[agentool.SPAN_START_NS] = start_ns
            if parent_id:
                attributes[agentool.SPAN_PARENT_ID] = f"{parent_id:016x}"
        self._call_id: str | None = None
        self._cuts: Mapping[str, Cut] = NO_CUTS
        self._redacted: list[str] | None = None
        run: Any = None if self._is_repeated else parent.get(RUN_KEY)
        self._run: Run | None = run
        if run is None and not self._is_repeated:
            settings.last_call = span.get_span_context()

    def resume(self, begun: DirectToolSpan) -> None:
        """Go on with a direct call: its span is now this one."""
        tool, facts, span = begun.tool, begun.facts, begun.span
        self._start_ns, self._parent_id = facts.start_ns, facts.parent_id
        self._tool, self._parent, self._run = tool, begun.parent, begun.run
        self.span, self.context, self.recording = span, begun.context, True
        self._ended, self._is_repeated = begun.has_ended, False
        self._arguments, self._call_id = facts.arguments, facts.call_id
        self._cuts, self._redacted, self._known = NO_CUTS, None, 0
        self._own, self._attributes = span, span.agentool_held
        identity: Any = facts.identity
        span.agentool_shared = (identity, tool.shared) if identity else tool.shared_alone
        span.agentool_beginning, span.agentool_first = begun.beginning, begun.first
        span.agentool_written = len(identity or ()) + len(tool.shared) + len(facts.own())

    def called(self, bound: dict[str, Any]) -> None:
        """Record the arguments: on the timeline of the run, and on the span if somebody keeps open
        spans.

        Args:
            bound: the arguments by name.
        """
        policy = settings.policy
        if policy.redact is not None:
            self._redacted = []
        self.called_with(bound, policy.encoded(gen_ai.TOOL_CALL_ARGUMENTS, bound, self._redacted))

    def called_with(self, bound: dict[str, Any], arguments: str | None) -> None:
        """The same where the arguments are encoded under the content policy already."""
        self._arguments = arguments
        run, name, attributes = self._run, self._tool.name, self._attributes
        if open_answers and not self._is_repeated:
            self._call_id = requested_id(self._parent, name, lambda: loads(encode(bound)))
            if self._call_id is not None:
                attributes[gen_ai.TOOL_CALL_ID] = self._call_id
        if run is not None:
            run.tool_calls += 1
            step = self._tool.call_step
            if self._call_id is not None:
                step = tool_step("tool_call", name, self._call_id)
            attributes[agentool.STEP_INDEX] = run.timeline.add_next(self._start_ns, step)
        if settings.on_described is not None:
            self._open()

    def _open(self) -> None:
        """Set the attributes known before the user's code runs: an open span has them after
        a kill.
        """
        own, arguments = self._own, self._arguments
        policy = settings.policy
        writer = None if own is None else own.agentool_writer
        is_small = arguments is not None and len(arguments) < SMALL and self._redacted is None
        if own is not None and writer is not None and is_small and own.agentool_shared:
            self._note_small(own, writer, arguments or "")
            return
        attributes = self._attributes.copy() if own is None else {}
        if self._redacted:
            note_redacted(attributes, self._redacted)
        if arguments is not None and policy.on_spans:
            attributes[gen_ai.TOOL_CALL_ARGUMENTS] = arguments
            if len(arguments) * 4 > policy.sizes.attribute:
                self._cuts = policy.fit(attributes)
        if writer is not None and own is not None and own.take(attributes):
            writer.started(own)
        else:
            self._known = report_open(self.span, attributes, self._known)

    def _note_small(self, own: OwnSpan, writer: SpanWriter, arguments: str) -> None:
        """Do the same for most calls: their pairs are put together from templates."""
        held = own.agentool_held
        held[gen_ai.TOOL_CALL_ARGUMENTS] = arguments
        pairs: list[bytes] = []
        if settings.repeat_times:
            if self._parent_id:
                pairs.append(_TIME_AND_PARENT % (self._start_ns, self._parent_id))
            else:
                pairs.append(_TIME % self._start_ns)
        if self._call_id is not None:
            pairs.append(_CALL_ID % escaped(self._call_id))
        if self._run is not None:
            pairs.append(_INDEX % held[agentool.STEP_INDEX])
        pairs.append(_ARGUMENTS % escaped(arguments))
        writer.started(own, b",".join(pairs))

    def _last_pairs(self, ending: dict[str, Any]) -> bytes:
        """Return the attributes at the end of most calls as pairs of OTLP/JSON; b"" for others."""
        result = ending.get(gen_ai.TOOL_CALL_RESULT)
        if result is None or len(result) >= SMALL:
            return b""
        pairs = [_RESULT % escaped(result)]
        count = 1
        if agentool.TOOL_WRAPPED in ending:
            pairs.append(_WRAPPED_RESULT)
            count += 1
        if self._run is not None:
            pairs.append(_RESULT_INDEX % ending[agentool.STEP_RESULT_INDEX])
            count += 1
        if settings.repeat_times:
            pairs.append(_END_TIME % ending[agentool.SPAN_END_NS])
            count += 1
        return b",".join(pairs) if count == len(ending) else b""

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
        try:
            self._end(result, error)
        except BaseException as interruption:
            if is_interruption(interruption):
                cut_off(self.span, interruption)
            raise

    def _end(self, result: str | None, error: BaseException | None) -> None:
        span = self.span
        if not self.recording:
            span.end()
            return
        end_ns = time_ns()
        own, arguments = self._own, self._arguments
        policy = settings.policy
        characters = len(arguments or "") + len(result or "")
        is_small = characters * 4 <= policy.sizes.attribute
        if (
            is_small
            and own is not None
            and own.agentool_first is not None
            and own._shared is None
            and len(own.agentool_held) == own.agentool_written
        ):
            arguments = None  # it was noted with them, and nobody has changed them
        ending = tool_payload(arguments, result)
        if self._redacted:
            note_redacted(ending, self._redacted)
        if error is not None:
            ending[agentool.TOOL_ERROR] = str_of(error)
            policy.clean_one(ending, agentool.TOOL_ERROR)
            policy.fit(ending, self._cuts)
            fail(span, self.context, self._parent_id, None, None, error, ending, end_ns)
        else:
            exceptions.forget(span)
            if not is_small:
                policy.fit(ending, self._cuts)
        if self._run is not None:
            step = self._tool.result_step
            if self._call_id is not None or error is not None:
                failed = None if error is None else error_type_of(error)
                step = tool_step("tool_result", self._tool.name, self._call_id, failed)
            ending[agentool.STEP_RESULT_INDEX] = self._run.timeline.add_next(end_ns, step)
        if settings.repeat_times:
            ending[agentool.SPAN_END_NS] = end_ns
        if own is None:
            ending = {**self._attributes, **ending}
        if policy.in_events:
            from agentool_otel.tracing.spans import content_events  # few programs ask for events

            content_events.emit_content(
                span, self.context, ending, end_ns, about=self._tool.at_start
            )
        if own is None or not own.finish(ending, end_ns, self._last_pairs(ending)):
            end_span(span, settings.dialect.named(ending), self._known, end_ns)
        seconds = (end_ns - self._start_ns) / 1e9
        if error is None:
            self._tool.duration.record(seconds, self.context)
        elif metrics.is_collected():
            finished = msgspec.structs.replace(
                self._tool.operation, error_type=error_type_of(error)
            )
            metrics.record(finished, seconds, self._run, self.context)
