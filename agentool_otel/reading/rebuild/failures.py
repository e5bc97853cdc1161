"""The failure that ended a run, and the span where it arose.

It is the error of the run's own span; without one, the exception that ended the program, or the
error of a loose model call. If spans further down have the same error, it arose in the innermost
of them. If the run has no more than the fact that it failed, the failure inside with which it ended
is taken. A failure that the run continued after did not end it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from agentool_otel.model.operations import Unclassified
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.rebuild.report.fidelity import Note
from agentool_otel.reading.rebuild.status import Status, deciding_span
from agentool_otel.reading.rebuild.tree import Node, is_uncaught
from agentool_otel.reading.rebuild.values import set_known, text
from agentool_otel.semconv import core

__all__ = ["Failure", "ended_well", "failure_of", "notes_on"]

_STATUS = "status.message"
_ON_SPAN = ("error.message", core.EXCEPTION_MESSAGE)
_AROUND = 8
"""Most spans near a failed one that are searched for the text of its error."""
_Places = Callable[[SpanRecord], Iterable[tuple[str, Any]]]
"""Gives the names and values of a span that may hold a text, the likeliest first."""
_Error = tuple[str | None, str | None]
"""Type and message of an error; None if unknown, never empty."""


class Failure(NamedTuple):
    """The failure that ended a run: its type or its message is known, or both."""

    type: str | None
    message: str | None
    arose_in: Node
    """The innermost span with the error."""
    source: Node
    """The span that type and message are from."""
    rule: str | None = None
    """Why it is taken for the run's, where the run's own span does not have it."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as `metadata.error` of a trace."""
        error: dict[str, Any] = {}
        set_known(error, "type", self.type)
        set_known(error, "message", self.message)
        set_known(error, "span_id", self.arose_in.span.span_id or None)
        return error


def ended_well(status: Any) -> bool:
    """Return whether a status is that of a run without failure, or of one that has not ended."""
    return status in ("success", "in_progress")


def failure_of(
    status: Status, root: Node | None, nodes: list[Node], inferences: list[Node]
) -> Failure | None:
    """Return the failure that ended a run; None if it went well or only its status is known."""
    if ended_well(status.value):
        return None
    if status.node is not None and status.reason is not None:
        reason = status.reason if status.reason != status.value else None
        return _failure((reason, None), status.node, status.node)
    for node in (status.node, deciding_span(root, nodes, inferences)):
        if node is not None and node.operation.error_type is not None:
            return _failure_at(node, status.value, nodes)
    return None


def _failure_at(node: Node, status: str, nodes: list[Node]) -> Failure | None:
    kind, message = error = _error_of(node)
    if message is not None:
        return _failure(error, _arose_in(node, nodes), node)
    specific = kind if kind != status else None
    failure = _last_failure(node, nodes)
    if failure is not None and (specific is None or _same_class(specific, _error_of(failure)[0])):
        rule = (
            f"the run has no more than {node.operation.error_type!r}: "
            "the failure inside that it ended with"
        )
        return _failure(_error_of(failure), _origin(failure), failure, rule)
    return _failure((specific, None), _arose_in(node, nodes), node)


def _arose_in(node: Node, nodes: list[Node]) -> Node:
    """Return the innermost span with the error of a run, in or below the span that decides it.

    The exception that ended the program may have passed through any span of the run.
    """
    if is_uncaught(node):
        error = _error_of(node)
        failed = (
            item for item in nodes if item is not node and item.operation.error_type is not None
        )
        node = _last(item for item in failed if _same(_error_of(item), error)) or node
    return _origin(node)


def _failure(
    error: _Error, arose_in: Node, source: Node, rule: str | None = None
) -> Failure | None:
    return None if error == (None, None) else Failure(*error, arose_in, source, rule)


def _error_of(node: Node) -> _Error:
    """Return the type and the message of a failed span.

    The status description of OpenTelemetry's SDK has the class before the message, and that of some
    SDKs is empty: the message of the exception event is then preferred.
    """
    kind = text(node.operation.error_type) or None
    if kind == core.ERROR_TYPE_OTHER:
        kind = None
    message = text(node.operation.error_message)
    raised = _exception_message(node.span, kind)
    if raised is not None and (not message or message == f"{_class_of(kind)}: {raised}"):
        message = raised
    return kind, message or None


def _exception_message(span: SpanRecord, kind: str | None) -> str | None:
    """Return the message of a failed span's last exception event of a class, else of its last one,
    else that of an attribute."""
    messages: list[str] = []
    for event in reversed(span.events):
        if message := text(event.attributes.get(core.EXCEPTION_MESSAGE)):
            if _same_class(text(event.attributes.get(core.EXCEPTION_TYPE)), kind):
                return message
            messages.append(message)
    messages += [item for name in _ON_SPAN if (item := text(span.attributes.get(name)))]
    return messages[0] if messages else None


