"""The runs in progress, by LangChain's run id.

Callbacks of one run come from several threads and tasks; its id and its parent's are what holds
them together. Runs without a span of their own (chains, graph nodes) stand for the run around them.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from collections.abc import Mapping
from threading import Lock
from time import monotonic, perf_counter
from types import MappingProxyType
from typing import Any
from uuid import UUID

from msgspec.structs import replace
from opentelemetry.context import Context, create_key, get_current, set_value

from agentool_otel.emit.live import LiveSpan
from agentool_otel.emit.session import guarded
from agentool_otel.model.operations import AgentInvocation, Operation, ToolExecution
from agentool_otel.semconv import agentool

__all__ = ["LiveRun", "Plumbing", "Runs", "context_below", "interruption"]

_RUN_KEY = create_key("agentool-otel-langchain-run")


class LiveRun:
    """A run that has a span: a graph, a model call, a tool call or a retrieval."""

    __slots__ = (
        "_ended",
        "agent",
        "began_s",
        "context",
        "fields",
        "first_chunk_s",
        "handed",
        "interrupted",
        "live",
        "names",
        "operation",
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
        self.run_id = run_id
        self.live = live
        self.operation = operation
        self.agent = agent
        """The graph this run is a part of."""
        self.names = names
        """The conversation and the user that its config names."""
        self.context: Context = set_value(_RUN_KEY, self, live.context)
        self.fields: dict[str, Any] = {}
        """Content that was known at the start, for the end."""
        self.began_s = perf_counter()
        self.first_chunk_s: float | None = None
        self.interrupted: str | None = None
        self.handed: set[str] = set()
        """Targets of handoffs that have a span, for a graph; a node says the same again."""
        self.transfers: dict[str, Context] = {}
        """By node, the context of the handoff that leads to it."""
        self.registry: Runs | None = None
        self._ended = False

    def opened(self) -> None:
        """Say that `fields` holds what is known before the user's code runs."""
        self.live.opened(replace(self.operation, **self.fields))

    def chunk(self) -> None:
        """Note that a piece of a stream has come."""
        if self.first_chunk_s is None:
            self.first_chunk_s = perf_counter() - self.began_s

    def end(
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
        self._ended = True
        self.fields.update(fields)
        operation = replace(self.operation, **self.fields)
        extra = {} if extra is None else extra
        if error is not None and (why := interruption(error)) is not None:
            error, self.interrupted = None, why
            if isinstance(operation, ToolExecution):
                self.live.answers = False  # no result: the call is made again on resumption
                extra[agentool.TOOL_INCOMPLETE] = "call_only"
        if self.interrupted is not None:
            extra[agentool.INTERRUPTED] = self.interrupted
        if isinstance(operation, AgentInvocation):
            paused = self.interrupted not in (None, "ParentCommand")
            status = "error" if error is not None else "in_progress" if paused else "success"
            extra.setdefault(agentool.STATUS, status)
        self.live.end(operation, error, extra=extra)

    def failed(self, error: BaseException, /) -> None:
        """End with an exception that no callback has told of."""
        with guarded("finishing a LangChain run"):
            if self.registry is not None:
                self.registry.take(self.run_id)
            self.end({}, error)


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


class Runs:
    """The open runs, bounded by number and age: abandoned ones are ended as incomplete."""

    def __init__(self, limit: int = 10_000, age_s: float = 86_400.0):
        self._limit = limit
        self._age_s = age_s
        self._lock = Lock()
        self._open: OrderedDict[UUID, tuple[LiveRun | Plumbing, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._open)

    def add(self, run_id: UUID, run: LiveRun | Plumbing) -> None:
        if isinstance(run, LiveRun):
            run.registry = self
        now = monotonic()
        dropped: list[LiveRun | Plumbing] = []
        with self._lock:
            self._open[run_id] = (run, now)
            while self._open:
                oldest, (held, since) = next(iter(self._open.items()))
                if len(self._open) <= self._limit and now - since <= self._age_s:
                    break
                del self._open[oldest]
                dropped.append(held)
        for each in dropped:
            if isinstance(each, LiveRun):
                each.end({}, extra={agentool.INCOMPLETE: True, agentool.STATUS: "incomplete"})

    def get(self, run_id: UUID | None) -> LiveRun | Plumbing | None:
        """Return an open run."""
        found = None if run_id is None else self._open.get(run_id)
        return None if found is None else found[0]

    def above(self, run_id: UUID | None) -> LiveRun | Plumbing | None:
        """Return the parent of a run that starts; it and the run around it count as in use."""
        found = self.get(run_id)
        if found is not None and run_id is not None:
            now = monotonic()
            around = found if isinstance(found, LiveRun) else found.run
            with self._lock:
                for key, each in ((run_id, found), (around.run_id, around)):
                    if key in self._open:
                        self._open[key] = (each, now)
                        self._open.move_to_end(key)
        return found

    def take(self, run_id: UUID) -> LiveRun | Plumbing | None:
        """Return a run that ends, and forget it."""
        with self._lock:
            found = self._open.pop(run_id, None)
        return None if found is None else found[0]


def context_below(run: LiveRun | None) -> Context:
    """Return the context for what happens inside a run.

    The current one where it is the run's own, with whatever the user has put on top of it.
    """
    current = get_current()
    if run is None or current.get(_RUN_KEY) is run:
        return current
    return run.context


def interruption(error: BaseException) -> str | None:
    """Return what an exception says if it is control flow rather than a failure."""
    if isinstance(error, GeneratorExit):
        return "closed"
    bubble = imported("langgraph.errors", "GraphBubbleUp")
    return type(error).__name__ if bubble is not None and isinstance(error, bubble) else None


def imported(module: str, name: str) -> Any:
    """Return a name of a module if that is imported already: without it, nothing is an instance."""
    return getattr(sys.modules.get(module), name, None)
