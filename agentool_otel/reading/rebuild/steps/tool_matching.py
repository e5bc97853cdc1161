"""Match tool spans without a call id to the calls that requested them, where several are possible.

Calls that were requested together, with equal arguments or of one tool where a span has none, may
start, and be recorded, in any order. A span belongs to the call whose result, as sent to the model,
equals its own. The remaining spans are matched to the remaining calls in order, and the fidelity
report marks them as inferred.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

from msgspec import UNSET

from agentool_otel.ground.json_codec import canonical
from agentool_otel.model.messages import call_id_of, parts_of
from agentool_otel.model.operations import Inference, ToolExecution
from agentool_otel.reading.rebuild.steps.requests import ToolCall
from agentool_otel.reading.rebuild.steps.tool_calls import call_below, has_result, unpacked
from agentool_otel.reading.rebuild.tree import Node
from agentool_otel.reading.rebuild.values import arguments_text, plain

__all__ = ["Match", "Results", "key_without_id", "matches", "results_in_messages"]


class Match(NamedTuple):
    """The call that a span executes."""

    call: ToolCall
    rule: str | None
    """The rule that chose it, where another call was possible."""


def key_without_id(node: Node) -> tuple[str | None, str | None] | None:
    """Return the tool and the arguments of a span that has no call id, which is not around another
    span of the same call; None for any other span."""
    operation = node.operation
    if not isinstance(operation, ToolExecution) or operation.call_id is not None:
        return None
    arguments = operation.arguments
    text = None if arguments is UNSET else arguments_text(arguments)
    return None if call_below(node) is not None else (operation.name, text)


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


class Results:
    """The results that were sent to models, searched and compared on demand."""

    def __init__(self, inferences: Sequence[Node]):
        self._inferences = inferences
        self._texts: dict[str, str] = {}

    @cached_property
    def _sent(self) -> dict[str, Any]:
        return results_in_messages(self._inferences)

    def of(self, call: ToolCall) -> str | None:
        """Return the result of a call as text that can be compared."""
        call_id = call.id or ""
        if call_id not in self._texts and call_id in self._sent:
            self._texts[call_id] = _comparable(self._sent[call_id])
        return self._texts.get(call_id)


def matches(
    spans: Sequence[Node], waiting: Sequence[ToolCall], results: Results
) -> dict[Node, Match]:
    """Return the call that each span of one tool executes.

    Args:
        spans: those without a call id, in order of start.
        waiting: the calls that they may execute and no other span does, in the order of their
            requests.
        results: the results sent to models; asked for only where there is a choice.
    """
    calls = sorted(waiting, key=_requested_ns)
    with_result = [span for span in spans if has_result(span.operation)]
    by_span: dict[Node, Match] = {}
    if with_result and len(calls) > 1 and _requested_ns(calls[1]) <= _begun(with_result[-1]):
        by_span = _by_result(with_result, calls, results)
    taken = {match.call for match in by_span.values()}
    rest = [span for span in spans if span not in by_span]
    return {**by_span, **_by_order(rest, [call for call in calls if call not in taken])}


def _by_result(
    spans: Sequence[Node], calls: Sequence[ToolCall], results: Results
) -> dict[Node, Match]:
    """Match spans to the calls with an equal result."""
    by_span: dict[Node, Match] = {}
    alike: dict[str, deque[ToolCall]] = defaultdict(deque)
    before = 0
    for span in spans:
        while before < len(calls) and _requested_ns(calls[before]) <= _begun(span):
            if (result := results.of(calls[before])) is not None:
                alike[result].append(calls[before])
            before += 1
        assert isinstance(span.operation, ToolExecution)
        if equal := alike.get(_comparable(span.operation.result)):
            rule = "one of several calls whose result, as sent to the model, is equal"
            several = len(equal) > 1
            by_span[span] = Match(equal.popleft(), rule if several else None)
    return by_span


def _by_order(spans: Sequence[Node], calls: Sequence[ToolCall]) -> dict[Node, Match]:
    """Match each span to the first call that was requested before it, else to the first."""
    by_span: dict[Node, Match] = {}
    unsure: ToolCall | None = None
    for n, (span, call) in enumerate(zip(spans, calls, strict=False)):
        next_one = calls[n + 1] if n + 1 < len(calls) else None
        requested = _requested_ns(call) <= _begun(span)
        several = next_one is not None and (
            not requested or _requested_ns(next_one) <= _begun(span)
        )
        several = several or (unsure is not None and _requested_ns(unsure) <= _begun(span))
        rule = "the order in which calls of the tool were requested" if several else None
        by_span[span] = Match(call, rule)
        unsure = unsure or (call if several else None)
    return by_span


def _begun(span: Node) -> int:
    return span.start_ns or 0


def _requested_ns(call: ToolCall) -> int:
    """Return when a model had requested a call; before everything where that is not known."""
    return -1 if call.requested_by is None else call.requested_by.start_ns or 0


def _comparable(result: Any) -> str:
    return canonical(unpacked(plain(result)))
