"""Which calls the spans of a tool run that say no more than its name.

Calls of one tool that a model asked for at once may begin, and be recorded, in any order. What the
model was told of a call tells the span that has the same result; of what is left, the first span is
taken to run the first call, and the fidelity report says that this is a guess.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from msgspec import UNSET

from agentool_otel.ground.json_codec import canonical
from agentool_otel.model.messages import call_id_of, parts_of
from agentool_otel.model.operations import Inference, ToolExecution
from agentool_otel.reconstruction.steps.tool_calls import ToolCall, has_result, unpacked
from agentool_otel.reconstruction.tree import Node
from agentool_otel.reconstruction.values import plain

__all__ = ["Guess", "guesses", "says_only_name", "told_results"]


class Guess(NamedTuple):
    """The call that a span runs."""

    call: ToolCall
    rule: str | None
    """By which rule, where it could be another."""


def says_only_name(node: Node, name: str | None) -> bool:
    """Whether a span is of a tool of a name, and has neither the call's id nor its arguments."""
    said = node.operation
    return (
        isinstance(said, ToolExecution)
        and said.name == name
        and said.call_id is None
        and said.arguments is UNSET
    )


def told_results(inferences: Sequence[Node]) -> dict[str, Any]:
    """Return what models were told of calls, by the calls' ids."""
    told: dict[str, Any] = {}
    for node in inferences:
        said = node.operation.input if isinstance(node.operation, Inference) else None
        for message in said or ():
            for place, part in enumerate(parts_of(message)):
                call_id = call_id_of(part, place)
                if part.get("type") == "tool_call_response" and call_id is not None:
                    response = part.get("response", part.get("result", UNSET))
                    if response is not UNSET:
                        told.setdefault(call_id, response)
    return told


def guesses(
    spans: Sequence[Node], waiting: Sequence[ToolCall], told: Callable[[], Mapping[str, Any]]
) -> dict[int, Guess]:
    """Return the calls that the spans of one tool run, by the id() of the span.

    Args:
        spans: those that say only the tool's name, in order of start.
        waiting: the calls of the tool that no other span runs, in the order asked for.
        told: gives what models were told of calls; asked only where there is a choice.
    """
    found: dict[int, Guess] = {}
    left = list(waiting)
    if any(len(_before(span, left)) > 1 and has_result(span.operation) for span in spans):
        results = {key: _comparable(value) for key, value in told().items()}
        for span in spans:
            if not has_result(span.operation):
                continue
            assert isinstance(span.operation, ToolExecution)
            result = _comparable(span.operation.result)
            alike = [it for it in _before(span, left) if results.get(it.id or "") == result]
            if alike:
                rule = "one of several calls of which the model was told its result"
                found[id(span)] = Guess(alike[0], rule if len(alike) > 1 else None)
                left.remove(alike[0])
    unsure: list[ToolCall] = []
    for span in spans:
        if id(span) in found or not left:
            continue
        candidates = _before(span, left) or left
        several = len(candidates) + len(_before(span, unsure)) > 1
        by_order = "the order in which calls of the tool were asked for" if several else None
        found[id(span)] = Guess(candidates[0], by_order)
        left.remove(candidates[0])
        if several:
            unsure.append(candidates[0])
    return found


def _before(span: Node, calls: Sequence[ToolCall]) -> list[ToolCall]:
    """Return the calls that a model had asked for when a span began."""
    begun = span.start_ns or 0
    return [it for it in calls if it.asked_by is None or (it.asked_by.start_ns or 0) <= begun]


def _comparable(result: Any) -> str:
    return canonical(unpacked(plain(result)))
