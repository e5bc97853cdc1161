"""The JSON shapes of complex attributes.

Spec: the `gen-ai-*.json` files of the conventions, without their reference to a meta-schema.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentool_otel.semconv import gen_ai

__all__ = [
    "SHAPES",
    "Schema",
]

Schema = Mapping[str, Any]

_STRING: Schema = {"type": "string"}
_OPTIONAL_STRING: Schema = {"type": ["string", "null"]}
_OPTIONAL_OBJECT: Schema = {"type": ["object", "null"]}
_OBJECT: Schema = {"type": "object"}


def _part(kind: str, **fields: Schema) -> Schema:
    """A rule for one type of part; fields are required unless they allow null."""
    required = [name for name, it in fields.items() if "null" not in it.get("type", ())]
    return {
        "if": {"required": ["type"], "properties": {"type": {"const": kind}}},
        "then": {"required": required, "properties": fields},
    }


_TYPED: Schema = {"type": "object", "required": ["type"], "properties": {"type": _STRING}}
_PART: Schema = {
    **_TYPED,
    "allOf": [
        _part("text", content=_STRING),
        _part("reasoning", content=_STRING),
        _part("tool_call", name=_STRING, id=_OPTIONAL_STRING),
        _part("tool_call_response", response={}, id=_OPTIONAL_STRING),
        _part("server_tool_call", name=_STRING, server_tool_call=_TYPED, id=_OPTIONAL_STRING),
        _part("server_tool_call_response", server_tool_call_response=_TYPED, id=_OPTIONAL_STRING),
        _part("blob", content=_STRING, modality=_STRING, mime_type=_OPTIONAL_STRING),
        _part("file", file_id=_STRING, modality=_STRING, mime_type=_OPTIONAL_STRING),
        _part("uri", uri=_STRING, modality=_STRING, mime_type=_OPTIONAL_STRING),
        _part("compaction", id=_OPTIONAL_STRING, content=_OPTIONAL_STRING),
    ],
}
_PARTS: Schema = {"type": "array", "items": _PART}
_MESSAGE: Schema = {
    "type": "object",
    "required": ["role", "parts"],
    "properties": {
        "role": _STRING,
        "parts": _PARTS,
        "name": _OPTIONAL_STRING,
        # Output messages only. Required up to 2026-08, deprecated since: a string or left out
        # satisfies both.
        "finish_reason": _STRING,
    },
}
_DEFINITION: Schema = {
    "type": "object",
    "required": ["type", "name"],
    "properties": {"type": _STRING, "name": _STRING},
    "allOf": [
        {
            "if": {"required": ["type"], "properties": {"type": {"const": "function"}}},
            "then": {
                "properties": {"description": _OPTIONAL_STRING, "parameters": _OPTIONAL_OBJECT}
            },
        }
    ],
}
_DOCUMENT: Schema = {
    "type": "object",
    "properties": {"id": _OPTIONAL_STRING, "score": {"type": ["number", "null"]}},
}
_RECORD: Schema = {
    "type": "object",
    "required": ["content"],
    "properties": {
        "id": _OPTIONAL_STRING,
        "metadata": _OPTIONAL_OBJECT,
        "score": {"type": ["number", "null"]},
    },
}

SHAPES: Mapping[str, Schema] = {
    gen_ai.INPUT_MESSAGES: {"type": "array", "items": _MESSAGE},
    gen_ai.OUTPUT_MESSAGES: {"type": "array", "items": _MESSAGE},
    gen_ai.SYSTEM_INSTRUCTIONS: _PARTS,
    gen_ai.TOOL_DEFINITIONS: {"type": "array", "items": _DEFINITION},
    gen_ai.TOOL_CALL_ARGUMENTS: _OBJECT,
    gen_ai.TOOL_CALL_RESULT: _OBJECT,
    gen_ai.RETRIEVAL_DOCUMENTS: {"type": "array", "items": _DOCUMENT},
    gen_ai.MEMORY_RECORDS: {"type": "array", "items": _RECORD},
}
"""JSON Schemas in the few keywords that `conformance` understands: type, required, properties,
items, const, allOf, if and then. They are open: extra keys and unknown parts are allowed."""
