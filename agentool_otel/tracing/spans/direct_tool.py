"""The direct call: the span of a decorated tool where nothing unusual is around.

Its lines are put together from templates and written at once; no attributes are collected, and none
of the layers between a call and its file is passed. A call that turns out to be unusual goes on as
a `ToolSpan` around the same span: after an exception, with a large text, or if other code has
touched the span.
"""

from __future__ import annotations

from collections.abc import Callable
from time import time_ns
from typing import TYPE_CHECKING, Any, NamedTuple

from opentelemetry.context import Context

from agentool_otel.content.policy import encode
from agentool_otel.ground.interruptions import is_interruption
from agentool_otel.ground.json_codec import loads
from agentool_otel.otlp.json_encoder import escaped, pairs_of
from agentool_otel.otlp.span_parts import Shared, shared_json, template
from agentool_otel.semconv import agentool, gen_ai
from agentool_otel.tracing.spans import exceptions
from agentool_otel.tracing.spans.failure import cut_off
from agentool_otel.tracing.spans.identity import IDENTITY_KEY
from agentool_otel.tracing.spans.requested_calls import open_answers
from agentool_otel.tracing.spans.run import RUN_KEY, requested_id
from agentool_otel.tracing.spans.sdk_spans import OURS_KEY, SPAN_KEY, short_way
from agentool_otel.tracing.spans.settings import SCOPE, settings
from agentool_otel.tracing.spans.steps import tool_step

if TYPE_CHECKING:
    from agentool_otel.tracing.spans.direct_span import DirectSpan
    from agentool_otel.tracing.spans.live_tool import Tool
    from agentool_otel.tracing.spans.own_span import SpanForm, SpanWriter
    from agentool_otel.tracing.spans.run import Run
    from agentool_otel.tracing.spans.sdk_spans import Placed

__all__ = ["SMALL", "DirectTool", "DirectToolSpan"]

SMALL = 8192
"""Characters of text below which an attribute is copied, and not kept apart."""


def _pairs(*attributes: tuple[str, str]) -> bytes:
    """Return a template of pairs behind others."""
    return b"," + template(*attributes)


_TIME = _pairs((agentool.SPAN_START_NS, "%d"))
_TIME_AND_PARENT = _pairs((agentool.SPAN_START_NS, "%d"), (agentool.SPAN_PARENT_ID, "%016x"))
_CALL_ID = _pairs((gen_ai.TOOL_CALL_ID, "%b"))
_INDEX = _pairs((agentool.STEP_INDEX, "%d"))
_ARGUMENTS = _pairs((gen_ai.TOOL_CALL_ARGUMENTS, "%b"))
_RESULT = _pairs((gen_ai.TOOL_CALL_RESULT, "%b"))
_WRAPPED = ["result"]
_WRAPPED_RESULT = b"," + pairs_of({agentool.TOOL_WRAPPED: _WRAPPED})
_RESULT_INDEX = _pairs((agentool.STEP_RESULT_INDEX, "%d"))
_END_TIME = _pairs((agentool.SPAN_END_NS, "%d"))


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

    def all(self, tool: Tool) -> dict[str, Any]:
        """Return all attributes that the span starts with."""
        return {**(self.identity or {}), **tool.shared, **self.own()}


class DirectTool:
    """What the direct calls of one tool share, in one configuration.

    Args:
        tool: the tool.
        writer: what writes the calls.
        place: gives the place of a span below another one.
        form: how the spans are written.
    """

    __slots__ = ("child", "form", "place", "root", "shared", "span_class", "tool", "writer")

    def __init__(
        self,
        tool: Tool,
        writer: SpanWriter,
        place: Callable[[Any], Placed | None],
        form: SpanForm,
    ):
        self.tool = tool
        self.writer = writer
        self.form = form
        self.place = place
        self.root, self.child = form.templates.root, form.templates.child
        self.shared = tool.shared.json or shared_json(tool.shared)
        self.span_class = form.span_class

    @classmethod
    def of(cls, tool: Tool, writer: SpanWriter) -> DirectTool | None:
        """Return what the direct calls of a tool share; None where all calls are unusual."""
        short = short_way(settings.tracers.get(SCOPE) or settings.tracer())
        if short is None:
            return None

        def attributes_of(span: DirectSpan) -> dict[str, Any]:
            facts: Any = span.facts
            attributes: dict[str, Any] = facts.all(tool)
            attributes.update(span.ending)
            return attributes

        form = writer.form(short.span_class, tool.span_name, tool.kind, attributes_of)
        return None if form is None else cls(tool, writer, short.place, form)

    def __reduce__(self) -> tuple[Any, ...]:
        return _none, ()  # made anew in another process


