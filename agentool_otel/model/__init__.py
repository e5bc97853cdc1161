"""What everything else moves about: documents, spans, and what lies between them.

    documents     the agentool spec's JSON documents, held without loss
    codec         documents from and to JSON, and from the reference package's objects
    schema        their JSON Schemas; the files in `schemas/` are generated from the types
    validation    which document a JSON object is, and what is wrong with it
    times         RFC 3339 text and nanoseconds
    spans         a span as it was collected
    operations    what one span says, in no one's vocabulary
    messages      messages between an agent and a model

The document and span types are also names of this package. Nothing here knows a framework, a
vocabulary or a place.
"""

from agentool_otel.model.documents import (
    UNSET,
    Assertion,
    AssertionResult,
    Document,
    EvalCase,
    EvalResult,
    ReasoningTrace,
    RegisteredTool,
    Step,
    ToolCall,
    ToolExchange,
    ToolRegistry,
    ToolResult,
    ToolSpec,
    TraceMetrics,
    UnsetType,
)
from agentool_otel.model.spans import SpanEvent, SpanLink, SpanRecord

__all__ = [
    "UNSET",
    "Assertion",
    "AssertionResult",
    "Document",
    "EvalCase",
    "EvalResult",
    "ReasoningTrace",
    "RegisteredTool",
    "SpanEvent",
    "SpanLink",
    "SpanRecord",
    "Step",
    "ToolCall",
    "ToolExchange",
    "ToolRegistry",
    "ToolResult",
    "ToolSpec",
    "TraceMetrics",
    "UnsetType",
]
