"""The agent run in progress, as far as the spans inside it need to know of it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

from msgspec.structs import replace
from opentelemetry.context import Context, create_key, get_current

from agentool_otel.model.operations import AgentInvocation, Inference, Usage
from agentool_otel.semconv import agentool
from agentool_otel.tracing.spans.requested_calls import (
    Answer,
    Call,
    current_answers,
    open_answers,
    take,
)
from agentool_otel.tracing.spans.sdk_spans import parent_of
from agentool_otel.tracing.spans.steps import Timeline

__all__ = ["RUN_KEY", "Run", "current_run", "requested_id"]

RUN_KEY = create_key("agentool-otel-run")
_AWAITED = 256
"""Limit of the agents that are handed to and have not begun: more than models name in an answer."""
_MOST_ANSWERS = 64
"""Limit of the answers whose tool calls are kept."""


class Run:
    """State of the agent run in progress: its steps and totals so far."""

    __slots__ = (
        "answers",
        "cost_usd",
        "finish_reasons",
        "handed_to",
        "inference_calls",
        "input_tokens",
        "output_tokens",
        "timeline",
        "tokens",
        "tool_calls",
    )

    def __init__(self, timeline: Timeline):
        self.timeline = timeline
        self.inference_calls = 0
        self.tool_calls = 0
        self.tokens: int | None = None
        """Tokens of its own model calls, without those of runs inside."""
        self.cost_usd: float | None = None
        self.input_tokens: int | None = None
        """Tokens of all model calls below, those of runs inside included. Likewise the next."""
        self.output_tokens: int | None = None
        self.finish_reasons: list[str] | None = None
        """The reasons of the last model call below that has any."""
        self.handed_to: deque[str] = deque(maxlen=_AWAITED)
        """Agents named by a handoff whose own run has not begun yet."""
        self.answers: deque[Answer] = deque(maxlen=_MOST_ANSWERS)
        """Answers of models that request tool calls. Requests that no span executes, because their
        tools are not decorated, give way to later ones."""

    def pending(self) -> list[Call]:
        """Return the calls that models requested and no span has executed."""
        return [call for answer in self.answers for call in answer.pending]

    def count(self, operation: Inference) -> None:
        """Add one finished model call to the totals, and its reasoning to the timeline."""
        self.inference_calls += 1
        usage = operation.usage
        for tokens in () if usage is None else (usage.input_tokens, usage.output_tokens):
            if tokens is not None:
                self.tokens = (self.tokens or 0) + tokens
        if usage is not None:
            self._add_tokens(usage.input_tokens, usage.output_tokens)
        if operation.cost_usd is not None:
            self.cost_usd = (self.cost_usd or 0.0) + operation.cost_usd
        self.finish_reasons = operation.finish_reasons or self.finish_reasons

    def include(self, inner: Run) -> None:
        """Add the tokens of a run inside that has ended, and its finish reasons."""
        self._add_tokens(inner.input_tokens, inner.output_tokens)
        self.finish_reasons = inner.finish_reasons or self.finish_reasons

    def _add_tokens(self, input_tokens: int | None, output_tokens: int | None) -> None:
        if input_tokens is not None:
            self.input_tokens = (self.input_tokens or 0) + input_tokens
        if output_tokens is not None:
            self.output_tokens = (self.output_tokens or 0) + output_tokens

    def rolled_up(self, operation: AgentInvocation, with_usage: bool) -> AgentInvocation:
        """Return the operation of this run with the sums of the model calls below.

        Values that the operation has already stay.

        Args:
            operation: the agent invocation at its end.
            with_usage: whether the sum of the tokens is wanted, and not the finish reasons alone.

        Spec: GenAI conventions, `invoke_agent`: finish reasons, input and output tokens are
        recommended. Counts of cached tokens are for agents of a remote service.
        """
        fields: dict[str, Any] = {}
        has_usage = self.input_tokens is not None or self.output_tokens is not None
        if with_usage and has_usage and operation.usage is None:
            fields["usage"] = Usage(
                input_tokens=self.input_tokens, output_tokens=self.output_tokens
            )
        if self.finish_reasons is not None and operation.finish_reasons is None:
            fields["finish_reasons"] = self.finish_reasons
        return replace(operation, **fields) if fields else operation

    def totals(self) -> dict[str, Any]:
        """Return the totals by which samplers choose, as attributes for the run's root span. All
        others follow from the spans below, and are not repeated."""
        values: dict[str, Any] = {agentool.METRICS_TOOL_CALL_COUNT: self.tool_calls}
        if self.tokens is not None:
            values[agentool.METRICS_TOTAL_TOKENS] = self.tokens
        if self.cost_usd is not None:
            values[agentool.METRICS_TOTAL_COST_USD] = self.cost_usd
        return values


def current_run(context: Context | None = None) -> Run | None:
    """Return the innermost agent run of a context."""
    run = (get_current() if context is None else context).get(RUN_KEY)
    return run if isinstance(run, Run) else None


def requested_id(context: Context, name: str, arguments: Callable[[], Any]) -> str | None:
    """Return the id under which a model requested a tool call that begins now; None if unknown.

    Args:
        context: of the parent of the tool's span.
        name: of the tool.
        arguments: returns them as JSON; called where a call of this name is requested.
    """
    if not open_answers:
        return None
    run, parent_id = current_run(context), parent_of(context)
    answers = current_answers(parent_id) if run is None else run.answers
    return take(answers, name, arguments, parent_id)
