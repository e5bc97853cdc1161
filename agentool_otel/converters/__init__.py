"""Converters: the documents of other systems to documents of the agentool spec, and back.

Any two formats convert through the documents of the spec, so each format knows only those. Data of
a document without a member in the spec is kept in `metadata[<name of the format>]`; data of a
spec's document without a member in a format is kept wherever that format allows additional members.
Data without any place is a loss, and is listed. Third parties add formats through the entry-point
group `agentool_otel.converters`.

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