# ------------------------------------------------------------------------------ the way it came


def _origin(node: Node) -> Node:
    """Return the innermost span with the same error below a failed one, the last one of several.

    All spans on the way keep it: thousands of runs may be nested, and each of them looks it up.
    """
    way: list[Node] = []
    while node.origin is None:
        error = _error_of(node)
        inner = _last(node for node in _failed_below(node) if _same(_error_of(node), error))
        way.append(node)
        if inner is None:
            break
        node = inner
    origin = node.origin or node
    for passed in way:
        passed.origin = origin
    return origin


def _failed_below(node: Node) -> Iterator[Node]:
    """Yield the nearest failed spans below one. An operation that did not fail has handled the
    failures inside it; plumbing may record no errors at all."""
    waiting = list(node.children)
    while waiting:
        span_node = waiting.pop()
        if is_uncaught(span_node):
            continue  # it came later, from no further down
        if span_node.operation.error_type is not None:
            yield span_node
        elif isinstance(span_node.operation, Unclassified):
            waiting += span_node.children


def _last_failure(node: Node, nodes: list[Node]) -> Node | None:
    """Return the failure below a span after which its run did nothing more."""
    failed = _last(_failed_below(node))
    if failed is None or failed.end_ns is None:
        return None
    for other in nodes:
        if isinstance(other.operation, Unclassified) or other is failed:
            continue
        if (other.start_ns or 0) >= failed.end_ns and not other.is_below(failed):
            return None
    return failed


def _last(nodes: Iterable[Node]) -> Node | None:
    return max(nodes, key=lambda node: (node.end_ns or 0, node.order), default=None)


def _same(one: _Error, other: _Error) -> bool:
    """Return whether two spans failed with the same error. SDKs write the class with or without its
    module, and the message with or without the class.
    """
    (kind, message), (other_kind, other_message) = one, other
    if message is None or other_message is None:
        return message is other_message and kind is not None and _same_class(kind, other_kind)
    unknown = kind is None or other_kind is None
    return (unknown or _same_class(kind, other_kind)) and (
        _bare(message, kind) == _bare(other_message, other_kind)
    )


def _same_class(one: str | None, other: str | None) -> bool:
    return _class_of(one) == _class_of(other)


def _class_of(kind: str | None) -> str:
    return (kind or "").rpartition(".")[2]


def _bare(message: str, kind: str | None) -> str:
    return message.removeprefix(f"{_class_of(kind)}: ") if kind else message


# ------------------------------------------------------------------------------- where it stands


def notes_on(failure: Failure) -> Iterator[Note]:
    """Yield where each member of `metadata.error` came from."""
    for member, value, places in (
        ("type", failure.type, _types),
        ("message", failure.message, _messages),
    ):
        if value is None:
            continue
        field = f"metadata.error.{member}"
        node, name, exact = _location(value, failure.source, places)
        if failure.rule is not None:
            yield Note("inferred", field, None, node.span.span_id, name, failure.rule)
        elif exact:
            yield Note("kept", field, None, node.span.span_id, name)
        else:
            yield Note(
                "normalised", field, None, node.span.span_id, name, "as its dialect reads it"
            )
    origin = failure.arose_in
    passed = (
        "the innermost span with the same error" if origin is not failure.source else failure.rule
    )
    outcome: Any = "kept" if passed is None else "inferred"
    yield Note(outcome, "metadata.error.span_id", None, origin.span.span_id, None, passed)


def _location(value: str, node: Node, places: _Places) -> tuple[Node, str | None, bool]:
    """Return the span and the attribute that hold exactly this text, which may be a span around the
    node, since a call often has two; else the attribute of the node that it was read from."""
    holder: Node | None = node
    for _ in range(_AROUND):
        if holder is None:
            break
        for name, stored in (*places(holder.span), *holder.span.attributes.items()):
            if stored == value:
                return holder, name, True
        holder = holder.parent
    return node, next((name for name, stored in places(node.span) if stored), None), False


def _types(span: SpanRecord) -> Iterator[tuple[str, Any]]:
    yield core.ERROR_TYPE, span.attributes.get(core.ERROR_TYPE)
    yield from _of_exceptions(span, core.EXCEPTION_TYPE)


def _messages(span: SpanRecord) -> Iterator[tuple[str, Any]]:
    yield _STATUS, span.status_message
    yield from _of_exceptions(span, core.EXCEPTION_MESSAGE)
    for name in _ON_SPAN:
        yield name, span.attributes.get(name)


def _of_exceptions(span: SpanRecord, name: str) -> Iterator[tuple[str, Any]]:
    """Yield an attribute of the exception events, the last first: earlier ones were caught."""
    for event in reversed(span.events):
        if name in event.attributes:
            yield name, event.attributes[name]
