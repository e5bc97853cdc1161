"""The JSON shapes of complex attributes.

Spec: `model/gen-ai/gen-ai-*.json` of open-telemetry/semantic-conventions-genai, 2026 (output
messages at 2b902ce, documents at 3bac206, records at 2c8f13c, tool definitions at d357ce2,
instructions at 16c5f01), without their reference to a meta-schema. Up to 1.41 the files are
`docs/gen-ai/gen-ai-*.json` of open-telemetry/semantic-conventions (documents at 8196239), which
require more members: `REQUIRED_BEFORE`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentool_otel.semconv import gen_ai

__all__ = [
    "SHAPES",
    "Schema",
    "shapes_in",
]

Schema = Mapping[str, Any]

_STRING: Schema = {"type": "string"}
_OPTIONAL_STRING: Schema = {"type": ["string", "null"]}
_OPTIONAL_OBJECT: Schema = {"type": ["object", "null"]}
_OBJECT: Schema = {"type": "object"}


def _part(kind: str, **fields: Schema) -> Schema:
    """A rule for one type of part; fields are required unless they allow null."""
    required = [name for name, field in fields.items() if "null" not in field.get("type", ())]
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
        # Output messages only. Deprecated in the baseline, where it may be null as well; a string
        # is what satisfies every generation.
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
    "properties": {"id": _STRING, "score": {"type": ["number", "null"]}},
}
_RECORD: Schema = {
    "type": "object",
    "required": ["content"],
    "properties": {
        "id": _STRING,
        "metadata": _OBJECT,
        "score": {"type": "number"},
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
"""JSON Schemas in the few keywords that `testing.conformance` understands: type, required,
properties, items, const, allOf, if and then. They are open: extra keys and unknown parts are
allowed."""

_Required = Mapping[str, tuple[str, ...]]
_OF_MESSAGES: _Required = {gen_ai.OUTPUT_MESSAGES: ("finish_reason",)}

REQUIRED_BEFORE: Mapping[str, _Required] = {
    "2026-08": _OF_MESSAGES,
    "1.41": {**_OF_MESSAGES, gen_ai.RETRIEVAL_DOCUMENTS: ("id", "score")},
}
"""By generation: members that the items of an attribute must have beyond those of the baseline."""


def shapes_in(generation: str) -> Mapping[str, Schema]:
    """Return the shapes of complex attributes in a generation, by the baseline's names."""
    shapes = dict(SHAPES)
    for attribute, members in REQUIRED_BEFORE.get(generation, {}).items():
        items: Schema = shapes[attribute]["items"]
        needed = [*items.get("required", ()), *members]
        properties = dict(items["properties"])
        for member in members:  # required up to then means never null
            properties[member] = _NOT_NULL[member]
        shapes[attribute] = {
            "type": "array",
            "items": {**items, "required": needed, "properties": properties},
        }
    return shapes


_NOT_NULL: Mapping[str, Schema] = {
    "finish_reason": _STRING,
    "id": _STRING,
    "score": {"type": "number"},
}
