"""A graph that stops with a question to a human, and the run that continues with the answer.

The question is the output of the run that stops, the answer the input of the one that goes on, and
the `thread_id` of both is their conversation: the conventions have no other word for it.

Source: langgraph types.py (`Command`, `Interrupt`, `interrupt`), errors.py, pregel/_loop.py at 1.0
and 1.2.
"""

from __future__ import annotations

import sys
from typing import Any

from agentool_otel.content.encoding.introspection import class_name
from agentool_otel.ground import lazy_re as re
from agentool_otel.providers.fields import get, is_a, items, record, string

__all__ = ["CLOSED", "graph_input", "imported_name", "interruption", "questions"]

CLOSED = "closed"
"""Value of `agentool.interrupted` for a graph whose stream was left."""
_ID = re.compile(r"[0-9a-f]{32}")
"""Form of a question's id: LangGraph takes an object with such keys for answers by question."""


def interruption(error: BaseException) -> str | None:
    """Return the word for an exception that is control flow; None for a failure."""
    if is_a(error, GeneratorExit):
        return CLOSED
    bubble = imported_name("langgraph.errors", "GraphBubbleUp")
    return class_name(type(error)) if bubble is not None and is_a(error, bubble) else None


def questions(error: BaseException) -> dict[str, Any]:
    """Return the questions to a human, by the id of the interrupt; empty for other exceptions."""
    kind = imported_name("langgraph.errors", "GraphInterrupt")
    if kind is None or not is_a(error, kind):
        return {}
    interrupts = [item for each in items(error, "args")[:1] for item in items(each)]
    return {string(each, "id") or "": get(each, "value") for each in interrupts}


def graph_input(inputs: Any) -> Any:
    """Return the input of a graph: for a `Command` the answer of a human, or else its update of the
    state; None if it has neither.

    Answers to several questions stay by the ids of these; one alone needs none.
    """
    kind = imported_name("langgraph.types", "Command")
    if kind is None or not is_a(inputs, kind):
        return inputs
    answer = get(inputs, "resume")
    if answer is None:
        return get(inputs, "update")
    answers = record(answer)
    if answers and len(answers) == 1 and all(map(_ID.fullmatch, answers)):
        return next(iter(answers.values()))
    return answer


def imported_name(module: str, name: str) -> Any:
    """Return a name of a module if that is imported already: without it, nothing is an instance."""
    return getattr(sys.modules.get(module), name, None)
