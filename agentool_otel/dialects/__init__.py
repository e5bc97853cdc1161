"""Dialects: the vocabularies in which SDKs say what a span means.

One file per vocabulary. A dialect is pure: one span in, one operation out, no I/O and no look at
the tree. Every span is judged by itself, because real traces mix vocabularies. A dialect that
writes obeys `read(write(operation)) == operation`.

    signs       what a span must show for the dialect to be asked about it at all
    recognise   how sure a dialect is that a span speaks it, and why
    read        span attributes to an operation; what was not understood stays in `extra`
    write       an operation to span name, kind and attributes (optional)

Where an SDK tells a run by spans that do not lie below each other, its dialect says by what they
are tied, and puts them in order once they are all there (optional: `ties`, `gathered`).
"""

from __future__ import annotations

from agentool_otel.dialects.kit.dialect import (
    Confidence,
    Dialect,
    GatheringDialect,
    Judgement,
    Signs,
    Ties,
    WritingDialect,
    Written,
    classify,
    dialects,
    gathering_dialects,
    judge,
    writing_dialect,
)
from agentool_otel.dialects.kit.reading import Deferred, Reader

__all__ = [
    "Confidence",
    "Deferred",
    "Dialect",
    "GatheringDialect",
    "Judgement",
    "Reader",
    "Signs",
    "Ties",
    "WritingDialect",
    "Written",
    "classify",
    "dialects",
    "gathering_dialects",
    "judge",
    "writing_dialect",
]
