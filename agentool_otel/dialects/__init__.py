"""Dialects: the vocabularies in which SDKs describe spans.

Those of products are in their folders in `integrations`; here are the kit, and the vocabularies of
many products. A dialect is pure: one span in, one operation out, no I/O and no look at the tree.
Every span is matched by itself, because real traces mix vocabularies. A dialect that writes obeys
`read(write(operation)) == operation`.

    markers     what a span must have for the dialect to be asked about it at all
    content     the names that hold content; where it is off, none of them leaves
    recognise   how sure the dialect is that a span is written in it, and why
    read        span attributes to an operation; what was not understood stays in `extra`
    write       an operation to span name, kind and attributes (optional)

If an SDK records a run as spans that are not nested, its dialect names what links them
(`trace_links`) and puts them in order once all are there (`arrange`); both are optional.
"""

from __future__ import annotations

from agentool_otel.dialects.kit.dialect import (
    Confidence,
    Content,
    Dialect,
    LinkingDialect,
    Markers,
    Match,
    TraceLinks,
    WritingDialect,
    WrittenSpan,
    classify,
    dialects,
    linking_dialects,
    match_dialect,
    writing_dialect,
)
from agentool_otel.dialects.kit.reading import LazyJson, Reader

__all__ = [
    "Confidence",
    "Content",
    "Dialect",
    "LazyJson",
    "LinkingDialect",
    "Markers",
    "Match",
    "Reader",
    "TraceLinks",
    "WritingDialect",
    "WrittenSpan",
    "classify",
    "dialects",
    "linking_dialects",
    "match_dialect",
    "writing_dialect",
]
