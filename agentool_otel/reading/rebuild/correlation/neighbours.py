"""Find the model call that requested a tool outside of any run: the last one before it, close in
the tree.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from agentool_otel.reading.rebuild.correlation.unknown_messages import request_of
from agentool_otel.reading.rebuild.lineage import Nearest
from agentool_otel.reading.rebuild.tree import Node

__all__ = ["Neighbours"]

_NEAR = 16
"""Most calls before a node that are tried. If none of them is below the nearest common ancestor,
the first one below it counts.
"""


class Neighbours:
    """Finds the last model call before a node below the nearest span around both, unless they serve
    different requests: two serve one if one is made while the other is served."""

    def __init__(self, calls: list[Node]):
        """Take model calls, in order of start."""
        self._calls = calls
        self._orders = [call.order for call in calls]
        self._first: dict[Node, Node] = {}
        """The first call below each span around one."""
        self._first_served: dict[Node, Node] = {}
        """The same of calls with no request between, or at the span itself."""
        for call in calls:
            _mark(self._first, call, None)
            _mark(self._first_served, call, request_of(call))
        self._around = Nearest(self._first.__contains__)
        self._around_served = Nearest(self._first_served.__contains__)

    def of(self, node: Node) -> Node | None:
        request = request_of(node)
        up = self._around.at(node.parent)
        if up is None:
            return None
        if request is None or up is request or up.is_below(request):
            return self._last(node, self._first[up], lambda call: call.is_below(up))
        # Whatever is below the request serves it. Further up only what serves no other one does.
        above = self._around_served.at(request.parent)
        if above is None:
            return None
        return self._last(node, self._first_served[above], lambda call: _is_seen(call, above))

    def _last(self, node: Node, first: Node, is_near: Callable[[Node], bool]) -> Node:
        place = bisect_right(self._orders, node.order)
        before = self._calls[max(place - _NEAR, 0) : place]
        return next((call for call in reversed(before) if is_near(call)), first)


def _is_seen(call: Node, above: Node) -> bool:
    """Return whether a call is below a span and serves no request made below it."""
    request = request_of(call)
    return call.is_below(above) and (request is None or not request.is_below(above))


def _mark(first: dict[Node, Node], call: Node, last: Node | None) -> None:
    """Note a call for the spans around it up to a last one, unless an earlier one is noted."""
    up = call.parent
    while up is not None and up not in first:
        first[up] = call
        up = up.parent if up is not last else None
