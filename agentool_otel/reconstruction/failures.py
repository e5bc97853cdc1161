"""What ended a run that did not succeed, and the span where it arose.

The run's own span says it, or that of a bare model call. Where the same error passed through spans
further down, it arose in the innermost of them. Where the run says no more than that it failed, the
failure inside with which it ended is taken. What a run lived through did not end it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile
from typing import Any, NamedTuple

from agentool_otel.model.operations import Unclassified
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reconstruction.report.fidelity import Note
from agentool_otel.reconstruction.status import Status, deciding_span
from agentool_otel.reconstruction.tree import Node
from agentool_otel.reconstruction.values import set_known, text
from agentool_otel.semconv import core

__all__ = ["Failure", "ended_well", "failure_of", "notes_on"]

_STATUS = "status.message"
_ON_SPAN = ("error.message", core.EXCEPTION_MESSAGE)
_Places = Callable[[SpanRecord], Iterable[tuple[str, Any]]]
"""Where spans say something: names and values, the likeliest place first."""
_Words = tuple[str | None, str | None]
"""Type and message of an error; None for what is not said, never empty."""


class Failure(NamedTuple):
    """What ended a run: of type and message one is known at least."""

    type: str | None
    message: str | None
    arose_in: Node
    """The innermost span that says so."""
    told_by: Node
    """The span whose words these are."""
    rule: str | None = None
    """Why it is taken for the run's, where the run does not say it itself."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as `metadata.error` of a trace."""
        made: dict[str, Any] = {}
        set_known(made, "type", self.type)
        set_known(made, "message", self.message)
        set_known(made, "span_id", self.arose_in.span.span_id or None)
        return made


def ended_well(status: Any) -> bool:
    """Whether a status is one of a run that nothing went wrong in, or that has not ended."""
    return status in ("success", "in_progress")


def failure_of(
    status: Status, root: Node | None, nodes: list[Node], inferences: list[Node]
) -> Failure | None:
    """Return what ended a run; None where it went well, or nothing is known beyond its status."""
    if ended_well(status.value):
        return None
    if status.node is not None and status.reason is not None:
        reason = status.reason if status.reason != status.value else None
        return _failure((reason, None), status.node, status.node)
    for node in (status.node, deciding_span(root, nodes, inferences)):
        if node is not None and node.operation.error_type is not None:
            return _of_error(node, status.value, nodes)
    return None


def _of_error(node: Node, status: str, nodes: list[Node]) -> Failure | None:
    kind, message = words = _words_of(node)
    if message is not None:
        return _failure(words, _origin(node), node)
    specific = kind if kind != status else None
    inside = _last_failure(node, nodes)
    if inside is not None and (specific is None or _same_class(specific, _words_of(inside)[0])):
        said = f"the run says no more than {node.operation.error_type!r}"
        rule = f"{said}: the failure inside that it ended with"
        return _failure(_words_of(inside), _origin(inside), inside, rule)
    return _failure((specific, None), _origin(node), node)


def _failure(
    words: _Words, arose_in: Node, told_by: Node, rule: str | None = None
) -> Failure | None:
    return None if words == (None, None) else Failure(*words, arose_in, told_by, rule)


def _words_of(node: Node) -> _Words:
    """Return the type and the message of a failed span.

    OpenTelemetry's SDK puts the class before the message where it describes the status, some
    describe none: the exception event then says it better.
    """
    kind = text(node.operation.error_type) or None
    if kind == core.ERROR_TYPE_OTHER:
        kind = None
    said = text(node.operation.error_message)
    beside = _said_beside(node.span, kind)
    if beside is not None and (not said or said == f"{_class_of(kind)}: {beside}"):
        said = beside
    return kind, said or None


def _said_beside(span: SpanRecord, kind: str | None) -> str | None:
    """Return the message that an exception event of a failed span has, the last one of its class
    first, or else an attribute."""
    found: list[str] = []
    for event in reversed(span.events):
        if said := text(event.attributes.get(core.EXCEPTION_MESSAGE)):
            if _same_class(text(event.attributes.get(core.EXCEPTION_TYPE)), kind):
                return said
            found.append(said)
    found += [said for name in _ON_SPAN if (said := text(span.attributes.get(name)))]
    return found[0] if found else None


