"""The model calls of a run, each once.

One call is often two spans: a framework's and that of the provider's SDK below or beside it, or two
of one framework (ADK's `call_llm` around `generate_content`). They are one call: content comes from
the span that has it, usage from the innermost one, and nothing is added up twice.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from msgspec.structs import replace

from agentool_otel.model.operations import (
    Inference,
    McpRequest,
    MemoryOperation,
    Operation,
    ToolExecution,
)
from agentool_otel.reconstruction.tree import Node
from agentool_otel.semconv import gen_ai

__all__ = ["is_details", "leaf_inferences"]

_BETWEEN = (ToolExecution, McpRequest, MemoryOperation)
"""What makes a model call below another one a call of its own: a tool that asks a model."""
_CONTENT = ("system", "input", "output", "tools")
_OWN = frozenset({"extra", "operation"})


def leaf_inferences(nodes: list[Node]) -> list[Node]:
    """Return the model calls in order, each once and with what every span of it says."""
    calls = [node for node in nodes if type(node.operation) is Inference]
    if len(calls) > 1:
        calls = _beside(_nested(_recorded(calls)))
        if len({node.start_ns for node in calls}) < len(calls):
            # At one and the same time, the call that was told more is the later one.
            calls.sort(key=lambda node: _told(node.operation))
    return sorted(calls, key=lambda node: node.start_ns or 0)


def is_details(node: Node) -> bool:
    """True for a log record of a call that does not name its span, which had ended by then."""
    return node.span.name == gen_ai.EVENT_INFERENCE_DETAILS


def _recorded(calls: list[Node]) -> list[Node]:
    """Join such records to the calls whose response they tell of."""
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


def _told(operation: Operation) -> int:
    return len(operation.input or ()) if isinstance(operation, Inference) else 0


def _nested(calls: list[Node]) -> list[Node]:
    """Leave out calls that only stand around others; what a single one inside lacks, it gets."""
    inside: dict[int, list[Node]] = defaultdict(list)
    for node in calls:
        for up in node.ancestors():
            if up.is_run or isinstance(up.operation, _BETWEEN):
                break
            if isinstance(up.operation, Inference):
                inside[id(up)].append(node)
                break
    if not inside:
        return calls

    def resolved(node: Node) -> list[Node]:
        leaves = [leaf for inner in inside.get(id(node), ()) for leaf in resolved(inner)]
        if not leaves:
            return [node]
        if _asked_before(node, leaves[0]):
            return [node, *leaves]
        answered = [leaf for leaf in leaves if leaf.operation.error_type is None]
        if len(leaves) == 1:
            return [_merged(leaves[0], node)]
        if len(answered) == 1:  # the others are tries that failed
            return [_merged(leaf, node) if leaf is answered[0] else leaf for leaf in leaves]
        return leaves

    held = {id(node) for inner in inside.values() for node in inner}
    return [leaf for node in calls if id(node) not in held for leaf in resolved(node)]


def _asked_before(outer: Node, inner: Node) -> bool:
    """True for a call around another that was made before it: a streaming client that answers the
    tools it is asked for goes on inside its own span (Spring AI 1.x). A tool was run in between, or
    the inner call was told all that the outer one was, and more."""
    if outer.span.scope != inner.span.scope:
        return False
    if _goes_on(outer.operation, inner.operation):
        return True
    return any(
        isinstance(node.operation, ToolExecution) and node.order < inner.order
        for node in outer.children
    )


def _goes_on(one: Operation, other: Operation) -> bool:
    assert isinstance(one, Inference)
    assert isinstance(other, Inference)
    before, after = one.input, other.input
    if not before or not after or len(after) <= len(before):
        return False
    return list(after[: len(before)]) == list(before)


def _beside(calls: list[Node]) -> list[Node]:
    """Join two spans of one call that lie beside each other: the shorter one is the inner one."""
    if len({node.span.scope for node in calls}) == 1 and not _ids_repeat(calls):
        return calls
    kept: list[Node] = []
    running: list[int] = []
    """Places in `kept` of what has not ended yet; mostly one or none."""
    for node in sorted(calls, key=_span_of_time):
        start_ns, _ = _span_of_time(node)
        running = [n for n in running if -_span_of_time(kept[n])[1] >= start_ns]
        twin = next((n for n in running if _same_call(kept[n], node)), None)
        if twin is None:
            running.append(len(kept))
            kept.append(node)
        else:
            kept[twin] = _merged(node, kept[twin])
            running.remove(twin)
    return kept if len(kept) < len(calls) else calls


def _ids_repeat(calls: list[Node]) -> bool:
    ids = [_response_id(node) for node in calls]
    known = [response_id for response_id in ids if response_id is not None]
    return len(set(known)) < len(known)


def _span_of_time(node: Node) -> tuple[int, int]:
    """Start, and end below zero: of two that start together the longer one comes first."""
    start_ns = node.start_ns or 0
    return start_ns, -(node.end_ns if node.end_ns is not None else start_ns)


def _same_call(outer: Node, inner: Node) -> bool:
    """True for overlapping spans of two tracers that give one response id, or, of two SDKs below
    one span, one inside the time of the other and nothing in them that differs; of one that says
    nothing of what was said, the model that was asked."""
    one, other = outer.operation, inner.operation
    assert isinstance(one, Inference)
    assert isinstance(other, Inference)
    scope = outer.span.scope
    if one.response_id is not None and other.response_id is not None:
        # One tracer writes a call once: a server of one's own may give all its answers one id.
        one_tracer = scope != "" and scope == inner.span.scope
        return one.response_id == other.response_id and not one_tracer
    outer_end, inner_end = -_span_of_time(outer)[1], -_span_of_time(inner)[1]
    if scope == inner.span.scope or outer.parent is not inner.parent:
        return False
    if outer.start_ns is None or inner_end > outer_end or outer_end <= outer.start_ns:
        return False
    if one.output and not (other.input or other.output):
        # Of a streamed answer a framework often knows neither the tokens nor the model's full name.
        return _agree(one.request_model, other.request_model)
    return (
        _agree(_model(one), _model(other))
        and _agree(one.usage and one.usage.total, other.usage and other.usage.total)
        and _agree(one.output, other.output)
    )


def _model(operation: Inference) -> str | None:
    return operation.response_model or operation.request_model


def _agree(one: Any, other: Any) -> bool:
    return one is None or other is None or one == other


def _merged(leaf: Node, around: Node) -> Node:
    """Return the leaf, with what it does not say from the span around it.

    Messages are taken together from the one that has an answer: the other's, if any, are often a
    rendering of them.
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
        if field in prefer or not _says(getattr(inner, field)):
            filled[field] = value
    if inner.usage is not None and inner.usage.total is None and outer.usage is not None:
        filled["usage"] = outer.usage
    return leaf.saying(replace(inner, **filled))


def _says(value: Any) -> bool:
    return value is not None and value != [] and value != ""
