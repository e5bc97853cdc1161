"""The direct call of a decorated agent that is outside any run and returns text.

A run that turns out to be unusual goes on as a `LiveSpan` around the same span: after an exception,
with another result, with more steps than one span holds, or if other code has touched the span.
"""

from __future__ import annotations

from time import time_ns
from typing import TYPE_CHECKING, Any, NamedTuple

from opentelemetry.context import Context

from agentool_otel.content.masking.credentials import masked
from agentool_otel.content.policy import clean_start, span_name
from agentool_otel.ground.interruptions import is_interruption
from agentool_otel.ground.json_codec import dumps_as_utf8
from agentool_otel.model.operations import AgentInvocation
from agentool_otel.otlp.json_encoder import escaped, pairs_of
from agentool_otel.otlp.span_parts import Shared, shared_json
from agentool_otel.semconv import agentool, gen_ai
from agentool_otel.tracing.spans import exceptions, metrics
from agentool_otel.tracing.spans.direct_call import Direct, pairs
from agentool_otel.tracing.spans.eval_case import case_attributes
from agentool_otel.tracing.spans.failure import cut_off
from agentool_otel.tracing.spans.identity import IDENTITY_KEY
from agentool_otel.tracing.spans.live import KINDS, OWNER_KEY, TRANSFER_KEY
from agentool_otel.tracing.spans.run import RUN_KEY, Run
from agentool_otel.tracing.spans.sdk_spans import SPAN_KEY
from agentool_otel.tracing.spans.settings import policy_in, settings
from agentool_otel.tracing.spans.steps import Timeline

if TYPE_CHECKING:
    from agentool_otel.tracing.spans.direct_span import DirectSpan

__all__ = ["Agent", "DirectAgentSpan"]

_INPUT = pairs((gen_ai.INPUT_MESSAGES, "%b"))
_QUESTION = '[{{"role":"user","parts":[{{"type":"text","content":{}}}]}}]'
_ANSWER = '[{{"role":"assistant","parts":[{{"type":"text","content":{}}}],"finish_reason":"stop"}}]'
_set = dict.__setitem__


class Agent:
    """Values that all runs of a decorated agent share.

    Args:
        operation: a run of it, without what is known of one run only.
    """

    __slots__ = ("alone", "kind", "operation", "shared", "span_name")

    def __init__(self, operation: AgentInvocation):
        self.operation = operation
        name, kind, attributes = settings.dialect.draft(operation)
        clean_start(attributes)
        self.shared = Shared(attributes)
        self.span_name = span_name(name)
        self.kind = KINDS[kind]
        self.alone = Shared({gen_ai.AGENT_NAME: operation.agent_name})
        """The identity of what is inside a run, where nothing around it has one."""


class _Facts(NamedTuple):
    """What the attributes of a run's span are made of, beside those of its agent."""

    identity: Shared | None
    start_ns: int
    parent_id: int
    repeats: bool
    """Whether the span repeats its times and parent as attributes."""
    messages: str | None
    """The input."""

    def own(self) -> dict[str, Any]:
        own: dict[str, Any] = {}
        if self.messages is not None:
            own[gen_ai.INPUT_MESSAGES] = self.messages
        if self.repeats:
            own[agentool.SPAN_START_NS] = self.start_ns
            if self.parent_id:
                own[agentool.SPAN_PARENT_ID] = f"{self.parent_id:016x}"
        return own