# ------------------------------------------------------------------------------ the way it came


def _origin(node: Node) -> Node:
    """Return the innermost span below a failed one that says the same, the last one of several.

    It is remembered for all spans on the way: runs can be nested by the thousand, each of which
    asks for it.
    """
    way: list[Node] = []
    while node.origin is None:
        inner = _last(it for it in _failed_below(node) if _same(it, node))
        if inner is None:
            break
        way.append(node)
        node = inner
    found = node.origin or node
    for passed in way:
        passed.origin = found
    return found


def _failed_below(node: Node) -> Iterator[Node]:
    """Yield the nearest failed spans below one. An operation that did not fail has dealt with what
    failed inside it; plumbing may keep no errors at all."""
    waiting = list(node.children)
    while waiting:
        inside = waiting.pop()
        if inside.operation.error_type is not None:
            yield inside
        elif isinstance(inside.operation, Unclassified):
            waiting += inside.children


def _last_failure(node: Node, nodes: list[Node]) -> Node | None:
    """Return the failure below a span after which its run did nothing more."""
    failed = _last(_failed_below(node))
    if failed is None or failed.end_ns is None:
        return None
    for other in nodes:
        if isinstance(other.operation, Unclassified) or other is failed:
            continue
        if (other.start_ns or 0) >= failed.end_ns and not _is_below(other, failed, node):
            return None
    return failed


def _is_below(node: Node, other: Node, root: Node) -> bool:
    """Whether a span is below another one of the same run."""
    return any(up is other for up in takewhile(lambda up: up is not root, node.ancestors()))


def _last(nodes: Iterable[Node]) -> Node | None:
    return max(nodes, key=lambda node: (node.end_ns or 0, node.order), default=None)


def _same(one: Node, other: Node) -> bool:
    """Whether two failed spans say the same; SDKs give the class with or without its module, and
    the message with or without the class."""
    (kind, message), (other_kind, other_message) = _words_of(one), _words_of(other)
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
    told_by = failure.told_by
    for member, value, places in (
        ("type", failure.type, _types),
        ("message", failure.message, _messages),
    ):
        if value is None:
            continue
        field = f"metadata.error.{member}"
        node, name, exact = _found(value, told_by, places)
        if failure.rule is not None:
            yield Note("inferred", field, None, node.span.span_id, name, failure.rule)
        elif exact:
            yield Note("kept", field, None, node.span.span_id, name)
        else:
            yield Note(
                "normalised", field, None, node.span.span_id, name, "as its dialect reads it"
            )
    origin = failure.arose_in
    passed = "the innermost span that says the same" if origin is not told_by else failure.rule
    outcome: Any = "kept" if passed is None else "inferred"
    yield Note(outcome, "metadata.error.span_id", None, origin.span.span_id, None, passed)


def _found(value: str, node: Node, places: _Places) -> tuple[Node, str | None, bool]:
    """Return the span and the attribute that hold a text as it is, else where it was read from: one
    call is often told by two spans, the one around the other."""
    for holder in (node, *node.ancestors()):
        for name, said in (*places(holder.span), *holder.span.attributes.items()):
            if said == value:
                return holder, name, True
    return node, next((name for name, said in places(node.span) if said), None), False


def _types(span: SpanRecord) -> Iterator[tuple[str, Any]]:
    yield core.ERROR_TYPE, span.attributes.get(core.ERROR_TYPE)
    yield from _of_exceptions(span, core.EXCEPTION_TYPE)


def _messages(span: SpanRecord) -> Iterator[tuple[str, Any]]:
    yield _STATUS, span.status_message
    yield from _of_exceptions(span, core.EXCEPTION_MESSAGE)
    for name in _ON_SPAN:
        yield name, span.attributes.get(name)


def _of_exceptions(span: SpanRecord, name: str) -> Iterator[tuple[str, Any]]:
    """Yield an attribute of the exception events, the last one first: those before were caught."""
    for event in reversed(span.events):
        if name in event.attributes:
            yield name, event.attributes[name]
