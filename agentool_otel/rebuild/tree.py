"""The tree of one OTel trace: every span with what it says, its parent and its children."""

from __future__ import annotations

from collections.abc import Iterator

from agentool_otel.dialects import classify
from agentool_otel.errors import DialectConflict
from agentool_otel.model.operations import AgentInvocation, Operation, Unclassified, WorkflowInvocation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import agentool

__all__ = ["Node", "grow"]


class Node:
    """A span in its tree."""

    __slots__ = ("children", "dialect", "end_ns", "operation", "parent", "span", "start_ns")

    def __init__(self, span: SpanRecord):
        self.span = span
        self.dialect: str | None = None
        self.operation: Operation
        try:
            self.dialect, self.operation = classify(span)
        except DialectConflict:
            self.operation = Unclassified(extra=dict(span.attributes))
        self.parent: Node | None = None
        self.children: list[Node] = []
        attributes = span.attributes
        self.start_ns = _exact(attributes.get(agentool.SPAN_START_NS), span.start_ns)
        self.end_ns = _exact(attributes.get(agentool.SPAN_END_NS), span.end_ns)

    @property
    def is_run(self) -> bool:
        return isinstance(self.operation, (AgentInvocation, WorkflowInvocation))

    @property
    def order(self) -> tuple[int, str]:
        return (self.start_ns or 0, self.span.span_id)

    def unlink(self) -> None:
        """Let go of parent and children: a tree holds itself alive until the garbage collector
        finds it, and finding trees by the thousand is dear."""
        self.parent = None
        self.children = []

    def ancestors(self) -> Iterator[Node]:
        node = self.parent
        while node is not None:
            yield node
            node = node.parent

    def inside(self) -> Iterator[Node]:
        """Yield everything below, depth first, without entering nested runs, whose own node is
        yielded."""
        stack = list(reversed(self.children))
        while stack:
            node = stack.pop()
            yield node
            if not node.is_run:
                stack.extend(reversed(node.children))


def grow(spans: list[SpanRecord]) -> list[Node]:
    """Return the nodes of a trace, linked, in order of start.

    A parent that is not among the spans makes its child a root, as does a circle of parents.
    """
    nodes = {span.span_id: Node(span) for span in spans}
    for node in nodes.values():
        parent_id = node.span.parent_id or node.span.attributes.get(agentool.SPAN_PARENT_ID)
        parent = nodes.get(parent_id) if isinstance(parent_id, str) else None
        if parent is None or parent is node or any(up is node for up in parent.ancestors()):
            continue
        node.parent = parent
    ordered = sorted(nodes.values(), key=lambda node: node.order)
    for node in ordered:
        if node.parent is not None:
            node.parent.children.append(node)
    return ordered


def _exact(attribute: object, stored: int | None) -> int | None:
    """Prefer the time we wrote as an attribute: several stores round the span's own."""
    if isinstance(attribute, str) and attribute.isdecimal():
        attribute = int(attribute)
    if isinstance(attribute, int) and not isinstance(attribute, bool):
        if stored is None or abs(attribute - stored) < 1_000_000:
            return attribute
    return stored
