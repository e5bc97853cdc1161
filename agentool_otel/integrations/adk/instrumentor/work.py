"""A run, or an agent in one: the work that steps belong to, its events and its end."""

from __future__ import annotations

from asyncio import CancelledError
from typing import Any, Protocol

from opentelemetry.context import Context, create_key, set_value

from agentool_otel.integrations.adk.instrumentor import contents
from agentool_otel.model.messages import Message
from agentool_otel.providers.fields import get, string
from agentool_otel.tracing.spans.settings import guarded
from agentool_otel.tracing.spans.step_spans import StepSpan

__all__ = ["SCOPE", "OpenStep", "Work", "at_work"]

SCOPE = "agentool_otel.instrumentation.google_adk"
"""Recordings hold this name, so it stays when the module moves."""

_WORK_KEY = create_key("agentool-otel-adk-work")
_LEFT = "adk-runner-caller-closed-early"
"""Message with which `Runner.run` cancels a run whose reader has left."""


def at_work(context: Context) -> Work | None:
    """Return the innermost run or agent of a context."""
    work: Any = context.get(_WORK_KEY)
    return work if isinstance(work, Work) else None


class OpenStep(Protocol):
    """A step whose end ADK may not report."""

    def leave(self, error: BaseException | None, interrupted: str | None, /) -> None:
        """End it, unless it has ended: the work around it ends."""


class Work:
    """A run, or an agent in it."""

    __slots__ = ("_answer", "_ended", "_error", "_steps", "context", "handed_to", "step")

    def __init__(self, step: StepSpan):
        self.step = step
        self.context: Context = set_value(_WORK_KEY, self, step.context)
        """The context that its work begins in."""
        self.handed_to: str | None = None
        """The agent that it has handed over to."""
        self._answer: Message | None = None
        self._error: Any = None
        self._ended = False
        self._steps: list[OpenStep] = []

    @property
    def leaving(self) -> bool:
        """Return whether the reader of the run's events has left."""
        return False

    def opened(self, step: OpenStep) -> None:
        """Keep a step that is to end with the work, if not before."""
        self._steps.append(step)

    def ended(self, step: OpenStep) -> None:
        if step in self._steps:
            self._steps.remove(step)

    # ---- its events
    def saw(self, event: Any) -> None:
        with guarded("reading an event of ADK"):
            self._see(event)

    def _see(self, event: Any) -> None:
        failed = string(event, "error_code") is not None
        if failed:
            self._error = event
        if self._is_mine(event):
            answer = contents.answer_in(event)
            if answer is not None:
                failed = failed and not _is_finish_reason(event)
                self._answer, self._error = answer, event if failed else None

    def _is_mine(self, event: Any) -> bool:
        """Return whether the work has produced an event."""
        return True

    def leaves(self) -> None:
        """Note that its stream is about to be closed."""

    @property
    def left_early(self) -> str | None:
        """Why the work ends where its reader leaves; None once the run has given its answer."""
        return "closed"

    # ---- its end
    def returned(self) -> None:
        self._end()

    def raised(self, error: BaseException) -> None:
        if isinstance(error, CancelledError) and (error.args[:1] == (_LEFT,) or self.leaving):
            self._end(interrupted=self.left_early)
        else:
            self._end(error)

    def closed(self) -> None:
        self._end(interrupted=self.left_early)

    def _end(self, error: BaseException | None = None, interrupted: str | None = None) -> None:
        if self._ended:
            return
        self._ended = True
        while self._steps:
            self._steps.pop().leave(error, interrupted)
        with guarded("reading the end of a run of ADK"):
            if self._answer is not None:
                self.step.add(output=[self._answer])
            if error is None and interrupted is None and self._error is not None:
                self.step.set(error_type=string(self._error, "error_code"))
                self.step.add(error_message=string(self._error, "error_message"))
        self.step.end_run(error, interrupted=interrupted)


def _is_finish_reason(event: Any) -> bool:
    """Return whether the error of an event is why its model stopped, such as `MAX_TOKENS`.

    Source: google-adk utils/streaming_utils.py at 2.13, which makes every finish reason but `STOP`
    an error of a streamed answer.
    """
    reason = get(event, "finish_reason")
    return string(event, "error_code") in (string(reason, "name"), string(reason, "value"))
