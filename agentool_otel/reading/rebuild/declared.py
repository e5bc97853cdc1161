"""Documents that are no part of a run as spans, and back.

A ToolSpec, a ToolRegistry, an EvalCase or a call without its run declares something, and nothing
happens in it: it is a span without a duration in a trace of its own, with the whole document as
JSON. Its ids follow from the document, so that what is sent twice has the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import blake2b
from time import time_ns
from typing import Any

from agentool_otel.errors import DecodeError
from agentool_otel.ground.json_codec import canonical, dumps, loads
from agentool_otel.ground.version import SCOPE
from agentool_otel.model.codec import decode
from agentool_otel.model.documents import Document, ToolRegistry, ToolSpec
from agentool_otel.model.spans import Attributes, SpanRecord
from agentool_otel.model.spec_documents import CLASSES
from agentool_otel.reading.rebuild.evaluation_spans import separate_evaluations
from agentool_otel.reading.rebuild.result_spans import verdicts_in
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["declaration", "documents_of"]


def declaration(document: Document, resource: Attributes) -> SpanRecord:
    """Return the span of a document.

    Args:
        document: a document of the spec that is no trace and no result.
        resource: resource of the span.
    """
    kind = type(document).__name__
    value = document.to_dict()
    seed = f"{kind} {canonical(value)}".encode("utf-8", "surrogatepass")
    attributes: Attributes = {
        agentool.DOCUMENT_TYPE: kind,
        agentool.DOCUMENT: dumps(value),
    }
    if tools := _definitions(document):
        attributes[gen_ai.TOOL_DEFINITIONS] = dumps(tools)
    now_ns = time_ns()
    return SpanRecord(
        blake2b(seed, digest_size=16).hexdigest(),
        blake2b(seed, digest_size=8).hexdigest(),
        None,
        f"declare {kind}",
        start_ns=now_ns,
        end_ns=now_ns,
        attributes=attributes,
        scope=SCOPE,
        resource=resource,
    )


def _definitions(document: Document) -> list[dict[str, Any]]:
    """Return the tools that a document declares, as the conventions define tools."""
    specs: Iterable[Any] = ()
    if isinstance(document, ToolSpec):
        specs = (document.to_dict(),)
    elif isinstance(document, ToolRegistry):
        specs = (tool.get("spec") for tool in document.to_dict().get("tools", ()))
    members = ("name", "description", "parameters")
    return [
        {"type": "function", **{name: spec[name] for name in members if name in spec}}
        for spec in specs
        if isinstance(spec, dict)
    ]


def documents_of(spans: list[SpanRecord]) -> Iterator[Document]:
    """Yield the documents of a trace without a run: those that its spans declare, then the results
    that belong to a run of another recording. Nothing where it has any other span."""
    work = separate_evaluations(spans)
    declared = [_document_in(node.span.attributes) for node in work.nodes]
    if None in declared:
        return
    yield from filter(None, declared)
    yield from verdicts_in(work.judgements).results


def _document_in(attributes: Attributes) -> Document | None:
    cls = CLASSES.get(str(attributes.get(agentool.DOCUMENT_TYPE)))
    text = attributes.get(agentool.DOCUMENT)
    if cls is None or not isinstance(text, str):
        return None
    try:
        return decode(cls, loads(text))
    except (DecodeError, ValueError):  # masked, cut or somebody else's
        return None
