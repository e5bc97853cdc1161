"""A tool that an agent or a program calls.

Source: llama-index-core tools/ and agent/workflow/ at 0.13 and 0.14.
"""

from __future__ import annotations

from asyncio import CancelledError
from collections.abc import Callable
from typing import Any

from opentelemetry.context import get_current

from agentool_otel.content.encoding.introspection import class_name
from agentool_otel.content.policy import jsonable
from agentool_otel.integrations.llama_index.instrumentor import messages
from agentool_otel.integrations.llama_index.instrumentor.models import SCOPE
from agentool_otel.model.operations import ToolExecution
from agentool_otel.providers.fields import get, items, plain_text, string
from agentool_otel.tracing.spans.exceptions import str_of
from agentool_otel.tracing.spans.finalizers import when_safe
from agentool_otel.tracing.spans.identity import agent_of
from agentool_otel.tracing.spans.run import requested_id
from agentool_otel.tracing.spans.step_spans import StepSpan, start_step

__all__ = ["Tool", "ToolFunction", "description_of"]


class Tool:
    """A tool that is executed."""

    __slots__ = ("_wait", "cancelled", "error", "name", "step")

    def __init__(self, step: StepSpan, name: str, wait: Callable[[Tool], bool] | None = None):
        """
        Args:
            step: its span.
            name: of the tool.
            wait: keeps a tool that waits for an event, and returns whether it does.
        """
        self.step = step
        self._wait = wait
        self.cancelled = False
        """Whether its workflow has been cancelled."""
        self.name = name
        self.error: BaseException | None = None
        """What its function has raised, where LlamaIndex keeps nothing but the text of it."""

    @classmethod
    def of(cls, tool: Any, arguments: Any, around: Any) -> Tool | ToolFunction:
        """Start the span of a tool that is called, unless this is the function of one that has.

        Args:
            tool: the tool.
            arguments: as JSON.
            around: the work that calls it.
        """
        metadata = get(tool, "_metadata")
        name = string(metadata, "name") or class_name(type(tool))
        above = around.tool if isinstance(around, ToolFunction) else around
        if isinstance(above, Tool) and above.name == name:
            return ToolFunction(above)
        context = get_current()
        operation = ToolExecution(
            name=name,
            call_id=requested_id(context, name, lambda: jsonable(arguments)),
            tool_type="function",
            description=string(metadata, "description"),
            agent_name=agent_of(context),
        )
        step = start_step(
            operation,
            description="a tool",
            scope=SCOPE,
            content=lambda: {"arguments": jsonable(arguments)},
        )
        return cls(step, name)

    def returned(self, result: Any) -> None:
        """End with a `ToolCallResult` or a `ToolOutput`; with neither it waits, or is cancelled."""
        if self.cancelled:
            self.step.end(CancelledError())
            return
        output = get(result, "tool_output")
        output = result if output is None else output
        if output is None and self._wait is not None:
            if not self._wait(self):
                self.leave_open()
            return
        self.step.add(lambda: {"result": _result(output)})
        if get(output, "is_error") is not True:
            self.step.end()
            return
        error = get(output, "_exception")
        error = error if isinstance(error, BaseException) else self.error
        if error is not None:
            self.failed(error)
            return
        self.step.set(error_type="tool_error")
        self.step.add(lambda: {"tool_error": plain_text(_told(output))})
        self.step.end()

    def leave_open(self) -> None:
        """End without a result: a later run calls it again."""
        self.step.leave_unanswered()
        self.step.end(interrupted="WaitingForEvent")

    def failed(self, error: BaseException) -> None:
        """End with an exception."""
        if isinstance(error, GeneratorExit):
            when_safe(self._close)
            return
        self.step.add(lambda: {"tool_error": str_of(error)})
        self.step.end(error)

    def _close(self) -> None:
        self.step.end(interrupted="closed")


class ToolFunction:
    """The function of a tool that has a span."""

    __slots__ = ("step", "tool")

    def __init__(self, tool: Tool):
        self.tool = tool
        self.step = tool.step

    def returned(self, _: Any) -> None:
        """Leave the result to the tool."""

    def failed(self, error: BaseException) -> None:
        self.tool.error = error


def description_of(agent: Any, name: str) -> str | None:
    """Return the description of one of the tools of an agent."""
    for tool in items(agent, "tools"):
        metadata = get(tool, "_metadata")
        if string(metadata, "name") == name:
            return string(metadata, "description")
    return None


def _told(output: Any) -> Any:
    """Return what the model is told."""
    words = messages.text_in(get(output, "blocks"))
    return jsonable(get(output, "blocks")) if words is None else words


def _result(output: Any) -> Any:
    raw = get(output, "raw_output")
    if get(output, "blocks") is None:
        return jsonable(output)
    if type(raw) in (dict, list, int, float, bool):
        return jsonable(raw)
    return _told(output)
