"""Checks of conversions: 18, 41, 61, 69, 84 and 88."""

from __future__ import annotations

import asyncio
import json
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from agentool_otel import ToolSpec
from agentool_otel.cli import main
from agentool_otel.converters import (
    convert,
    converter_named,
    converters,
    from_agentool,
    to_agentool,
)
from agentool_otel.errors import DecodeError
from agentool_otel.integrations.amplifier.converter import spec_of, tool_of
from tests.click_runner import CliRunner
from tests.seed_systems.examples import TOOLS

SPEC = Path(__file__).parent.parent / "fixtures" / "spec" / "tool-spec.json"
PAIRS = list(permutations(sorted(TOOLS), 2))


@pytest.mark.parametrize("name", ["openai-tools", "anthropic-tools"])
def test_check_18_a_tool_of_a_provider_has_the_parameters_of_the_tool_spec(name: str) -> None:
    document = json.loads(SPEC.read_text())
    [written] = from_agentool([ToolSpec.from_dict(document)], name)
    [read] = to_agentool([written], name)
    function = written.get("function", written)
    schema = function.get("parameters", function.get("input_schema"))
    assert schema == document["parameters"]
    assert read.to_dict()["parameters"] == document["parameters"]


KINDS = (
    *("function", "mcp_tool", "openapi_operation", "native_tool", "browser_action"),
    *("shell_command", "code_execution", "file_operation", "web_search", "retrieval"),
    *("model_task", "skill_tool", "peer_agent_tool", "policy_check", "artifact_operation"),
    *("evidence_export", "custom"),
)
LIFECYCLES = (
    *("draft", "available", "disabled", "requires_setup", "deferred", "deprecated", "retired"),
)


@pytest.mark.parametrize("lifecycle", LIFECYCLES)
@pytest.mark.parametrize("kind", KINDS)
def test_check_41_a_declaration_of_any_kind_and_state_comes_back(kind: str, lifecycle: str) -> None:
    declaration = {**TOOLS["agent-tool"][0], "tool_kind": kind, "lifecycle": lifecycle}
    [spec] = to_agentool([declaration], "agent-tool")
    assert from_agentool([spec], "agent-tool") == [declaration]


def test_check_41_a_declaration_is_a_tool_spec() -> None:
    [spec] = to_agentool(TOOLS["agent-tool"])
    result = spec.to_dict()
    assert result["parameters"] == TOOLS["agent-tool"][0]["input_contract"]["schema"]
    assert result["returns"] == {"type": "array"}
    assert result["metadata"]["category"] == "retrieval"
    assert result["metadata"]["side_effects"] is False
    assert result["metadata"]["agent-tool"]["tool_id"] == "desk.search"


def test_check_41_either_name_of_the_schema_is_read() -> None:
    declaration = dict(TOOLS["agent-tool"][0])
    contract = declaration.pop("input_contract")
    second = {"model_input_schema": contract["schema"]}
    [spec] = to_agentool([{**declaration, "input_contract": second}])
    assert spec.to_dict()["parameters"] == contract["schema"]


def test_check_41_what_is_declared_for_a_tool_spec_is_marked() -> None:
    spec = ToolSpec.from_dict(json.loads(SPEC.read_text()))
    [declaration] = from_agentool([spec], "agent-tool")
    assert declaration["schema_version"] == "0.2.0"
    assert (declaration["lifecycle"], declaration["tool_kind"]) == ("available", "function")
    assert declaration["annotations"]["synthesized"] is True
    assert to_agentool([declaration]) == [spec]


class Clock:
    """A tool as Amplifier's contract shows one: class attributes, and no schema."""

    name = "now"
    description = "Tell the time."

    async def execute(self, input: dict[str, Any]) -> dict[str, Any]:
        return {"success": True, "output": "noon"}


def test_check_61_a_live_tool_is_a_tool_spec() -> None:
    assert spec_of(Clock()) == ToolSpec(name="now", description="Tell the time.", parameters={})


def test_check_61_a_tool_spec_is_a_live_tool_and_the_same_tool_spec() -> None:
    async def execute(input: dict[str, Any]) -> str:
        return f"searched {input['query']}"

    spec = ToolSpec.from_dict(json.loads(SPEC.read_text()))
    tool = tool_of(spec, execute)
    assert (tool.name, tool.input_schema) == (spec.name, spec.parameters)
    assert asyncio.run(tool.execute({"query": "x"})) == "searched x"
    assert spec_of(tool) == spec


@pytest.mark.parametrize(
    "kind", ["ServerTool", "ClientTool", "RemoteTool", "BuiltinTool", "MCPTool"]
)
def test_check_69_a_tool_of_any_type_comes_back(kind: str) -> None:
    more = {"tool_type": "search", "configuration": {}, "client_transport": {"id": "t"}}
    component = {**TOOLS["agent-spec"][0], "component_type": kind, **more}
    [spec] = to_agentool([component])
    assert from_agentool([spec], "agent-spec") == [component]


def test_check_69_inputs_are_parameters_and_outputs_what_is_returned() -> None:
    [spec] = to_agentool(TOOLS["agent-spec"])
    result = spec.to_dict()
    assert result["parameters"] == {
        "type": "object",
        "properties": {
            "query": {"type": "string"},
            "limit": {"type": "integer", "default": 5},
        },
        "required": ["query"],
    }
    assert result["returns"]["properties"] == {
        "hits": {"type": "array"},
        "total": {"type": "integer"},
    }
    assert result["metadata"]["requires_confirmation"] is True


def test_check_69_headers_that_are_secret_go_nowhere() -> None:
    component = {**TOOLS["agent-spec"][0], "sensitive_headers": {"Authorization": "Bearer canary"}}
    with pytest.raises(DecodeError) as raised:
        convert([component], "agentool")
    assert raised.value.path == "$[0].sensitive_headers"
    assert "canary" not in str(raised.value)


def test_check_69_a_name_that_agent_spec_does_not_take_is_refused() -> None:
    schema = {"type": "object", "properties": {"user.name": {"type": "string"}}}
    spec = ToolSpec(name="greet", description="", parameters=schema)
    with pytest.raises(DecodeError, match=r"user\.name"):
        from_agentool([spec], "agent-spec")


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_check_84_any_format_converts_into_any_other_and_back(source: str, target: str) -> None:
    original = converter_named(source).normal(TOOLS[source])
    place = convert(original, target, source)
    back = convert(place.value, source, target)
    if converter_named(target).lossless:
        assert back.value == original
        assert not place.losses
    for loss in place.losses:
        assert loss.path.startswith("$")


def test_check_84_every_installed_format_is_tried() -> None:
    assert set(converters()) == TOOLS.keys()


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_check_88_the_command_writes_what_the_function_returns(
    source: str, target: str, tmp_path: Path
) -> None:
    file = tmp_path / "document.json"
    file.write_text(json.dumps(TOOLS[source]))
    converted = convert(TOOLS[source], target, source)
    done = CliRunner().invoke(main, ["convert", str(file), "--from", source, "--to", target])
    assert json.loads(done.stdout) == converted.value
    listed = [line.split(": $")[0] for line in done.stderr.splitlines() if ": $" in line]
    assert len(listed) == len(converted.losses)
    assert {"lost", "changed", "added"} >= set(listed)
