"""The tree of one OTel trace: every span with its operation, its parent and its children."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from operator import attrgetter

import msgspec

from agentool_otel.dialects import classify
from agentool_otel.dialects.kit.dialect import GUESSED, prompt_ids
from agentool_otel.dialects.openinference.repeated_names import without_added_names
from agentool_otel.model.operations import (
    AgentInvocation,
    Operation,
    Unclassified,
    WorkflowInvocation,
)
from agentool_otel.model.spans import SpanRecord
from agentool_otel.model.times import END_NS, FIRST_NS
from agentool_otel.reading.rebuild.lineage import Lineage
from agentool_otel.semconv import agentool

__all__ = [
    "Node",
    "grow",
    "has_summed_usage",
    "is_adopted",
    "is_guessed",
    "is_late",
    "is_open",
    "is_record",
    "is_uncaught",
    "link",
]


_START_NS, _END_NS, _PARENT_ID = (
    agentool.SPAN_START_NS,
    agentool.SPAN_END_NS,
    agentool.SPAN_PARENT_ID,
)
_RUNS = frozenset((AgentInvocation, WorkflowInvocation))
_DIGITS = 18
"""Those of a number that is read: more take long, and mean nothing."""
_ORDER = attrgetter("order")
_OURS = ("gen_ai.", "agentool.")
_ALONE = Lineage(())
"""That of a node which is part of no tree."""


class Node:
    """A span in its tree."""

    __slots__ = (
        "children",
        "dialect",
        "end_ns",
        "is_run",
        "lineage",
        "operation",
        "order",
        "origin",
        "parent",
        "span",
        "start_ns",
    )

    def __init__(self, span: SpanRecord):
        if agentool.ALSO in span.attributes:
            span = without_added_names(span)
        attributes = span.attributes
        for event in span.events:
            if event.name == agentool.EVENT_DETAILS:  # content that was kept off the span
                extra = event.attributes.items()
                attributes = {**{k: v for k, v in extra if k.startswith(_OURS)}, **attributes}
        if attributes is not span.attributes:
            span = msgspec.structs.replace(span, attributes=attributes)
        self.span = span
        self.dialect: str | None
        self.operation: Operation
        self.dialect, self.operation = classify(span)
        self.parent: Node | None = None
        self.children: list[Node] = []
        start_ns, end_ns = span.start_ns, span.end_ns
        if _START_NS in attributes or _END_NS in attributes:
            start_ns = _exact(attributes.get(_START_NS), start_ns)
            end_ns = _exact(attributes.get(_END_NS), end_ns)
        if start_ns is not None and not FIRST_NS <= start_ns < END_NS:
            start_ns = None
        if end_ns is not None and not FIRST_NS <= end_ns < END_NS:
            end_ns = None
        self.start_ns, self.end_ns = start_ns, end_ns
        self.is_run = self.operation.__class__ in _RUNS
        self.order = (start_ns or 0, span.span_id)
        self.lineage = _ALONE
        """Its ancestors and descendants."""
        self.origin: Node | None = None
        """The span below it where its error arose; None until it has been looked up."""

    def with_operation(self, operation: Operation) -> Node:
        """Return this node with another operation, its place in the tree the same."""
        other = Node.__new__(Node)
        for name in Node.__slots__:
            setattr(other, name, getattr(self, name))
        other.operation = operation
        other.is_run = operation.__class__ in _RUNS
        return other

    def unlink(self) -> None:
        """Drop the references to other nodes: the cycles of thousands of trees are expensive to
        leave to the garbage collector."""
        self.parent = self.origin = None
        self.children = []
        self.lineage = _ALONE

    def nearest(self, kind: Callable[[Node], bool]) -> Node | None:
        """Return the nearest ancestor of a given kind, which does not change."""
        return None if self.parent is None else self.lineage.nearest(self, kind)

    def is_below(self, other: Node) -> bool:
        """Return whether it is below another span of its trace."""
        return self.lineage is other.lineage and self.lineage.is_below(self, other)


def has_summed_usage(span: SpanRecord) -> bool:
    """Return whether the tokens on a span are a sum of ours over the model calls below it.

    They include those of the runs inside, so they belong to no run alone.
    """
    return agentool.METRICS_TOOL_CALL_COUNT in span.attributes


def grow(spans: list[SpanRecord]) -> list[Node]:
    """Return the nodes of a trace, linked, in order of start."""
    nodes = link([Node(span) for span in spans])
    guessed = list(filter(is_guessed, nodes))
    if guessed and not _may_guess(nodes, guessed):
        for node in guessed:
            node.dialect, node.operation = None, Unclassified(extra=dict(node.span.attributes))
            node.is_run = False
    return nodes


def _may_guess(nodes: list[Node], guessed: list[Node]) -> bool:
    """Return whether guesses about spans count: beside spans of a known vocabulary they are spans
    of the application, and an agent's name alone may be anybody's."""
    operations = (node.operation for node in nodes if node.dialect not in (None, GUESSED))
    if any(not isinstance(operation, Unclassified) for operation in operations):
        return False
    return any(not node.is_run for node in guessed)


def is_guessed(node: Node) -> bool:
    """Return whether a span of no known vocabulary was read by the names of its attributes."""
    return node.dialect == GUESSED


def link(nodes: list[Node]) -> list[Node]:
    """Link the nodes of a trace and return them in order of start.

    A node whose parent is missing becomes a root, as does one in a circle of parents. But if only
    one span of the trace has no parent id, and that is a run, the others go below it.
    """
    by_id = {node.span.span_id: node for node in nodes}
    ordered = sorted(by_id.values(), key=_ORDER)
    roots, lost = _set_parents(ordered, by_id)
    if lost and len(roots) == 1 and roots[0].is_run:
        for node in lost:
            node.parent = roots[0]
    prompts = [node for node in roots if node.is_run and is_record(node)]
    if prompts:
        _put_under_prompts(ordered, prompts)
    lineage = Lineage(ordered)
    for node in ordered:
        node.lineage = lineage
        if node.parent is not None:
            node.parent.children.append(node)
    return ordered


def _set_parents(ordered: list[Node], by_id: dict[str, Node]) -> tuple[list[Node], list[Node]]:
    """Set the parents of nodes; return those without a parent id, and those whose parent is
    missing."""
    early: list[Node] = []  # what does not start after its parent: in every circle there is some
    roots: list[Node] = []
    lost: list[Node] = []
    for node in ordered:
        parent_id = node.span.parent_id
        if parent_id is None:
            parent_id = node.span.attributes.get(_PARENT_ID)
            if not isinstance(parent_id, str):
                roots.append(node)
                continue
        parent = by_id.get(parent_id)
        if parent is None:
            lost.append(node)
            continue
        node.parent = parent
        if parent.order >= node.order:
            early.append(node)
    if early:
        _break_circles(early)
    return roots, lost


def is_record(node: Node) -> bool:
    """True for a log record outside any span: an instant without a parent."""
    return node.parent is None and node.span.parent_id is None and node.start_ns == node.end_ns


def is_uncaught(node: Node) -> bool:
    """True for the exception that ended a program, below its last call outside any run."""
    return agentool.UNCAUGHT in node.span.attributes


def is_open(node: Node) -> bool:
    """Return whether a span has started and not ended; one without any time is not open."""
    return node.end_ns is None and node.start_ns is not None


def is_late(node: Node, parent: Node) -> bool:
    """Return whether a span began after its ancestor had ended."""
    return parent.end_ns is not None and node.start_ns is not None and node.start_ns > parent.end_ns


def is_adopted(node: Node) -> bool:
    """True for a span that was put below the root because its own parent is missing."""
    above, parent_id = node.parent, node.span.parent_id
    return above is not None and parent_id is not None and parent_id != above.span.span_id


def _put_under_prompts(ordered: list[Node], prompts: list[Node]) -> None:
    """Put the log records of a session below the user's prompt that they are part of: the one whose
    id they have, else the latest before them, else the first."""
    prompts = sorted(prompts, key=_sequence)
    times = [_sequence(node) for node in prompts]
    by_id = {prompt_id: node for node in prompts if (prompt_id := _prompt_id(node)) is not None}
    for node in ordered:
        if node.is_run or not is_record(node):
            continue
        prompt = by_id.get(_prompt_id(node) or "")
        if prompt is None:
            prompt = prompts[max(bisect_right(times, _sequence(node)) - 1, 0)]
        node.parent = prompt


def _prompt_id(node: Node) -> str | None:
    attributes = node.span.attributes
    return next((v for key in prompt_ids() if isinstance(v := attributes.get(key), str)), None)


def _sequence(node: Node) -> tuple[int, int, str]:
    number = node.span.attributes.get("event.sequence")
    if isinstance(number, str) and number.isdecimal():
        number = int(number[:_DIGITS])
    return (node.start_ns or 0, number if isinstance(number, int) else 0, node.span.span_id)


def _break_circles(nodes: list[Node]) -> None:
    """Make one node of every circle of parents a root: the same one in any order of the nodes."""
    done: set[Node] = set()
    for start in nodes:
        path: list[Node] = []
        on_path: set[Node] = set()
        node: Node | None = start
        while node is not None and node not in done:
            if node in on_path:
                circle = path[path.index(node) :]
                min(circle, key=lambda member: member.span.span_id).parent = None
                break
            path.append(node)
            on_path.add(node)
            node = node.parent
        done.update(on_path)


def _exact(attribute: object, stored: int | None) -> int | None:
    """Prefer the time we wrote as an attribute: several stores round the span's own."""
    if isinstance(attribute, str) and attribute.isdecimal() and len(attribute) <= _DIGITS + 2:
        attribute = int(attribute)
    if isinstance(attribute, bool) or not isinstance(attribute, int):
        return stored
    return attribute if stored is None or abs(attribute - stored) < 1_000_000 else stored
