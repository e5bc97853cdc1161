"""Match tool spans that carry only a tool name to the calls that requested them.

Calls of one tool that a model requested together may start, and be recorded, in any order. A span
belongs to the call whose result, as sent to the model, equals its own. The remaining spans are
matched to the remaining calls in order, and the fidelity report marks them as inferred.
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

__all__ = ["Match", "has_only_name", "matches", "results_in_messages"]


class Match(NamedTuple):
    """The call that a span executes."""

    call: ToolCall
    rule: str | None
    """The rule that chose it, where another call was possible."""


def has_only_name(node: Node, name: str | None) -> bool:
    """Whether a span is of a tool of that name, and has neither call id nor arguments."""
    operation = node.operation
    return (
        isinstance(operation, ToolExecution)
        and operation.name == name
        and operation.call_id is None
        and operation.arguments is UNSET
    )


def results_in_messages(inferences: Sequence[Node]) -> dict[str, Any]:
    """Return the results that were sent to models, by call id."""
    results: dict[str, Any] = {}
    for node in inferences:
        messages = node.operation.input if isinstance(node.operation, Inference) else None
        for message in messages or ():
            for place, part in enumerate(parts_of(message)):
                call_id = call_id_of(part, place)
                if part.get("type") == "tool_call_response" and call_id is not None:
                    response = part.get("response", part.get("result", UNSET))
                    if response is not UNSET:
                        results.setdefault(call_id, response)
    return results


def matches(
    spans: Sequence[Node], waiting: Sequence[ToolCall], results: Callable[[], Mapping[str, Any]]
) -> dict[Node, Match]:
    """Return the call that each span of one tool executes.

    Args:
        spans: those with only the tool's name, in order of start.
        waiting: the calls of the tool that no other span executes, in the order of their requests.
        results: returns the results sent to models by call id; called only where there is a choice.
    """
    unmatched = list(waiting)
    by_span: dict[Node, Match] = {}
    if any(len(_before(span, unmatched)) > 1 and has_result(span.operation) for span in spans):
        by_span = _by_result(spans, unmatched, results())
    rest = [span for span in spans if span not in by_span]
    return {**by_span, **_by_order(rest, unmatched)}


def _by_result(
    spans: Sequence[Node], unmatched: list[ToolCall], results: Mapping[str, Any]
) -> dict[Node, Match]:
    """Match spans to the calls with an equal result, and remove those calls from `unmatched`."""
    by_span: dict[Node, Match] = {}
    comparable = {call_id: _comparable(result) for call_id, result in results.items()}
    for span in spans:
        if not has_result(span.operation):
            continue
        assert isinstance(span.operation, ToolExecution)
        result = _comparable(span.operation.result)
        alike = [it for it in _before(span, unmatched) if comparable.get(it.id or "") == result]
        if alike:
            rule = "one of several calls whose result, as sent to the model, is equal"
            by_span[span] = Match(alike[0], rule if len(alike) > 1 else None)
            unmatched.remove(alike[0])
    return by_span


def _by_order(spans: Sequence[Node], unmatched: list[ToolCall]) -> dict[Node, Match]:
    """Match each span to the first call that was requested before it."""
    by_span: dict[Node, Match] = {}
    unsure: list[ToolCall] = []
    for span in spans[: len(unmatched)]:
        candidates = _before(span, unmatched) or unmatched
        several = len(candidates) + len(_before(span, unsure)) > 1
        rule = "the order in which calls of the tool were requested" if several else None
        by_span[span] = Match(candidates[0], rule)
        if several:
            unsure.append(candidates[0])
        unmatched.remove(candidates[0])
    return by_span


def _before(span: Node, calls: Sequence[ToolCall]) -> list[ToolCall]:
    """Return the calls that a model had requested when a span began."""
    begun = span.start_ns or 0
    return [
        it for it in calls if it.requested_by is None or (it.requested_by.start_ns or 0) <= begun
    ]


def _comparable(result: Any) -> str:
    return canonical(unpacked(plain(result)))
