"""Check 61 with amplifier-core itself: its Tool protocol, and a session that mounts the tool."""

from __future__ import annotations

import asyncio
from importlib import import_module
from typing import Any

import pytest

from agentool_otel import ToolSpec
from agentool_otel.converters import to_agentool
from agentool_otel.integrations.amplifier.converter import spec_of, tool_of

pytest.importorskip(
    "amplifier_core", reason="amplifier-core is not installed; it needs Python 3.11"
)

SPEC = ToolSpec.from_dict(
    {
        "name": "search",
        "description": "Search.",
        "parameters": {"type": "object", "properties": {"q": {"type": "string"}}},
        "returns": {"type": "array"},
        "metadata": {"cost_tier": "free"},
    }
)


def test_check_61_a_tool_of_ours_has_the_kernels_protocol_and_its_result() -> None:
    kernel, interfaces = map(import_module, ("amplifier_core", "amplifier_core.interfaces"))

    async def execute(input: dict[str, Any]) -> Any:
        return kernel.ToolResult(output=input["q"])

    tool = tool_of(SPEC, execute)
    assert {name for name in dir(interfaces.Tool) if not name.startswith("_")} <= set(dir(tool))
    result = asyncio.run(tool.execute({"q": "x"}))
    assert (result.success, result.output) == (True, "x")
    assert spec_of(tool) == SPEC


def test_check_61_the_kernels_own_description_of_a_tool_is_read() -> None:
    kernel = import_module("amplifier_core")
    described = kernel.ToolSpec(name="search", description="Search.", parameters=SPEC.parameters)
    [spec] = to_agentool([described.model_dump()], "amplifier")
    assert spec.to_dict()["parameters"] == SPEC.parameters
