"""Cached look-ups of the ancestors and descendants of spans.

How deep spans are nested, and how many lie in one, is whatever a file says. So nothing walks up or
down the tree once per span: what is looked for around a span is remembered for all that were passed
on the way, and what lies below one is counted by the places of the spans in the order of the tree,
in which those below a span follow it in a row.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

if TYPE_CHECKING:
    from agentool_otel.reading.rebuild.tree import Node

__all__ = ["Keys", "Lineage", "Nearest"]

_T = TypeVar("_T")
Keys = Callable[["Node"], Iterable[Hashable]]
"""Gives what a span is counted by."""


class Nearest:
    """Finds the nearest span, at one or around it, that something holds for.

    That may cease to hold for a span, and not begin to. No span is passed twice, so that all
    lookups together take little more time than there are spans.
    """

    def __init__(self, holds: Callable[[Node], bool]):
        self._holds = holds
        self._further: dict[Node, Node | None] = {}
        """Next span of the search, for each span that was passed."""

    def at(self, node: Node | None) -> Node | None:
        further = self._further
        passed: list[Node] = []
        while node is not None and (node in further or not self._holds(node)):
            passed.append(node)
            node = further.get(node, node.parent)
        for one in passed:
            further[one] = node
        return node


class _Place(NamedTuple):
    """Position of a span in the order of the tree."""

    enter: int
    leave: int
    """The place of the first span behind it that is not below it."""
    depth: int
    jump: Node | None
    """A span further up, so that going up takes a number of steps that grows with the logarithm of
    the depth. Source: Myers, An applicative random-access stack, 1983."""


class Lineage:
    """The order and the nesting of the spans of one trace. Its parents and children are final."""

    __slots__ = ("_nearest", "_nodes", "_placed", "_postings", "_tables")

    def __init__(self, nodes: Sequence[Node]):
        self._nodes = nodes
        self._placed: dict[str, _Place] | None = None
        self._nearest: dict[Callable[[Node], bool], Nearest] = {}
        self._postings: dict[Keys, dict[Hashable, list[int]]] = {}
        self._tables: dict[Callable[..., Any], Any] = {}

    def nearest(self, node: Node, kind: Callable[[Node], bool]) -> Node | None:
        """Return the nearest span around one that is of a kind, which does not change."""
        nearest = self._nearest.get(kind)
        if nearest is None:
            nearest = self._nearest[kind] = Nearest(kind)
        return nearest.at(node.parent)

    def top(self, node: Node) -> Node:
        """Return the outermost ancestor of a span, or the span itself if it has none."""
        return node if node.parent is None else self.nearest(node, _is_top) or node

    def is_below(self, node: Node, other: Node) -> bool:
        """Return whether a span is below another one."""
        place, outer = self._place(node), self._place(other)
        return outer.enter < place.enter < outer.leave

    def count(self, keys: Keys, key: Hashable, below: Node) -> int:
        """Return how many spans below one have a key."""
        places = self._places_of(keys).get(key, ())
        place = self._place(below)
        return bisect_left(places, place.leave) - bisect_left(places, place.enter + 1)

    def lowest(self, node: Node, holds: Callable[[Node], bool]) -> Node | None:
        """Return the nearest span around one that something holds for, which then holds for all
        further up."""
        up = node.parent
        while up is not None and not holds(up):
            jump = self._place(up).jump
            up = jump if jump is not None and not holds(jump) else up.parent
        return up

    def cached(self, build: Callable[[Sequence[Node]], _T]) -> _T:
        """Return the result of a function of all spans of the trace, computed once."""
        if build not in self._tables:
            self._tables[build] = build(self._nodes)
        table: _T = self._tables[build]
        return table

    def _place(self, node: Node) -> _Place:
        placed = self._placed
        if placed is None:
            placed = self._placed = _places(self._nodes)
        return placed[node.span.span_id]

    def _places_of(self, keys: Keys) -> dict[Hashable, list[int]]:
        places = self._postings.get(keys)
        if places is None:
            places = self._postings[keys] = defaultdict(list)
            for node in sorted(self._nodes, key=lambda node: self._place(node).enter):
                for key in set(keys(node)):
                    places[key].append(self._place(node).enter)
        return places


def _is_top(node: Node) -> bool:
    return node.parent is None


def _places(nodes: Sequence[Node]) -> dict[str, _Place]:
    ordered: list[Node] = []
    waiting = [node for node in reversed(nodes) if node.parent is None]
    while waiting:
        ordered.append(node := waiting.pop())
        waiting += reversed(node.children)
    size = dict.fromkeys(ordered, 1)
    for node in reversed(ordered):
        if node.parent is not None:
            size[node.parent] += size[node]
    placed: dict[str, _Place] = {}
    for enter, node in enumerate(ordered):
        depth, jump = 0, node.parent
        if node.parent is not None:
            above = placed[node.parent.span.span_id]
            depth = above.depth + 1
            if above.jump is not None:
                further = placed[above.jump.span.span_id]
                beyond = depth - 1 - further.depth
                next_depth = placed[further.jump.span.span_id].depth if further.jump else -1
                if beyond == further.depth - next_depth:
                    jump = further.jump
        placed[node.span.span_id] = _Place(enter, enter + size[node], depth, jump)
    return placed