class DirectAgentSpan:
    """The span of one direct run.

    Args:
        direct: what the direct runs of the agent share.
        agent: what it is a run of.
        parent: context of its parent, as `parent_for` gives it.
    """

    __slots__ = (
        *("agent", "beginning", "context", "direct", "facts", "first", "has_ended", "parent"),
        *("run", "span"),
    )
    span: DirectSpan
    beginning: bytes
    """Its ids and its start, in its line."""
    first: bytes
    """The attributes that it starts with, in its line."""
    facts: _Facts
    run: Run
    context: Context

    def __init__(self, direct: Direct, agent: Agent, parent: Context):
        self.direct = direct
        self.agent = agent
        self.parent = parent
        self.has_ended = False

    def begin(self, question: str | None) -> bool:
        """Begin the span; False, and nothing is done, where the run is an unusual one.

        Args:
            question: the input; None where content is off, or without any.
        """
        direct, parent = self.direct, self.parent
        around: Any = parent.get(IDENTITY_KEY)
        if parent.get(RUN_KEY) is not None or parent.get(OWNER_KEY) is not None:
            return False
        if around and not around.keys().isdisjoint(direct.attributes):
            return False
        if policy_in(parent) is not settings.policy or case_attributes(parent):
            return False
        messages: str | None = None
        if question is not None:
            messages = masked(_QUESTION.format(dumps_as_utf8(question)))
        if messages is not None and len(messages) > direct.largest:
            return False
        placed = direct.place(parent.get(SPAN_KEY)) if direct.form.accepts() else None
        start_ns = time_ns()
        if placed is None or placed[0][4] or start_ns <= 0:  # a trace state, or a frozen clock
            return False
        up = placed[1]
        parent_id = 0 if up is None else up[1]
        first = direct.shared
        if around:
            first = b"%b,%b" % (around.json or shared_json(around), first)
        if messages is not None:
            first += _INPUT % escaped(messages)
        repeats = settings.repeat_times
        if repeats and parent_id:
            first += direct.times_below % (start_ns, parent_id)
        elif repeats:
            first += direct.times % start_ns
        settings.last_call = None  # a run has its own failure
        self.first = first
        self.facts = facts = _Facts(around, start_ns, parent_id, repeats, messages)
        span, inside, self.beginning = direct.start(parent, placed, facts, first)
        self.span = span
        alone = self.agent.alone
        _set(inside, IDENTITY_KEY, Shared({**around, **alone}) if around else alone)
        self.run = run = Run(Timeline(settings.tracer(), span, inside))
        self.context = inner = Context(inside)
        _set(inner, TRANSFER_KEY, False)
        _set(inner, RUN_KEY, run)
        return True

    def end(self, answer: str | None) -> bool:
        """End the span; False, and nothing is done, where the end is an unusual one.

        Args:
            answer: the output; None where content is off.
        """
        if self.has_ended:
            return True
        messages: str | None = None
        if answer is not None:
            messages = masked(_ANSWER.format(dumps_as_utf8(answer)))
        end_ns, direct = time_ns(), self.direct
        if messages is not None and len(messages) > direct.largest:
            return False
        span = self.span
        is_touched = len(vars(span)) != span.agentool_members
        if end_ns <= 0 or is_touched or settings.writer is not direct.writer:
            return False
        if not direct.form.accepts():  # it goes elsewhere
            return False
        self.has_ended = True
        try:
            self._end(messages, end_ns)
        except BaseException as interruption:
            if is_interruption(interruption):
                cut_off(self.span, interruption)
            raise
        return True

    def _end(self, messages: str | None, end_ns: int) -> None:
        facts, run = self.facts, self.run
        if exceptions.recorded:
            exceptions.forget(self.span)
        ending: dict[str, Any] = {}
        if messages is not None:
            ending[gen_ai.OUTPUT_MESSAGES] = messages
        operation = run.rolled_up(self.agent.operation, settings.agent_usage)
        if operation is not self.agent.operation:
            rolled_up = settings.dialect.draft(operation).attributes
            ending |= {
                key: value for key, value in rolled_up.items() if key not in self.direct.attributes
            }
        ending[agentool.STATUS] = "success"
        ending |= run.totals()
        if facts.repeats:
            ending[agentool.SPAN_END_NS] = end_ns
        last = b"" if self.direct.form.request else b"," + pairs_of(ending)
        self.direct.end(self, ending, last, run.timeline.take(), end_ns)
        metrics.record(operation, (end_ns - facts.start_ns) / 1e9, run, self.context)
