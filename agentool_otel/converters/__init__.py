"""Converters: the documents of other systems to documents of the agentool spec, and back.

One module or folder per format. Any two formats convert through the documents of the spec, so each
format knows those and no other. What a document says that the spec has no member for is kept in
`metadata[<name of the format>]`; what a document of the spec says that a format has no member for
is kept wherever that format lets others add something. What has no place at all is a loss, and is
listed. Third parties add formats through the entry-point group `agentool_otel.converters`.

    agentool         the documents of the spec themselves
    openai_tools     tools of OpenAI's APIs
    anthropic_tools  tools of Anthropic's Messages API
    mcp_tools        tools of the Model Context Protocol, as a server lists them
    kit/             what the modules of formats are made of
    converting       `convert`: from one format to another
"""

from __future__ import annotations

from agentool_otel.converters.converting import (
    Conversion,
    Converter,
    convert,
    converter_named,
    converters,
    from_agentool,
    recognised,
    to_agentool,
)

__all__ = [
    "Conversion",
    "Converter",
    "convert",
    "converter_named",
    "converters",
    "from_agentool",
    "recognised",
    "to_agentool",
]
