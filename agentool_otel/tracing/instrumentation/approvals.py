"""Tool calls that wait for a human, or for whoever makes them instead of the agent.

The questions are the output of the run that stops, the answers the input of the one that continues:
one call as it is, several as a list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from agentool_otel.content.policy import encode
from agentool_otel.semconv import agentool
from agentool_otel.tracing.spans.settings import guarded
from agentool_otel.tracing.spans.step_spans import StepSpan

__all__ = ["record_decisions", "record_questions"]

Calls = Callable[[], Sequence[dict[str, Any]]]
"""Returns the calls, each as a JSON object; not called where content is not captured."""


def record_questions(step: StepSpan, calls: Calls) -> None:
    """Make calls that wait the output of their run."""
    _put(step, agentool.OUTPUT, calls)


def record_decisions(step: StepSpan, calls: Calls) -> None:
    """Make the decisions on waiting calls the input of the run that goes on."""
    _put(step, agentool.INPUT, calls)


def _put(step: StepSpan, attribute: str, calls: Calls) -> None:
    if step.wants_content:
        with guarded("reading tool calls that wait for approval"):
            values = calls()
            if values:
                step.mark({attribute: encode(values[0] if len(values) == 1 else values)})
