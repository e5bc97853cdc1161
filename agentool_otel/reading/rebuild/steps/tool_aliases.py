"""Tool spans with another name or other arguments than the model's request.

Programs trace the function that does the work, and its name need not be the tool's:
`lookup_order_impl` for `lookup_order`. Such a span executes the call that a model requested in the
same turn with the same arguments, if no other call and no other span is possible, the model knows
no tool of the span's name, and nothing contradicts. Programs also rewrite arguments: the spans of a
tool execute the calls of it that a model requested in the same turn, if they are as many and
nothing contradicts. Of several the results decide, then the order.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from msgspec import UNSET

from agentool_otel.ground.json_codec import canonical
from agentool_otel.ground.literals import literal
from agentool_otel.model.operations import Inference, McpRequest, ToolExecution
from agentool_otel.reading.rebuild.steps.delegation import may_delegate
from agentool_otel.reading.rebuild.steps.requests import ToolCall
from agentool_otel.reading.rebuild.steps.tool_calls import (
    ToolCalls,
    has_result,
    is_transfer,
    unpacked,
)
from agentool_otel.reading.rebuild.steps.tool_matching import results_in_messages
from agentool_otel.reading.rebuild.tree import Node
from agentool_otel.reading.rebuild.values import plain

__all__ = ["join_other_arguments", "join_other_names"]

_LONGEST = 1 << 16
"""Characters of a printed result that are read."""


class _Candidates(NamedTuple):
    """The calls of one turn with the same arguments, or of the same tool."""

    requested: list[ToolCall]
    executed: list[ToolCall]


def join_other_names(calls: ToolCalls, inferences: Sequence[Node]) -> None:
    """Join the requested calls that no span executes to the spans that nobody requested."""
    pairs = _pairs(calls, inferences, _arguments)
    if not pairs:
        return
    known = _names_known(calls, inferences)
    results = results_in_messages(inferences)
    joined: set[ToolCall] = set()
    for requested, executed in pairs:
        sent = plain(results.get(requested.id or ""))
        if executed.name not in known and not _contradicts(executed, sent):
            rule = f"a span of {executed.name!r} in the same turn, with the same arguments"
            calls.join(requested, executed, rule)
            joined.add(executed)
    calls.leave_out(joined)


def join_other_arguments(calls: ToolCalls, inferences: Sequence[Node]) -> None:
    """Join them where the tool is the same, and requested as often as executed in a turn."""
    turns = [
        candidate
        for candidate in _alike(calls, inferences, lambda call: call.name)
        if len(candidate.requested) == len(candidate.executed)
    ]
    if not turns:
        return
    results = results_in_messages(inferences)
    joined: set[ToolCall] = set()
    for turn in turns:
        rule = "the only span of the tool in the same turn, with other arguments"
        if len(turn.requested) > 1:
            rule = (
                "one of as many spans of the tool as requests in the same turn, by result or order"
            )
        for requested, executed in _in_turn(turn, results):
            arguments = executed.arguments
            calls.join(requested, executed, rule)
            if arguments is not UNSET:
                requested.arguments = arguments
            joined.add(executed)
    calls.leave_out(joined)


def _in_turn(turn: _Candidates, results: dict[str, Any]) -> Iterator[tuple[ToolCall, ToolCall]]:
    """Yield the pairs of a turn: those with an equal result, then the others in order. Nothing is
    yielded of those that contradict each other."""
    executed = sorted(turn.executed, key=_started)
    requested = deque(turn.requested)
    of_result: defaultdict[str, deque[ToolCall]] = defaultdict(deque)
    if len(requested) > 1:
        for call in turn.requested:
            if (sent := plain(results.get(call.id or ""))) is not None:
                of_result[canonical(unpacked(sent))].append(call)
    rest: list[ToolCall] = []
    for tool_call in executed:
        result = (
            getattr(tool_call.node.operation, "result", UNSET)
            if tool_call.node is not None
            else UNSET
        )
        equal = of_result.get(canonical(unpacked(plain(result)))) if result is not UNSET else None
        if equal:
            one = equal.popleft()
            requested.remove(one)
            yield one, tool_call
        else:
            rest.append(tool_call)
    for one, tool_call in zip(requested, rest, strict=True):
        if not _contradicts(tool_call, plain(results.get(one.id or ""))):
            yield one, tool_call


def _started(call: ToolCall) -> int:
    return (call.node.start_ns or 0) if call.node is not None else 0


def _pairs(
    calls: ToolCalls, inferences: Sequence[Node], key: Callable[[ToolCall], str | None]
) -> list[tuple[ToolCall, ToolCall]]:
    """Return the requested and the executed call of each turn that are alike, one of each."""
    alike = _alike(calls, inferences, key)
    return [
        (candidate.requested[0], candidate.executed[0])
        for candidate in alike
        if _is_unambiguous(candidate)
    ]


def _alike(
    calls: ToolCalls, inferences: Sequence[Node], key: Callable[[ToolCall], str | None]
) -> list[_Candidates]:
    waiting = [call for call in calls if call.requested_by is not None and _waits(call)]
    if not waiting:
        return []
    places = {node: n for n, node in enumerate(inferences)}
    starts = [node.start_ns or 0 for node in inferences]
    alike: dict[tuple[int, str], _Candidates] = defaultdict(lambda: _Candidates([], []))
    for call in waiting:
        place = places.get(call.requested_by) if call.requested_by is not None else None
        if place is not None and (known := key(call)) is not None:
            alike[place, known].requested.append(call)
    for call in calls:
        if call.requested_by is not None or call.node is None or not _is_alone(call, call.node):
            continue
        if (known := key(call)) is not None:
            turn = bisect_right(starts, call.node.start_ns or 0) - 1
            alike[turn, known].executed.append(call)
    return list(alike.values())


def _waits(call: ToolCall) -> bool:
    return call.node is None and not call.dropped and not is_transfer(call)


def _arguments(call: ToolCall) -> str | None:
    """Return the arguments of a call, None if it has none: then all calls are alike."""
    arguments = plain(call.arguments)
    return None if not arguments or arguments is UNSET else canonical(arguments)


def _is_alone(call: ToolCall, node: Node) -> bool:
    """Return whether a span is of a tool that is not known to be requested, neither by id nor from
    within another tool.
    """
    operation = node.operation
    if not isinstance(operation, ToolExecution) or operation.call_id is not None or call.dropped:
        return False
    if call.name is None or may_delegate(call.name):
        return False
    return node.nearest(_is_tool) is None


def _is_tool(node: Node) -> bool:
    return isinstance(node.operation, (ToolExecution, McpRequest))


def _is_unambiguous(candidates: _Candidates) -> bool:
    return len(candidates.requested) == len(candidates.executed) == 1


def _names_known(calls: ToolCalls, inferences: Sequence[Node]) -> set[Any]:
    """Return the names of the tools that models were offered or have requested."""
    names: set[Any] = {call.name for call in calls if call.requested_by is not None}
    for node in inferences:
        tools = node.operation.tools if isinstance(node.operation, Inference) else None
        names |= {tool.get("name") for tool in tools or () if isinstance(tool, dict)}
    return names


def _contradicts(executed: ToolCall, sent: Any) -> bool:
    """Return whether the result that was sent to a model differs from the result on a span."""
    if sent is None or executed.node is None or not has_result(executed.node.operation):
        return False
    assert isinstance(executed.node.operation, ToolExecution)
    result = plain(executed.node.operation.result)
    if str(result) == sent:
        return False
    wanted = canonical(unpacked(result))
    return all(wanted != canonical(unpacked(one)) for one in (sent, _printed(sent)))


def _printed(sent: Any) -> Any:
    """Return the value whose Python text a model was sent; anything else as it is."""
    try:
        value = literal(sent, _LONGEST) if isinstance(sent, str) else sent
        canonical(value)
    except (ValueError, TypeError):
        return sent
    return value
