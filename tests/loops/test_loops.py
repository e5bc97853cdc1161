"""A loop around a client of a model is one run for each conversation, and each call one step."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import entry_points
from importlib.util import find_spec
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from agentool_otel import evaluate
from agentool_otel.loading import rebuild
from agentool_otel.model.documents import UNSET
from agentool_otel.testing.loopback_model import LoopbackModel
from agentool_otel.tracing.spans import requested_calls
from agentool_otel.tracing.spans.settings import settings
from tests.loops import programs
from tests.records import records

ID = "gen_ai.tool.call.id"
COUNTS = {"sequential": 3, "threads": 8, "tasks": 8, "below_one_span": 20}
"""Conversations, by the way in which they run."""


@pytest.fixture(autouse=True)
def instrumented(spans: Any) -> Iterator[None]:
    """Attach our instrumentors of the installed frameworks."""
    requested_calls._answers.set(())
    requested_calls.open_answers.clear()
    attached = []
    for name in ("openai", "anthropic", "mcp", "fastmcp"):
        if find_spec(name):
            [point] = entry_points(group="opentelemetry_instrumentor", name=f"agentool-{name}")
            attached.append(point.load()())
            attached[-1].instrument()
    yield
    for each in attached:
        each.uninstrument()


def played(
    model: LoopbackModel, spans: Any, client: str, tool: str, way: str, times: int, alike: bool
) -> list[Any]:
    """Play conversations and return the records of their spans."""
    pytest.importorskip(client)
    name, _, failing = tool.partition(" ")
    if name in programs.SERVERS:
        pytest.importorskip(name)
        pytest.importorskip("mcp.server.mcpserver")
    programs.answers(model, times, alike)
    conversations = [programs.CLIENTS[client](model, number) for number in range(COUNTS[way])]
    if name in programs.SERVERS:
        programs.with_servers(name, way, bool(failing), conversations)
    else:
        programs.WAYS[way](conversations, programs.TOOLS[name])
    return records(spans.finished())


def check(
    matches: list[Any], count: int, times: int, alike: bool, fails: bool, content: bool
) -> None:
    """Compare rebuilt runs with the program's."""
    traces = [item.trace for item in matches]
    assert len(traces) == count
    for each in traces:
        calls = [step.tool_call for step in each.steps if step.tool_call is not UNSET]
        results = [step.tool_result for step in each.steps if step.tool_result is not UNSET]
        assert [call.name for call in calls] == [programs.NAME] * times
        assert [result.call_id for result in results] == [call.id for call in calls]
        if content:
            number = 0 if alike else str(each.input).rsplit(maxsplit=1)[-1]
            for call in calls:
                assert f"item {number}" in str(call.arguments)
            for result in results:
                assert (result.error is not UNSET) is fails
                assert fails or f"item {number}" in str(result.output)
        [verdict] = evaluate([{"type": "no_tool_error"}], [each])
        assert verdict.assertion_results[0].passed is not fails


ONE = (1, False)
"""Each call once, and each conversation about something else."""
CELLS = [
    pytest.param(
        *(client, tool, way, times, alike),
        marks=[pytest.mark.thorough]
        if (way != "sequential" and (times, alike) != ONE)
        or (way == "below_one_span" and tool not in ("plain", "defaults"))
        else [],
    )
    for client in programs.CLIENTS
    for tool in (*programs.TOOLS, "mcp", "fastmcp", "mcp failing", "fastmcp failing")
    for way in programs.WAYS
    for times, alike in (ONE, (1, True), (2, False))
    if client == "openai" or (times, alike) == ONE
]


@pytest.mark.parametrize("content", [True, False], ids=["content", "no content"])
@pytest.mark.parametrize(("client", "tool", "way", "times", "alike"), CELLS)
def test_each_conversation_is_a_run(
    model: LoopbackModel,
    spans: Any,
    client: str,
    tool: str,
    way: str,
    times: int,
    alike: bool,
    content: bool,
) -> None:
    settings.infer_runs = False
    if not content:
        spans.without_content()
    recorded = played(model, spans, client, tool, way, times, alike)
    check(list(rebuild(recorded)), COUNTS[way], times, alike, "failing" in tool, content)
    if content:
        stripped = [_without_id(item) for item in recorded]
        Random(client + tool + way).shuffle(stripped)
        check(list(rebuild(stripped)), COUNTS[way], times, alike, "failing" in tool, content)


@pytest.mark.parametrize(
    ("client", "tool", "way", "times", "alike"),
    [cell for cell in CELLS if cell.values[3:] == ONE],
)
def test_each_conversation_is_one_tree(
    model: LoopbackModel, spans: Any, client: str, tool: str, way: str, times: int, alike: bool
) -> None:
    recorded = played(model, spans, client, tool, way, times, alike)
    check(list(rebuild(recorded)), COUNTS[way], times, alike, "failing" in tool, content=True)
    inferred = [item for item in recorded if item.attributes.get("agentool.inferred") == "run"]
    assert len(inferred) == COUNTS[way]
    ids = {item.span_id for item in recorded}
    below = [item for item in recorded if item.parent_id in ids and item not in inferred]
    server = 1 if way == "below_one_span" else 0
    assert len(below) == len(recorded) - len(inferred) - server
    tools = [item for item in recorded if item.name.startswith(("execute_tool", "tools/call"))]
    assert len(tools) >= COUNTS[way] * times
    assert not any("agentool.inferred" in item.attributes for item in tools)


def _without_id(record: Any) -> Any:
    """Return the record of a span as a tracer writes it that does not know the id of a call."""
    attributes = {key: value for key, value in record.attributes.items() if key != ID}
    return replace(record, attributes=attributes)
