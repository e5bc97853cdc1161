"""The traces that a caller of `evaluate` hands over, as objects or as JSON objects."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from agentool_otel.errors import DecodeError
from agentool_otel.model.codec import decode
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.reading.rebuild.trace import Rebuilt

__all__ = ["given_traces"]


def given_traces(traces: Any) -> Iterator[ReasoningTrace | Rebuilt]:
    """Yield the traces.

    Args:
        traces: one trace or several: documents, JSON objects of them, or what `rebuild` yields.

    Raises:
        DecodeError: something is no trace.
    """
    if isinstance(traces, (str, bytes, os.PathLike)):
        hint = f"evaluate(cases, load({traces!r})) reads a place"
        raise DecodeError("traces", f"the path {traces!r}", hint=hint)
    if isinstance(traces, (ReasoningTrace, Rebuilt, Mapping)):
        traces = [traces]
    if not isinstance(traces, Iterable):
        raise DecodeError("traces", f"an object of type {type(traces).__name__}")
    for at, item in enumerate(traces):
        if isinstance(item, (ReasoningTrace, Rebuilt)):
            yield item
        elif isinstance(item, Mapping):
            yield decode(ReasoningTrace, item)
        else:
            hint = "rebuild(spans) makes traces of spans, load(place) reads them"
            description = f"an object of type {type(item).__name__}"
            raise DecodeError("a trace", description, f"$[{at}]", hint=hint)
