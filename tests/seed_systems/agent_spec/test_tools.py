"""Check 69 with pyagentspec itself: its loader reads our output, and writes it back."""

from __future__ import annotations

import json
from importlib import import_module
from typing import Any

import pytest

from agentool_otel import ToolSpec
from agentool_otel.converters import from_agentool, to_agentool
from tests.seed_systems.examples import TOOLS

pytest.importorskip(
    "pyagentspec", reason="needs pyagentspec: python -m tests.frameworks agent-spec"
)

VERSIONS = ("25.4.2", "26.1.0", "26.3.1")


def loaded(component: dict[str, Any]) -> dict[str, Any]:
    """Return a component as the loader reads it and writes it again."""
    return written(serialization().AgentSpecDeserializer().from_dict(component))


def written(component: Any) -> dict[str, Any]:
    """Return a component of the package as the package writes it."""
    document: dict[str, Any] = json.loads(serialization().AgentSpecSerializer().to_json(component))
    return document


def serialization() -> Any:
    return import_module("pyagentspec.serialization")


@pytest.mark.parametrize("source", sorted(TOOLS.keys() - {"agent-spec"}))
def test_check_69_the_loader_takes_tools_of_any_format_and_keeps_them(source: str) -> None:
    specs = [ToolSpec.from_dict(spec_of(item)) for item in to_agentool(TOOLS[source], source)]
    for spec in specs:
        [component] = from_agentool([spec], "agent-spec")
        assert to_agentool([without_defaults(loaded(component))]) == [spec]


def spec_of(document: Any) -> Any:
    result = document.to_dict()
    return result["tools"][0]["spec"] if "tools" in result else result


def without_defaults(component: dict[str, Any]) -> dict[str, Any]:
    """Return a component without the defaults that pyagentspec's writer adds to every tool."""
    added = {"requires_confirmation": False}
    return {name: value for name, value in component.items() if name not in added or value}


@pytest.mark.parametrize("version", VERSIONS)
def test_check_69_the_versions_of_the_language_are_read(version: str) -> None:
    component = {**TOOLS["agent-spec"][0], "agentspec_version": version}
    back = loaded(component)
    [before], [after] = to_agentool([component]), to_agentool([back])
    for name in ("name", "description", "parameters", "returns"):
        assert after.to_dict()[name] == before.to_dict()[name]


def components() -> list[Any]:
    mcp, tools = (import_module(f"pyagentspec.{name}") for name in ("mcp", "tools"))
    of = import_module("pyagentspec.property").Property
    request = of(json_schema={"title": "query", "type": "string"})
    limit = of(json_schema={"title": "limit", "type": "integer", "default": 5})
    both: dict[str, Any] = {"description": "d", "inputs": [request, limit]}
    secret = {"Authorization": "Bearer canary"}
    transport = mcp.StreamableHTTPTransport(name="t", url="https://mcp.example")
    url = "https://search.example/{{query}}/{{limit}}"
    return [
        tools.ServerTool(name="server", **both),
        tools.ClientTool(name="client", requires_confirmation=True, **both),
        tools.RemoteTool(
            name="remote", url=url, http_method="GET", sensitive_headers=secret, **both
        ),
        tools.BuiltinTool(name="builtin", tool_type="search", configuration={"k": 1}, **both),
        mcp.MCPTool(name="mcp", client_transport=transport, **both),
    ]


@pytest.mark.parametrize("n", range(5), ids=["Server", "Client", "Remote", "Builtin", "MCP"])
def test_check_69_what_the_package_writes_comes_back_without_loss(n: int) -> None:
    component = written(components()[n])
    [spec] = to_agentool([component])
    assert from_agentool([spec], "agent-spec") == [component]
    assert spec.to_dict()["parameters"]["required"] == ["query"]
    assert "canary" not in json.dumps(spec.to_dict())
