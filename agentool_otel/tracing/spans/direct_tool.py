"""The direct call of a decorated tool, where nothing unusual is around.

A call that turns out to be unusual goes on as a `ToolSpan` around the same span: after an
exception, with a large text, or if other code has touched the span.
"""

from __future__ import annotations

from time import time_ns
from typing import TYPE_CHECKING, Any, NamedTuple

from opentelemetry.context import Context

from agentool_otel.content.policy import encode
from agentool_otel.ground.interruptions import is_interruption
from agentool_otel.ground.json_codec import loads
from agentool_otel.otlp.json_encoder import escaped, pairs_of
from agentool_otel.otlp.span_parts import NO_EVENTS, Shared, shared_json
from agentool_otel.semconv import agentool, gen_ai
from agentool_otel.tracing.spans import exceptions
from agentool_otel.tracing.spans.direct_call import Direct, pairs
from agentool_otel.tracing.spans.failure import cut_off
from agentool_otel.tracing.spans.identity import IDENTITY_KEY
from agentool_otel.tracing.spans.requested_calls import open_answers
from agentool_otel.tracing.spans.run import RUN_KEY, requested_id
from agentool_otel.tracing.spans.sdk_spans import SPAN_KEY
from agentool_otel.tracing.spans.settings import settings
from agentool_otel.tracing.spans.steps import tool_step

if TYPE_CHECKING:
    from agentool_otel.tracing.spans.direct_span import DirectSpan
    from agentool_otel.tracing.spans.live_tool import Tool
    from agentool_otel.tracing.spans.run import Run

__all__ = ["DirectToolSpan"]

_CALL_ID = pairs((gen_ai.TOOL_CALL_ID, "%b"))
_INDEX = pairs((agentool.STEP_INDEX, "%d"))
_ARGUMENTS = pairs((gen_ai.TOOL_CALL_ARGUMENTS, "%b"))
_RESULT = pairs((gen_ai.TOOL_CALL_RESULT, "%b"))
_WRAPPED = ["result"]
_WRAPPED_RESULT = b"," + pairs_of({agentool.TOOL_WRAPPED: _WRAPPED})
_RESULT_INDEX = pairs((agentool.STEP_RESULT_INDEX, "%d"))
_END_TIME = pairs((agentool.SPAN_END_NS, "%d"))


class _Facts(NamedTuple):
    """What the attributes of a call's span are made of, beside those of its tool."""

    identity: Shared | None
    start_ns: int
    parent_id: int
    repeats: bool
    """Whether the span repeats its times and parent as attributes."""
    call_id: str | None
    step: int | None
    """Number of the step that the call is, in a run."""
    arguments: str | None

    def own(self) -> dict[str, Any]:
        """Return the attributes that other calls of the tool do not have."""
        own: dict[str, Any] = {}
        if self.repeats:
            own[agentool.SPAN_START_NS] = self.start_ns
            if self.parent_id:
                own[agentool.SPAN_PARENT_ID] = f"{self.parent_id:016x}"
        if self.call_id is not None:
            own[gen_ai.TOOL_CALL_ID] = self.call_id
        if self.step is not None:
            own[agentool.STEP_INDEX] = self.step
        if self.arguments is not None:
            own[gen_ai.TOOL_CALL_ARGUMENTS] = self.arguments
        return own