def _none() -> None:
    return None


_new = object.__new__
_set = dict.__setitem__


class DirectToolSpan:
    """The span of one direct call."""

    __slots__ = (
        *("_ended", "_facts", "beginning", "context", "direct", "first", "parent", "run", "span"),
    )
    span: DirectSpan
    beginning: bytes
    """Its ids and its start, in its line."""
    first: bytes
    """The attributes that it starts with, in its line."""

    def __init__(self, direct: DirectTool, parent: Context):
        self.direct = direct
        self.parent = parent
        self._ended = False

    @property
    def facts(self) -> _Facts:
        return self._facts

    def begin(self, bound: dict[str, Any], arguments: str | None) -> bool:
        """Begin the span; False, and nothing is done, where the call is an unusual one.

        Args:
            bound: the arguments by name.
            arguments: the same encoded under the content policy.
        """
        direct, parent = self.direct, self.parent
        if arguments is not None and (
            len(arguments) >= SMALL or len(arguments) * 4 > settings.policy.sizes.attribute
        ):
            return False
        tool = direct.tool
        identity: Any = parent.get(IDENTITY_KEY)
        if identity and not identity.keys().isdisjoint(tool.shared):
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
            first += _TIME_AND_PARENT % (start_ns, parent_id)
        elif repeats:
            first += _TIME % start_ns
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
        self.run: Run | None = run
        self._facts = facts
        self.first = first
        self.span = span = _new(direct.span_class)
        span._context, span._parent = placed
        span._start_time = start_ns
        span.facts = facts
        if parent_id:
            beginning = direct.child % (context[0], context[1], parent_id, start_ns)
        else:
            beginning = direct.root % (context[0], context[1], start_ns)
        self.beginning = beginning
        self.context = inner = Context(parent)
        _set(inner, SPAN_KEY, span)  # ours alone still; the API's own method refuses
        _set(inner, OURS_KEY, span)
        direct.form.started(span, context[1], beginning, first)
        return True

    def end(self, result: str | None) -> bool:
        """End the span; False, and nothing is done, where the end is an unusual one.

        Args:
            result: encoded by the content policy.
        """
        if self._ended:
            return True
        direct, span, facts = self.direct, self.span, self._facts
        end_ns = time_ns()
        if len(vars(span)) != span.agentool_members or end_ns <= 0:
            return False
        if settings.writer is not direct.writer or not direct.form.accepts():
            return False
        if result is not None:
            characters = len(facts.arguments or "") + len(result)
            if len(result) >= SMALL or characters * 4 > settings.policy.sizes.attribute:
                return False
        self._ended = True
        try:
            self._end(result, end_ns)
        except BaseException as interruption:
            if is_interruption(interruption):
                cut_off(span, interruption)
            raise
        return True

    def _end(self, result: str | None, end_ns: int) -> None:
        direct, span, facts = self.direct, self.span, self._facts
        tool, run = direct.tool, self.run
        if exceptions.recorded:
            exceptions.forget(span)
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
        span._end_time = end_ns
        span.ending = ending
        form = direct.form
        document: bytes
        if form.request is None:
            document = form.templates.ended % (self.beginning, end_ns, self.first, last)
        else:
            shared = (facts.identity, tool.shared) if facts.identity else tool.shared_alone
            own = {**facts.own(), **ending}
            document = form.request(
                *(span._context, facts.parent_id, facts.start_ns, end_ns, shared, own)
            )
        form.ended(span._context[1], (document,), end_ns)
        tool.duration.record((end_ns - facts.start_ns) / 1e9, self.context)
