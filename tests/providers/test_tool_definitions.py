"""Tool definitions of every provider, as JSON and as objects, are the conventions'."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import pytest

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.providers.tools import definitions

SCHEMA = {"type": "object", "properties": {"q": {"type": "string"}}}
ABOUT = {"name": "search", "description": "Look."}
EXPECTED = [{"type": "function", **ABOUT, "parameters": SCHEMA}]
SHAPES: dict[str, Any] = {
    "the conventions": EXPECTED[0],
    "chat completions": {"type": "function", "function": {**ABOUT, "parameters": SCHEMA}},
    "anthropic": {**ABOUT, "input_schema": SCHEMA},
    "anthropic, of the client": {"type": "custom", **ABOUT, "input_schema": SCHEMA},
    "google": {"functionDeclarations": [{**ABOUT, "parameters": SCHEMA}]},
    "google's SDK": {"function_declarations": [{**ABOUT, "parameters_json_schema": SCHEMA}]},
    "bedrock": {"toolSpec": {**ABOUT, "inputSchema": {"json": SCHEMA}}},
    "mcp": {**ABOUT, "inputSchema": SCHEMA},
    "a schema as text": {**ABOUT, "parameters": json.dumps(SCHEMA)},
    "an object": SimpleNamespace(**ABOUT, parameters_json_schema=SCHEMA),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_a_tool_has_one_definition_in_every_shape(shape: str) -> None:
    assert definitions([SHAPES[shape]]) == EXPECTED


@pytest.mark.parametrize("shape", [shape for shape in SHAPES if shape != "an object"])
def test_recordings_have_them_as_text_as_well(shape: str) -> None:
    assert onto.definitions(json.dumps([SHAPES[shape]])) == EXPECTED


def test_a_tool_of_the_server_has_the_name_of_its_type() -> None:
    offered = [{"type": "web_search"}, {"google_search": {}}, {"type": "mcp", "server_label": "db"}]
    assert definitions(offered) == [
        {"type": "web_search", "name": "web_search"},
        {"type": "google_search", "name": "google_search"},
        {"type": "mcp", "name": "db"},
    ]


@pytest.mark.parametrize("nothing", [None, [], ["search"], [{}], [{"type": "function"}]])
def test_what_is_no_tool_is_left_out(nothing: Any) -> None:
    assert definitions(nothing) is None


def test_other_members_stay_where_the_whole_is_wanted() -> None:
    strict = {"type": "function", "function": {**ABOUT, "parameters": SCHEMA, "strict": True}}
    assert definitions([strict]) == EXPECTED
    assert definitions([strict], complete=True) == [{**EXPECTED[0], "strict": True}]
