"""Converters: the documents of other systems to documents of the agentool spec, and back.

Any two formats convert through the documents of the spec, so each
format knows those and no other. What a document says that the spec has no member for is kept in
`metadata[<name of the format>]`; what a document of the spec says that a format has no member for
is kept wherever that format lets others add something. What has no place at all is a loss, and is
listed. Third parties add formats through the entry-point group `agentool_otel.converters`.

    agentool         the documents of the spec themselves
    kit/             what the modules of formats are made of
    converting       `convert`: from one format to another

Those of products are in their folders in `integrations`.
"""

from __future__ import annotations

from agentool_otel.converters.converting import (
    Conversion,
    Converter,
    convert,
    converter_for,
    converter_named,
    converters,
    from_agentool,
    to_agentool,
)

__all__ = [
    "Conversion",
    "Converter",
    "convert",
    "converter_for",
    "converter_named",
    "converters",
    "from_agentool",
    "to_agentool",
]
