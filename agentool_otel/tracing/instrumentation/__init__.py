"""Shared parts of instrumentors, so that each is little more than a table of patches.

instrumentor   the patch table, and everything frameworks have in common
options        what `instrument()` of an instrumentor takes
client_calls   the methods of a client library, as a table: sync, async, streams, raw responses
live_steps     the same of a system that reports its work by events
streams        answers that come in chunks
frames         where the context of a callback is current, in methods that call back
mcp_requests   one request of the Model Context Protocol under way, on either side
wrapper_chain  wrappers of other tools around the same function

Public: an instrumentor for a framework of one's own is made of the same pieces, outside this
package, and found by an entry point of the group `opentelemetry_instrumentor` whose name begins
with `agentool-`. The operations that spans are made of are in `agentool_otel.model.operations`, the
shapes of model APIs in `agentool_otel.providers`.
"""

from __future__ import annotations

from agentool_otel.tracing.instrumentation.client_calls import (
    ClientCall,
    async_method,
    method,
    twins,
)
from agentool_otel.tracing.instrumentation.instrumentor import AgentInstrumentor, Patch
from agentool_otel.tracing.instrumentation.options import InstrumentorOptions
from agentool_otel.tracing.spans.step_spans import OpenSpans, StepSpan, start_step

__all__ = [
    "AgentInstrumentor",
    "ClientCall",
    "InstrumentorOptions",
    "OpenSpans",
    "Patch",
    "StepSpan",
    "async_method",
    "method",
    "start_step",
    "twins",
]
