"""The objects again, from spans.

What comes back: of each span its Invocation and its Result, of each span event its object. What was
withheld, masked or shortened stays so. An event that reported an Invocation or a Result has the
facts of it: the whole is on the span.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from agentool_otel.integrations.agent_tool.events.objects_on_spans import object_in, object_on
from agentool_otel.model.spans import SpanRecord

__all__ = ["objects_in_spans"]


def objects_in_spans(spans: Iterable[SpanRecord]) -> Iterator[dict[str, Any]]:
    """Yield the objects of Agent Tool that spans hold: for each span its Invocation, the objects of
    its events in order, and its Result.

    Args:
        spans: in any order; those of others have none.
    """
    for span in spans:
        invocation = object_on("Invocation", span.attributes)
        if invocation is not None:
            yield invocation
        for event in span.events:
            obj = object_in(event.attributes)
            if obj is not None:
                yield obj
        result = object_on("Result", span.attributes)
        if result is not None:
            yield result
