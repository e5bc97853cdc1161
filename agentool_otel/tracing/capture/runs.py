"""`run`: an agent's run whose steps are reported by hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from time import time_ns
from types import TracebackType
from typing import Any

from msgspec.structs import replace
from opentelemetry.context import get_current
from opentelemetry.trace import INVALID_SPAN, Span

from agentool_otel.content.policy import as_text, encode, jsonable, label, masked_description
from agentool_otel.model.messages import message, text
from agentool_otel.model.operations import (
    UNSET,
    AgentInvocation,
    MemoryOperation,
    Operation,
    ToolExecution,
    records_in,
)
from agentool_otel.model.statuses import FAILED_STATUSES
from agentool_otel.semconv import agentool, gen_ai
from agentool_otel.tracing.capture._call_sites import add_reasoning
from agentool_otel.tracing.capture._sync_async import BothWays
from agentool_otel.tracing.capture.labels import labels, metadata_text
from agentool_otel.tracing.spans.exceptions import failed_status
from agentool_otel.tracing.spans.identity import identify, names_of
from agentool_otel.tracing.spans.live import begin
from agentool_otel.tracing.spans.settings import guarded, settings
from agentool_otel.tracing.spans.step_spans import StepSpan

__all__ = ["AgentRun", "run"]
"""The statuses of a run that make its span an error; the status is the `error.type`."""


class AgentRun(BothWays):
    """One run in progress. Use it as a context manager, `with` or `async with`.

    Attributes:
        output: the result of the run; set it before the block ends. None is no output.
        status: the status at the end. Unset, it is `success`, or `error` if an exception leaves the
            block.
        tags: short texts for finding and grouping runs.
        metadata: JSON object with any further data of the run.
    """

    def __init__(
        self,
        name: str,
        input: Any = None,
        *,
        session_id: str | None = None,
        user_id: str | None = None,
        case_id: str | None = None,
        tags: Iterable[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        description: str | None = None,
    ):
        self.name = name
        self.input = input
        self.session_id = session_id
        self.user_id = user_id
        self.output: Any = None
        self.status: str | None = None
        self.tags: list[str] = []
        self.metadata: dict[str, Any] = {}
        with guarded(f"reading the labels of run {name}"):
            self.tags += [tags] if isinstance(tags, str) else tags or ()
            self.metadata.update(metadata or {})
        self._case_id = case_id
        self._description = masked_description(description)
        self._recorded_input: Any = None
        self._step: StepSpan | None = None
        self._open: dict[str, StepSpan] = {}

    # ---- the block
    def __enter__(self) -> AgentRun:
        with guarded(f"starting run {self.name}"):
            operation = self._operation()
            context = identify(get_current(), names_of(self.session_id, self.user_id))
            live = begin(operation, parent=context, content_follows=True)
            self._step = step = StepSpan(live, operation, f"run {self.name}", context)
            if step.recording:
                self._recorded_input = self.input
                step.mark({**self._input_attributes(), **metadata_text(self.metadata)})
                step.open()
        if self._step is not None:
            self._step.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        step = self._step
        if step is not None:
            try:
                step.leave()
            finally:
                with guarded(f"finishing run {self.name}"):
                    self._finish(step, error)

    # ---- for whoever judges it
    @property
    def span(self) -> Span:
        """The run's span; one that is not valid before the block, or without telemetry."""
        live = None if self._step is None else self._step.live
        return INVALID_SPAN if live is None else live.span

    @property
    def trace_id(self) -> str | None:
        """The id of the run's OTel trace in hex, by which `score` and every store find it; None
        before the block, or without telemetry."""
        trace_id = self.span.get_span_context().trace_id
        return f"{trace_id:032x}" if trace_id else None

    # ---- steps
    def reasoning(self, content: str, context_tokens: int | None = None) -> None:
        """Report a thought."""
        with guarded("reporting a reasoning step"):
            step = self._step
            if step is not None and step.live is not None and step.recording:
                add_reasoning(step.live.run, as_text(content), context_tokens)

    def tool_call(self, name: str, arguments: Any = None, id: str | None = None) -> str:
        """Report that a tool is called; the span is open until `tool_result`.

        Returns:
            The call's id, made up where none is given.
        """
        call_id = id
        with guarded("reporting a tool call"):
            value = jsonable({} if arguments is None else arguments)
            step = self._begin(
                ToolExecution(name=label(name), tool_type="function", call_id=call_id)
            )
            if call_id is None:
                live = None if step is None else step.live
                call_id = f"call_{time_ns():x}" if live is None else f"call_{live.span_id}"
            if step is not None:
                step.set(call_id=call_id)
                step.open(lambda: {"arguments": value})
                if call_id in self._open:  # the id again: the first call stays without a result
                    self._close(self._open.pop(call_id))
                self._open[call_id] = step
        return call_id if call_id is not None else ""

    def tool_result(
        self,
        call_id: str,
        output: Any = None,
        error: str | None = None,
        duration_ms: float | None = None,
        cost_tokens: int | None = None,
    ) -> None:
        """Report what a tool call gave, or the error it ended with."""
        with guarded("reporting a tool result"):
            step = self._open.pop(call_id, None)
            if step is None:  # a result nobody announced a call for
                operation = ToolExecution(name="unknown", tool_type="function", call_id=call_id)
                step = self._begin(operation, announced=False)
                if step is None:
                    return
                step.mark({agentool.TOOL_INCOMPLETE: "result_only"})
            step.set(
                result=UNSET if output is None and error is not None else jsonable(output),
                tool_error=error,
                error_type="tool_error" if error is not None else None,
                error_message=error,
                duration_ms=duration_ms,
                cost_tokens=cost_tokens,
            )
            step.end()

    def handoff(self, to_agent: str, message: str | None = None) -> None:
        """Report that the run hands over to another agent."""
        self._instant(
            ToolExecution(
                name=f"transfer_to_{label(to_agent)}",
                tool_type="function",
                transfer_target=label(to_agent),
            ),
            transfer_message=None if message is None else as_text(message),
        )

    def memory_read(self, query: str, results: Any = UNSET) -> None:
        """Report a look into memory and what it gave."""
        documents = results if results is UNSET else jsonable(results)
        count = None if results is UNSET else records_in(documents)
        operation = MemoryOperation(operation="search_memory", record_count=count)
        self._instant(operation, query=query, results=documents)

    def memory_write(self, content: Any, key: str | None = None) -> None:
        """Report that something is remembered."""
        self._instant(
            MemoryOperation(
                operation="upsert_memory",
                record_id=None if key is None else label(key),
                record_count=1,
            ),
            content=jsonable(content),
        )

    # ---- insides
    def _begin(self, operation: Operation, announced: bool = True) -> StepSpan | None:
        """Start a step of the run; None before its block, or without telemetry."""
        run = self._step
        if run is None or run.live is None:
            return None
        live = begin(operation, parent=run.context, announced=announced, content_follows=announced)
        return None if live is None else StepSpan(live, operation, f"a {operation.kind} step")

    def _instant(self, operation: Operation, **content: Any) -> None:
        with guarded(f"reporting a {operation.kind} step"):
            step = self._begin(operation)
            if step is not None:
                step.open(lambda: content)
                step.end()

    def _close(self, step: StepSpan) -> None:
        step.leave_unanswered()
        step.end()

    def _finish(self, step: StepSpan, error: BaseException | None) -> None:
        for open_call in self._open.values():
            self._close(open_call)
        self._open.clear()
        status = "success" if error is None else failed_status(error)
        if self.status is not None:
            status = label(self.status)
        failed = status in FAILED_STATUSES and error is None
        ending = "error" if failed or error is not None else "stop"
        step.operation = replace(self._operation(), error_type=status if failed else None)
        is_same_input = self.input is self._recorded_input  # else it was set inside the block
        extra: dict[str, Any] = {
            agentool.STATUS: status,
            **names_of(self.session_id, self.user_id),
            **({} if is_same_input else self._input_attributes()),
            **_content_attribute(
                self.output, "assistant", gen_ai.OUTPUT_MESSAGES, agentool.OUTPUT, ending
            ),
            **metadata_text(self.metadata),
        }
        step.end(error, extra=extra)

    def _input_attributes(self) -> dict[str, Any]:
        return _content_attribute(self.input, "user", gen_ai.INPUT_MESSAGES, agentool.INPUT)

    def _operation(self) -> AgentInvocation:
        return AgentInvocation(
            agent_name=label(self.name),
            agent_description=self._description,
            extra=labels(self.tags, self._case_id),
        )


