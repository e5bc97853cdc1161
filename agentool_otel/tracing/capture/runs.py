"""`run`: an agent's run whose steps are reported by hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from time import time_ns
from types import TracebackType
from typing import Any

from opentelemetry.context import attach, get_current
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
from agentool_otel.tracing.spans.attaching import restore
from agentool_otel.tracing.spans.identity import identify, names_of
from agentool_otel.tracing.spans.live import LiveSpan, begin
from agentool_otel.tracing.spans.settings import guarded, settings

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
        self._input: dict[str, Any] = {}
        self._asked: Any = None
        self._live: LiveSpan | None = None
        self._open: dict[str, tuple[LiveSpan, ToolExecution]] = {}
        self._token: Any = None

    # ---- the block
    def __enter__(self) -> AgentRun:
        with guarded(f"starting run {self.name}"):
            operation = self._operation()
            context = identify(get_current(), names_of(self.session_id, self.user_id))
            self._live = live = begin(operation, parent=context, content_follows=True)
            if live is not None:
                if live.recording:
                    self._asked = self.input
                    input_attributes = _content_attribute(
                        self.input, "user", gen_ai.INPUT_MESSAGES, agentool.INPUT
                    )
                    attributes = {**input_attributes, **metadata_text(self.metadata)}
                    self._input = {} if live.opened(operation, attributes) else input_attributes
                self._token = attach(live.context)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._token is not None:
            restore(self._token)
        with guarded(f"finishing run {self.name}"):
            if self._live is not None:
                self._finish(self._live, error)

    # ---- for whoever judges it
    @property
    def span(self) -> Span:
        """The run's span; one that is not valid before the block, or without telemetry."""
        return INVALID_SPAN if self._live is None else self._live.span

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
            if self._live is not None and self._live.recording:
                add_reasoning(self._live.run, as_text(content), context_tokens)

    def tool_call(self, name: str, arguments: Any = None, id: str | None = None) -> str:
        """Report that a tool is called; the span is open until `tool_result`.

        Returns:
            The call's id, made up where none is given.
        """
        call_id = id
        with guarded("reporting a tool call"):
            value = jsonable({} if arguments is None else arguments)
            operation = ToolExecution(name=label(name), tool_type="function", arguments=value)
            live = None
            if self._live is not None:
                parent = self._live.context
                with_call_id = operation if id is None else _with_fields(operation, call_id=id)
                live = begin(_bare(with_call_id), parent=parent, content_follows=True)
            if call_id is None:
                call_id = f"call_{live.span_id}" if live is not None else f"call_{time_ns():x}"
                operation = _with_fields(operation, call_id=call_id)
            else:
                operation = _with_fields(operation, call_id=call_id)
            if live is not None:
                live.opened(operation)
                if call_id in self._open:  # the id again: the first call stays without a result
                    self._close(*self._open.pop(call_id))
                self._open[call_id] = (live, operation)
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
            if self._live is None:
                return
            live, operation = self._open.pop(call_id, (None, None))
            if live is None or operation is None:  # a result nobody announced a call for
                operation = ToolExecution(name="unknown", tool_type="function", call_id=call_id)
                live = begin(_bare(operation), parent=self._live.context, announced=False)
                if live is None:
                    return
                live.essentials[agentool.TOOL_INCOMPLETE] = "result_only"
            operation = _with_fields(
                operation,
                result=UNSET if output is None and error is not None else jsonable(output),
                tool_error=error,
                error_type="tool_error" if error is not None else None,
                error_message=error,
                duration_ms=duration_ms,
                cost_tokens=cost_tokens,
            )
            live.end(operation)

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
    def _instant(self, operation: Operation, **content: Any) -> None:
        with guarded(f"reporting a {operation.kind} step"):
            if self._live is not None:
                live = begin(operation, parent=self._live.context)
                if live is not None:
                    live.end(_with_fields(operation, **content))

    def _close(self, live: LiveSpan, operation: ToolExecution) -> None:
        live.answers = False
        live.essentials[agentool.TOOL_INCOMPLETE] = "call_only"
        live.end(operation)

    def _finish(self, live: LiveSpan, error: BaseException | None) -> None:
        for open_call in self._open.values():
            self._close(*open_call)
        self._open.clear()
        status = "error" if error is not None else "success"
        if self.status is not None:
            status = label(self.status)
        failed = status in FAILED_STATUSES and error is None
        ending = "error" if failed or error is not None else "stop"
        operation = _with_fields(self._operation(), error_type=status if failed else None)
        if self.input is not self._asked:  # set inside the block
            self._input = _content_attribute(
                self.input, "user", gen_ai.INPUT_MESSAGES, agentool.INPUT
            )
        extra: dict[str, Any] = {
            agentool.STATUS: status,
            **names_of(self.session_id, self.user_id),
            **self._input,
            **_content_attribute(
                self.output, "assistant", gen_ai.OUTPUT_MESSAGES, agentool.OUTPUT, ending
            ),
            **metadata_text(self.metadata),
        }
        live.end(operation, error, extra=extra)

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


def _with_fields(operation: Any, **fields: Any) -> Any:
    import msgspec

    return msgspec.structs.replace(operation, **fields)


def _bare(operation: ToolExecution) -> ToolExecution:
    """The operation without content, for the start of its span."""
    return _with_fields(operation, arguments=UNSET, result=UNSET)  # type: ignore[no-any-return]
