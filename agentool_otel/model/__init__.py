"""Data types of the package: documents, spans, and the operations between them.

    documents     the agentool spec's JSON documents, held without loss
    codec         documents from and to JSON, and from the reference package's objects
    plain_text    documents as one line each, which is what `print` shows
    notebook      traces and verdicts as HTML, which is what a notebook shows
    schema        their JSON Schemas; the files in `schemas/` are generated from the types
    recorder      what a translator of events needs of whoever keeps the steps
    validation    which document a JSON object is, and what is wrong with it
    spec_documents  which document an object of anybody's file is
    statuses      how a run can end
    times         RFC 3339 text and nanoseconds
    span_ids      the ids that a document's spans have
    spans         a span as it was collected
    operations    what one span says, in no one's vocabulary
    messages      messages between an agent and a model

The document and span types are also names of this package. Nothing here knows a framework, a
vocabulary or a place. Names load when first used, because the live side needs few of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentool_otel.model.documents import UNSET as UNSET
    from agentool_otel.model.documents import Assertion as Assertion
    from agentool_otel.model.documents import AssertionResult as AssertionResult
    from agentool_otel.model.documents import Document as Document
    from agentool_otel.model.documents import EvalCase as EvalCase
    from agentool_otel.model.documents import EvalResult as EvalResult
    from agentool_otel.model.documents import ReasoningTrace as ReasoningTrace
    from agentool_otel.model.documents import RegisteredTool as RegisteredTool
    from agentool_otel.model.documents import Step as Step
    from agentool_otel.model.documents import ToolCall as ToolCall
    from agentool_otel.model.documents import ToolExchange as ToolExchange
    from agentool_otel.model.documents import ToolRegistry as ToolRegistry
    from agentool_otel.model.documents import ToolResult as ToolResult
    from agentool_otel.model.documents import ToolSpec as ToolSpec
    from agentool_otel.model.documents import TraceMetrics as TraceMetrics
    from agentool_otel.model.documents import UnsetType as UnsetType
    from agentool_otel.model.spans import SpanEvent as SpanEvent
    from agentool_otel.model.spans import SpanLink as SpanLink
    from agentool_otel.model.spans import SpanRecord as SpanRecord

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


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = "spans" if name.startswith("Span") else "documents"
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