def run(
    name: str,
    input: Any = None,
    *,
    session_id: str | None = None,
    user_id: str | None = None,
    case_id: str | None = None,
    tags: Iterable[str] | None = None,
    metadata: Mapping[str, Any] | None = None,
    description: str | None = None,
) -> AgentRun:
    """Record a block of code as one run of an agent.

    Args:
        name: the agent's name; the trace's `agent_id`.
        input: the input of the run.
        session_id: the conversation it belongs to; by default that of the parent run or session.
        user_id: the user it is for, by an id that may be stored; by default that of the parent.
            Like conversation and agent, it is on every span below.
        case_id: the evaluation case that the run belongs to.
        tags: short texts for finding and grouping runs.
        metadata: JSON object with any further data of the run; more can be added inside the block.
        description: the purpose of the agent.

    Returns:
        A context manager that yields the run, whose methods report its steps. Tools and model calls
        inside the block belong to it.
    """
    return AgentRun(
        name,
        input,
        session_id=session_id,
        user_id=user_id,
        case_id=case_id,
        tags=tags,
        metadata=metadata,
        description=description,
    )


def _content_attribute(
    value: Any, role: str, messages: str, other: str, ending: str | None = None
) -> dict[str, Any]:
    """A run's input or output as an attribute: a text as a message, anything else as JSON."""
    if value is None or not settings.policy.capture:
        return {}
    if type(value) is str:
        return {messages: encode([message(role, [text(value)], ending)])}
    return {other: encode(value)}
