"""The runs in progress, by LangChain's run id.

Callbacks of one run come from several threads and tasks; its id and its parent's are what holds
them together. Runs without a span of their own (chains, graph nodes) stand for their parent run.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from types import MappingProxyType
from typing import Any
from uuid import UUID

from opentelemetry.context import Context, create_key, get_current, set_value

from agentool_otel.content.policy import encode
from agentool_otel.integrations.langchain.instrumentor.interrupts import CLOSED, interruption
from agentool_otel.model.messages import Message, message, text
from agentool_otel.model.operations import AgentInvocation, Operation, ToolExecution
from agentool_otel.semconv import agentool
from agentool_otel.tracing.spans.exceptions import failed_status
from agentool_otel.tracing.spans.live import LiveSpan
from agentool_otel.tracing.spans.settings import guarded
from agentool_otel.tracing.spans.step_spans import OpenSpans, StepSpan, incomplete

__all__ = ["LiveRun", "Plumbing", "Runs", "context_below"]

_RUN_KEY = create_key("agentool-otel-langchain-run")


class LiveRun(StepSpan):
    """A run that has a span: a graph, a model call, a tool call or a retrieval."""

    __slots__ = (
        "agent",
        "answer",
        "calls_tools_only",
        "handed",
        "interrupted",
        "names",
        "questions",
        "registry",
        "run_id",
        "transfers",
    )

    def __init__(
        self,
        run_id: UUID,
        live: LiveSpan,
        operation: Operation,
        agent: LiveRun | None,
        names: Mapping[str, str] = MappingProxyType({}),
    ):
        super().__init__(live, operation, "a LangChain run")
        self.context = set_value(_RUN_KEY, self, live.context)
        self.run_id = run_id
        self.agent = agent
        """The graph this run is a part of."""
        self.names = names
        """The conversation and the user that its config names."""
        self.interrupted: str | None = None
        self.calls_tools_only = False
        """Whether this is a graph of a model and its tools: an answer of the model ends it."""
        self.answer: list[Message] | None = None
        """That answer, once it has come."""
        self.questions: dict[str, Any] = {}
        """Questions of its nodes to a human, which stop the graph, by the id of the interrupt."""
        self.handed: set[str] = set()
        """Targets of handoffs that have a span, for a graph; a node repeats them."""
        self.transfers: dict[str, Context] = {}
        """By node, the context of the handoff that leads to it."""
        self.registry: Runs | None = None

    def finish(
        self,
        fields: dict[str, Any],
        error: BaseException | None = None,
        extra: dict[str, Any] | None = None,
    ) -> None:
        """End the span, once.

        Args:
            fields: what is known of the operation by now.
            error: what ended it, if not a result; control flow is not an error.
            extra: further attributes.
        """
        if self._ended:
            return
        self.fields.update(fields)
        extra = {} if extra is None else extra
        if error is not None and (why := interruption(error)) is not None:
            error, self.interrupted = None, why
            if why == CLOSED and self.answer is not None:  # left after its end
                self.interrupted = None
                self.fields.setdefault("output", self.answer)
            if isinstance(self.operation, ToolExecution):
                self.leave_unanswered()  # it is called again on resumption
        if isinstance(self.operation, AgentInvocation):
            paused = self.interrupted not in (None, "ParentCommand")
            if error is not None:
                status = failed_status(error)
            else:
                status = "in_progress" if paused else "success"
            extra.setdefault(agentool.STATUS, status)
            if paused and error is None and self.questions:
                self._put_questions(extra)
        self.end(error, interrupted=self.interrupted, extra=extra)

    def _put_questions(self, extra: dict[str, Any]) -> None:
        """Make the questions to a human the output: several by the ids of their interrupts, as
        LangGraph takes the answers.
        """
        several = len(self.questions) > 1
        questions = self.questions if several else next(iter(self.questions.values()))
        if isinstance(questions, str):
            self.fields["output"] = [message("assistant", [text(questions)], "stop")]
        else:
            extra[agentool.OUTPUT] = encode(questions)

    def failed(self, error: BaseException, /) -> None:
        """End with an exception that no callback has reported."""
        with guarded("finishing a LangChain run"):
            if self.registry is not None:
                self.registry.take(self.run_id)
            self.finish({}, error)


class Plumbing:
    """A run without a span, inside one that has one; nested plumbing shares the object."""

    __slots__ = ("node", "run", "run_id", "transfer")

    def __init__(self, run: LiveRun, run_id: UUID, node: str | None, transfer: Context | None):
        self.run = run
        self.run_id = run_id
        self.node = node
        """The graph node it is."""
        self.transfer = transfer
        """The handoff that led to this node; the first graph inside is its child."""


class Runs(OpenSpans["LiveRun | Plumbing"]):
    """The open runs, bounded by number and age: abandoned ones are ended as incomplete."""

    def __init__(self, limit: int = 10_000, age_s: float = 86_400.0):
        super().__init__(_abandon, limit, age_s)

    def add(self, key: Hashable, span: LiveRun | Plumbing) -> None:
        if isinstance(span, LiveRun):
            span.registry = self
        super().add(key, span)

    def above(self, run_id: UUID | None) -> LiveRun | Plumbing | None:
        """Return the parent of a run that starts; both count as in use."""
        parent = self.get(run_id)
        if parent is not None and run_id is not None:
            outer = parent if isinstance(parent, LiveRun) else parent.run
            self.touch(run_id, outer.run_id)
        return parent


def _abandon(run: LiveRun | Plumbing) -> None:
    if isinstance(run, LiveRun):
        run.finish({}, extra=incomplete())


def context_below(run: LiveRun | None) -> Context:
    """Return the context for work inside a run.

    The current one where it is the run's own, with whatever the user has put on top of it.
    """
    current = get_current()
    if run is None or current.get(_RUN_KEY) is run:
        return current
    return run.context
