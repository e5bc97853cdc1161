"""A tool call that goes over MCP is one step, whoever writes spans of it: the framework that calls
the tool, the client, the server, the tool itself, and the SDK's own tracers beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.model.messages import message, tool_call
from agentool_otel.model.operations import Inference, McpRequest, ToolExecution
from agentool_otel.model.spans import SpanRecord
from tests.records import Collected, agent

ARGUMENTS = {"query": "OTLP"}
LAYERS = ("framework", "native client", "client", "native send", "native server", "server", "tool")
"""In the order in which they stand around each other."""


def operation_of(layer: str, call_id: str) -> Any:
    match layer:
        case "framework":
            return ToolExecution(name="t", call_id=call_id, arguments=ARGUMENTS, result="found")
        case "tool":
            return ToolExecution(name="t", arguments=ARGUMENTS, result="found")
        case "client" | "server":
            side: Any = layer
            return McpRequest(side=side, tool_name="t", arguments=ARGUMENTS, result="found")
        case _:  # of the SDK or of FastMCP: without content
            return McpRequest(side="server" if "server" in layer else "client", tool_name="t")


def call(spans: Collected, parent: SpanRecord, layers: list[str], number: int) -> None:
    for layer in layers:
        parent = spans.add(operation_of(layer, f"c{number}"), parent=parent, seconds=0.5)


def steps(spans: Collected) -> list[dict[str, Any]]:
    [trace] = spans.rebuilt()
    return [step for step in trace["steps"] if step["type"].startswith("tool_")]


def in_order(chosen: Sequence[str]) -> list[str]:
    """The layers that are present; a tool without any request around it is not called over MCP."""
    layers = [layer for layer in LAYERS if layer in chosen]
    return ["framework"] if layers == ["framework", "tool"] else layers


present = st.lists(st.sampled_from(LAYERS), min_size=1, unique=True).map(in_order)


@given(calls=st.lists(present, min_size=1, max_size=3), asked_by_model=st.booleans())
def test_a_call_is_one_step_whoever_is_present(
    calls: list[list[str]], asked_by_model: bool
) -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=60)
    if asked_by_model:
        parts = [tool_call("t", ARGUMENTS, f"c{number}") for number in range(len(calls))]
        spans.add(Inference(provider="p", output=[message("assistant", parts)]), parent=root)
    for number, layers in enumerate(calls):
        call(spans, root, layers, number)
    result = steps(spans)
    number = len(calls)
    assert sorted(item["type"] for item in result) == [
        *(["tool_call"] * number),
        *(["tool_result"] * number),
    ]
    messages = [any("native" not in layer for layer in layers) for layers in calls]
    arguments = [
        item["tool_call"].get("arguments") for item in result if item["type"] == "tool_call"
    ]
    results = [
        item["tool_result"].get("output") for item in result if item["type"] == "tool_result"
    ]
    assert arguments.count(ARGUMENTS) == (len(calls) if asked_by_model else sum(messages))
    assert results.count("found") == sum(messages)


@given(layers=present, early=st.integers(1, 4))
def test_a_server_whose_clock_is_ahead_makes_no_second_step(layers: list[str], early: int) -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=60)
    call(spans, root, layers, 0)
    for span in spans.spans[1:]:
        if span.kind == "SERVER" and span.start_ns is not None:
            span.start_ns -= early * 1_000_000_000
    assert [step["type"] for step in steps(spans)] == ["tool_call", "tool_result"]


def test_a_tool_that_calls_another_one_over_mcp_is_one_step() -> None:
    """The way in which a tool finds its result is its own affair."""
    spans = Collected()
    root = spans.add(agent(), seconds=60)
    server = spans.add(McpRequest(side="server", tool_name="plan"), parent=root, seconds=9)
    client = spans.add(McpRequest(tool_name="search"), parent=server)
    spans.add(McpRequest(side="server", tool_name="search"), parent=client)
    assert [step["type"] for step in steps(spans)] == ["tool_call", "tool_result"]


@pytest.mark.parametrize("inner", [{"name": "other"}, {"name": "t", "call_id": "mine"}])
def test_another_tool_inside_a_server_is_a_step_of_its_own(inner: Any) -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=60)
    server = spans.add(McpRequest(side="server", tool_name="t"), parent=root, seconds=9)
    spans.add(ToolExecution(**inner), parent=server)
    assert len(steps(spans)) == 4
