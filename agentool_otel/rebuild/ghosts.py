"""Model calls that a run tells of, and another tracer again in a trace of its own.

A framework's callbacks do not make its span the current one, so that the span of a provider's SDK,
or of a tracer around it, is a root: a bare call, and the ghost of one that a run holds. It is known
by the id of the response, from another tracer, within the time of the run's call. A call that
failed has no such id, and is told twice.

Seen with OpenInference's LangChain 0.1.80 beside its OpenAI 0.1.66, OpenLLMetry's OpenAI 0.62.4 and
the spans of anthropic 2.12.0.
"""

from __future__ import annotations

from array import array
from collections import defaultdict
from typing import NamedTuple

from agentool_otel.model.operations import Inference
from agentool_otel.rebuild.trace import RunSpans
from agentool_otel.rebuild.tree import Node

__all__ = ["Answered", "AnsweredCalls", "answered", "answered_in"]

_OURS = "agentool_otel"
"""How our own scopes begin. Our spans are current while the call runs: it has no ghosts."""


class Answered(NamedTuple):
    """A model call whose response has an id."""

    response_id: str
    start_ns: int
    end_ns: int
    scope: str


def answered(node: Node) -> Answered | None:
    """Return what tells a call from others; None where that is not known."""
    operation = node.operation
    if type(operation) is not Inference or operation.response_id is None:
        return None
    if node.start_ns is None or node.end_ns is None:
        return None
    return Answered(operation.response_id, node.start_ns, node.end_ns, node.span.scope)


def answered_in(run: RunSpans) -> list[Answered]:
    """Return the calls in a run that others may tell of, too."""
    if run.root is None or run.root.span.scope.startswith(_OURS):
        return []
    return [call for node in run.nodes if (call := answered(node)) is not None]


class AnsweredCalls:
    """Calls of any number of traces, 40 bytes each."""

    def __init__(self) -> None:
        self._ids = array("q")
        self._starts = array("q")
        self._ends = array("q")
        self._scopes = array("q")
        self._numbers = array("q")

    def add(self, call: Answered, number: int = 0) -> None:
        try:
            self._starts.append(call.start_ns)
            self._ends.append(call.end_ns)
        except OverflowError:  # a time that is none
            del self._starts[len(self._numbers) :], self._ends[len(self._numbers) :]
            return
        self._ids.append(hash(call.response_id))
        self._scopes.append(hash(call.scope))
        self._numbers.append(number)

    def __len__(self) -> int:
        return len(self._numbers)

    def ghosts(self, others: AnsweredCalls) -> set[int]:
        """Return the numbers of these calls that are among others."""
        own: dict[int, list[int]] = defaultdict(list)
        for place, key in enumerate(self._ids):
            own[key].append(place)
        found: set[int] = set()
        for place, key in enumerate(others._ids):
            for n in own.get(key, ()):
                inside = (
                    others._starts[place] <= self._starts[n]
                    and self._ends[n] <= others._ends[place]
                )
                if inside and self._scopes[n] != others._scopes[place]:
                    found.add(self._numbers[n])
        return found
