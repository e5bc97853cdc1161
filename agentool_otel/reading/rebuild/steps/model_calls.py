"""The model calls of a run, each once.

One call is often two spans: a framework's and that of the provider's SDK below or beside it, or two
of one framework (ADK's `call_llm` around `generate_content`). They are one call: content comes from
the span that has it, usage from the innermost one, and nothing is added up twice.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import islice
from typing import Any, NamedTuple

from msgspec.structs import replace

from agentool_otel.model.operations import (
    Inference,
    McpRequest,
    MemoryOperation,
    Operation,
    ToolExecution,
)
from agentool_otel.reading.rebuild.tree import Node
from agentool_otel.semconv import gen_ai

__all__ = ["AT_ONCE", "is_details", "leaf_inferences"]

_BETWEEN = (ToolExecution, McpRequest, MemoryOperation)
"""Operations between two model calls that make the inner one independent: a tool that calls a
model.
"""
_CONTENT = ("system", "input", "output", "tools")
AT_ONCE = 16
"""Most open calls of one parent, or of one response id, that a call is compared with: the latest.
"""
_OWN = frozenset({"extra", "operation"})


def leaf_inferences(nodes: list[Node], unsure: list[Node] | None = None) -> list[Node]:
    """Return the model calls in order, each once, with the fields of all its spans.

    Args:
        nodes: the spans of a run.
        unsure: takes the calls that were not compared with all that went on when they began.
    """
    calls = [node for node in nodes if type(node.operation) is Inference]
    if len(calls) > 1:
        calls = _beside(_nested(_recorded(calls)), unsure if unsure is not None else [])
        if len({node.start_ns for node in calls}) < len(calls):
            # Of calls that start together, the one with the longer history is the later one.
            calls.sort(key=lambda node: _history_length(node.operation))
    return sorted(calls, key=lambda node: node.start_ns or 0)


def is_details(node: Node) -> bool:
    """True for a log record of a call that does not name its span, which had ended by then."""
    return node.span.name == gen_ai.EVENT_INFERENCE_DETAILS


def _recorded(calls: list[Node]) -> list[Node]:
    """Join such records to the calls with the same response id."""
    records = [node for node in calls if is_details(node)]
    if not records:
        return calls
    kept = [node for node in calls if not is_details(node)]
    places = {_response_id(node): n for n, node in enumerate(kept)}
    for record in records:
        response_id = _response_id(record)
        place = places.get(response_id) if response_id is not None else None
        if place is None:
            kept.append(record)
        else:
            kept[place] = _merged(kept[place], record)
    return kept


def _response_id(node: Node) -> str | None:
    assert isinstance(node.operation, Inference)
    return node.operation.response_id


def _history_length(operation: Operation) -> int:
    return len(operation.input or ()) if isinstance(operation, Inference) else 0


def _nested(calls: list[Node]) -> list[Node]:
    """Leave out calls that are only wrappers of others. A single call inside a wrapper takes the
    fields that it lacks from it."""
    inside: dict[Node, list[Node]] = defaultdict(list)
    for node in calls:
        if (outer := _call_around(node)) is not None:
            inside[outer].append(node)
    if not inside:
        return calls

    resolved: dict[Node, _Leaves] = {}
    for node in _inner_first(calls, inside):
        leaves = [resolved.pop(inner) for inner in inside.get(node, ())]
        resolved[node] = _unwrapped(node, _Leaves.joined(leaves)) if leaves else _Leaves.of(node)
    return [leaf for node in calls if node in resolved for leaf in resolved[node].nodes()]


def _inner_first(calls: list[Node], inside: dict[Node, list[Node]]) -> list[Node]:
    """Return calls, those inside others before them."""
    held = {node for inner in inside.values() for node in inner}
    ordered = [node for node in calls if node not in held]
    for node in ordered:  # grows
        ordered += inside.get(node, ())
    return ordered[::-1]


class _Leaf:
    """A call that counts; what is around it may complete it."""

    __slots__ = ("node",)

    def __init__(self, node: Node):
        self.node = node


class _Leaves(NamedTuple):
    """The innermost spans of a call, in order. Kept in parts: thousands of calls may be nested, and
    each would copy them.
    """

    first: _Leaf
    parts: tuple[_Leaf | _Leaves, ...]
    several: bool
    answered: tuple[_Leaf, ...]
    """The first two that had not failed; what is around one may know that it did."""

    @classmethod
    def of(cls, node: Node) -> _Leaves:
        leaf = _Leaf(node)
        return cls(leaf, (leaf,), False, (leaf,))

    @classmethod
    def joined(cls, groups: list[_Leaves]) -> _Leaves:
        if len(groups) == 1:
            return groups[0]
        answered = tuple(islice((leaf for group in groups for leaf in group.tries_answered()), 2))
        return cls(groups[0].first, tuple(groups), True, answered)

    def tries_answered(self) -> list[_Leaf]:
        return [leaf for leaf in self.answered if leaf.node.operation.error_type is None]

    def nodes(self) -> list[Node]:
        nodes: list[Node] = []
        waiting: list[_Leaf | _Leaves] = [self]
        while waiting:
            part = waiting.pop()
            if isinstance(part, _Leaf):
                nodes.append(part.node)
            else:
                waiting += reversed(part.parts)
        return nodes


def _is_call_or_between(node: Node) -> bool:
    return node.is_run or isinstance(node.operation, (*_BETWEEN, Inference))


def _call_around(node: Node) -> Node | None:
    """Return the model call that a call may be a part of."""
    if node.parent is None or node.parent.is_run:
        return None  # nearly always
    up = node.nearest(_is_call_or_between)
    if up is None or up.is_run or isinstance(up.operation, _BETWEEN):
        return None
    return up


def _unwrapped(outer: Node, leaves: _Leaves) -> _Leaves:
    """Return what counts of a call and those inside it."""
    if _precedes(outer, leaves.first.node):
        return _Leaves.joined([_Leaves.of(outer), leaves])
    chosen = leaves.tries_answered() if leaves.several else [leaves.first]
    if len(chosen) == 1:  # the others are tries that failed
        chosen[0].node = _merged(chosen[0].node, outer)
    return leaves


def _precedes(outer: Node, inner: Node) -> bool:
    """True for a call around another that was made before it: a streaming client that executes the
    requested tools continues inside its own span (Spring AI 1.x). Then a tool runs in between, or
    the history of the inner call begins with that of the outer one."""
    if outer.span.scope != inner.span.scope:
        return False
    if _continues(outer.operation, inner.operation):
        return True
    return any(
        isinstance(node.operation, ToolExecution) and node.order < inner.order
        for node in outer.children
    )


def _continues(one: Operation, other: Operation) -> bool:
    assert isinstance(one, Inference)
    assert isinstance(other, Inference)
    before, after = one.input, other.input
    if not before or not after or len(after) <= len(before):
        return False
    return list(after[: len(before)]) == list(before)


def _beside(calls: list[Node], unsure: list[Node]) -> list[Node]:
    """Join two spans of one call that are siblings: the shorter one counts as the inner one."""
    if len({node.span.scope for node in calls}) == 1 and not _ids_repeat(calls):
        return calls
    kept: list[Node] = []
    running: dict[object, list[int]] = defaultdict(list)
    """Places in `kept` of what has not ended yet, mostly one or none, by response id and parent."""
    passed_over_ns: dict[object, int] = {}
    """By the same, when the last of those ended that are not compared any more."""
    gone: set[int] = set()
    for node in sorted(calls, key=_span_of_time):
        start_ns, _ = _span_of_time(node)
        response_id = _response_id(node)
        keys: list[object] = [node.parent, *([] if response_id is None else [response_id])]
        for key in keys:
            for n in running[key][:-AT_ONCE]:
                passed_over_ns[key] = max(passed_over_ns.get(key, 0), _end_ns(kept[n]))
            running[key] = [
                n for n in running[key][-AT_ONCE:] if n not in gone and _end_ns(kept[n]) >= start_ns
            ]
        places = sorted({n for key in keys for n in running[key]})
        twin = next((n for n in places if _same_call(kept[n], node)), None)
        if twin is None:
            if any(passed_over_ns.get(key, 0) > start_ns for key in keys):
                unsure.append(node)
            for key in keys:
                running[key].append(len(kept))
            kept.append(node)
        else:
            kept[twin] = _merged(node, kept[twin])
            gone.add(twin)
    return kept if len(kept) < len(calls) else calls


def _ids_repeat(calls: list[Node]) -> bool:
    ids = [_response_id(node) for node in calls]
    known = [response_id for response_id in ids if response_id is not None]
    return len(set(known)) < len(known)


def _span_of_time(node: Node) -> tuple[int, int]:
    """Start, and end below zero: of two that start together the longer one comes first."""
    start_ns = node.start_ns or 0
    return start_ns, -(node.end_ns if node.end_ns is not None else start_ns)


def _end_ns(node: Node) -> int:
    return -_span_of_time(node)[1]


def _same_call(outer: Node, inner: Node) -> bool:
    """True for overlapping spans of one call by two tracers: both have the same response id; or,
    without ids, they have the same parent, one lies within the time of the other, and nothing in
    them differs."""
    one, other = outer.operation, inner.operation
    assert isinstance(one, Inference)
    assert isinstance(other, Inference)
    one_tracer = outer.span.scope == inner.span.scope
    if one.response_id is not None and other.response_id is not None:
        # One tracer records a call once: a local server may give all its answers the same id.
        known_tracer = one_tracer and outer.span.scope != ""
        return one.response_id == other.response_id and not known_tracer
    if one_tracer or outer.parent is not inner.parent or not _is_within(inner, outer):
        return False
    if one.output and not (other.input or other.output):
        # Frameworks often know neither the tokens nor the model's full name of a streamed answer.
        return _agree(one.request_model, other.request_model)
    return (
        _agree(_model(one), _model(other))
        and _agree(one.usage and one.usage.total, other.usage and other.usage.total)
        and _agree(one.output, other.output)
    )


def _is_within(inner: Node, outer: Node) -> bool:
    return outer.start_ns is not None and outer.start_ns < _end_ns(outer) >= _end_ns(inner)


def _model(operation: Inference) -> str | None:
    return operation.response_model or operation.request_model


def _agree(one: Any, other: Any) -> bool:
    return one is None or other is None or one == other


def _merged(leaf: Node, around: Node) -> Node:
    """Return the leaf, with the fields that it lacks from its parent span.

    All messages come from the span that has an answer: the other's, if any, are often a rendering
    of them.
    """
    inner, outer = leaf.operation, around.operation
    assert isinstance(inner, Inference)
    assert isinstance(outer, Inference)
    prefer = _CONTENT if not inner.output and outer.output else ()
    filled: dict[str, Any] = {}
    for field in inner.__struct_fields__:
        value = getattr(outer, field)
        if value is None or field in _OWN:
            continue
        if field in prefer or not _is_known(getattr(inner, field)):
            filled[field] = value
    if inner.usage is not None and inner.usage.total is None and outer.usage is not None:
        filled["usage"] = outer.usage
    return leaf.with_operation(replace(inner, **filled))


def _is_known(value: Any) -> bool:
    return value is not None and value != [] and value != ""