class DirectToolSpan:
    """The span of one direct call, once it has begun."""

    __slots__ = (
        *("beginning", "context", "direct", "facts", "first", "has_ended", "parent", "run"),
        *("span", "tool"),
    )
    span: DirectSpan
    beginning: bytes
    """Its ids and its start, in its line."""
    first: bytes
    """The attributes that it starts with, in its line."""
    facts: _Facts
    run: Run | None

    def begin(
        self,
        direct: Direct,
        tool: Tool,
        parent: Context,
        bound: dict[str, Any],
        arguments: str | None,
    ) -> bool:
        """Begin the span; False, and nothing is done, where the call is an unusual one.

        Args:
            direct: what the direct calls of the tool share.
            tool: what it is a call of.
            parent: context of its parent, as `parent_for` gives it.
            bound: the arguments by name.
            arguments: the same encoded under the content policy.
        """
        identity: Any = parent.get(IDENTITY_KEY)
        if arguments is not None and len(arguments) > direct.largest:
            return False
        if not (identity is None or identity.keys().isdisjoint(direct.attributes)):
            return False
        placed = direct.place(parent.get(SPAN_KEY)) if direct.form.accepts() else None
        start_ns = time_ns()
        if placed is None or placed[0][4] or start_ns <= 0:  # a trace state, or a frozen clock
            return False
        context, up = placed
        parent_id = 0 if up is None else up[1]
        first = direct.shared
        if identity:
            first = b"%b,%b" % (identity.json or shared_json(identity), first)
        repeats = settings.repeat_times
        if repeats and parent_id:
            first += direct.times_below % (start_ns, parent_id)
        elif repeats:
            first += direct.times % start_ns
        call_id: str | None = None
        if open_answers:
            call_id = requested_id(parent, tool.name, lambda: loads(encode(bound)))
            if call_id is not None:
                first += _CALL_ID % escaped(call_id)
        run: Any = parent.get(RUN_KEY)
        index: int | None = None
        if run is not None:
            run.tool_calls += 1
            step = tool.call_step
            if call_id is not None:
                step = tool_step("tool_call", tool.name, call_id)
            index = run.timeline.add_next(start_ns, step)
            first += _INDEX % index
        else:
            settings.last_call = context
        if arguments is not None:
            first += _ARGUMENTS % escaped(arguments)
        facts = _Facts(identity, start_ns, parent_id, repeats, call_id, index, arguments)
        self.direct, self.tool, self.parent, self.run = direct, tool, parent, run
        self.first, self.facts, self.has_ended = first, facts, False
        self.span, self.context, self.beginning = direct.start(parent, placed, facts, first)
        return True

    def end(self, result: str | None) -> bool:
        """End the span; False, and nothing is done, where the end is an unusual one.

        Args:
            result: encoded by the content policy.
        """
        if self.has_ended:
            return True
        end_ns, direct = time_ns(), self.direct
        if result is not None and len(result) > direct.largest:
            return False
        span = self.span
        is_touched = len(vars(span)) != span.agentool_members
        if end_ns <= 0 or is_touched or settings.writer is not direct.writer:
            return False
        if not direct.form.accepts():  # it goes elsewhere
            return False
        self.has_ended = True
        try:
            self._end(result, end_ns)
        except BaseException as interruption:
            if is_interruption(interruption):
                cut_off(self.span, interruption)
            raise
        return True

    def _end(self, result: str | None, end_ns: int) -> None:
        tool, run, facts = self.tool, self.run, self.facts
        if exceptions.recorded:
            exceptions.forget(self.span)
        ending: dict[str, Any] = {}
        last = b""
        if result is not None:
            wrapped = result[:1] != "{"
            if wrapped:
                result = f'{{"result":{result}}}'
            ending[gen_ai.TOOL_CALL_RESULT] = result
            last = _RESULT % escaped(result)
            if wrapped:
                ending[agentool.TOOL_WRAPPED] = _WRAPPED
                last += _WRAPPED_RESULT
        if run is not None:
            step = tool.result_step
            if facts.call_id is not None:
                step = tool_step("tool_result", tool.name, facts.call_id)
            index = ending[agentool.STEP_RESULT_INDEX] = run.timeline.add_next(end_ns, step)
            last += _RESULT_INDEX % index
        if facts.repeats:
            ending[agentool.SPAN_END_NS] = end_ns
            last += _END_TIME % end_ns
        self.direct.end(self, ending, last, NO_EVENTS, end_ns)
        tool.duration.record((end_ns - facts.start_ns) / 1e9, self.context)
