"""References of Agent Tool's calls: telemetry, native ids, tools, surfaces (checks 28, 29, and 40
to 44).
"""

from __future__ import annotations

from typing import Any

import pytest

from agentool_otel.integrations.agent_tool.documents.checking import findings
from tests.seed_systems.agent_tool_documents import EXAMPLES
from tests.seed_systems.agent_tool_spans import Call, at, call_span, objects

TRACE, SPAN = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def test_check_28_telemetry_refs_are_those_of_the_exported_span(spans: Any) -> None:
    call = Call()
    call.invocation(native_call_id="call_7", request_id="request_9", created_at=at(0))
    invocation = call.invocation(status="succeeded", started_at=at(1), ended_at=at(2.5))
    result = call.result(structured_content={"sky": "blue"})
    span = call_span(spans)
    [reference] = result["telemetry_refs"]
    assert reference == {
        "trace_id": f"{span.context.trace_id:032x}",
        "span_id": f"{span.context.span_id:016x}",
        "tool_name": "tool_search",
        "tool_call_id": "call_7",
        "request_id": "request_9",
        "duration_ms": 1500.0,
        "result_size_bytes": len('{"sky":"blue"}'),
    }
    assert invocation["telemetry_refs"][0]["span_id"] == reference["span_id"]
    event = call.event("tool.result.created", 4)
    assert event["trace_refs"] == [reference]


def test_check_28_without_recording_there_are_no_references() -> None:
    call = Call()
    invocation = EXAMPLES["Invocation"]
    assert call.emitter.record(invocation) == invocation


def test_check_29_incoming_references_are_links_and_stay_as_they_are(spans: Any) -> None:
    incoming = [{"trace_id": TRACE, "span_id": SPAN}, {"trace_id": "0" * 32, "span_id": SPAN}]
    call = Call()
    call.invocation(telemetry_refs=incoming)
    call.emitter.record({**EXAMPLES["Event"], "trace_refs": [{**incoming[0], "x": 1}]})
    call.done()
    [link] = call_span(spans).links
    ids = f"{link.context.trace_id:032x}", f"{link.context.span_id:016x}"
    assert ids == (TRACE, SPAN)
    result = objects(spans)
    assert result[0]["telemetry_refs"] == incoming
    assert result[1]["trace_refs"] == [{**incoming[0], "x": 1}]


@pytest.mark.parametrize(
    "mapping",
    [
        {"source": "mcp", "server_id": "s", "mcp_session_id": "m", "method": "tools/call",
         "mcp_protocol_version": "2025-06-18", "tool_name": "t", "jsonrpc_request_id": 7,
         "isError": False},
        {"source": "openapi", "operation_id": "o", "method": "GET", "security_scheme_refs": ["k"]},
        {"source": "function", "tool_call_id": "c", "function_name": "f", "strict": True,
         "tool_choice": "auto", "parallel_tool_calls": True, "defer_loading": False},
        {"source": "a2a", "agent_card_url": "https://a", "agent_skill_id": "s", "task_id": "t",
         "context_id": "c", "message_id": "m", "artifact_id": "a"},
        {"source": "cli", "command_id": "c", "argv_ref": "r", "cwd_ref": "w", "exit_code": 1,
         "signal": "TERM", "sandbox_ref": "x", "env_policy_ref": "e"},
        {"source": "browser", "browser_session_id": "b", "page_id": "p", "action_id": "a",
         "observation_ref": "o", "screenshot_ref": "s"},
        {"source": "telemetry", "trace_id": TRACE, "span_id": SPAN, "request_id": "r",
         "duration_ms": 7, "result_size_bytes": 9},
    ],
    ids=lambda item: str(item["source"]),
)  # fmt: skip
def test_check_40_native_ids_are_kept(mapping: dict[str, Any], spans: Any) -> None:
    spans.without_content()
    call = Call()
    call.invocation(external_mappings=[mapping])
    call.done()
    assert objects(spans)[0]["external_mappings"] == [mapping]
    attributes = call_span(spans).attributes
    if mapping["source"] == "mcp":
        assert attributes["mcp.session.id"] == "m"
        assert attributes["mcp.protocol.version"] == "2025-06-18"
        assert attributes["jsonrpc.request.id"] == "7"


def test_check_41_kinds_are_on_the_span(spans: Any) -> None:
    call = Call()
    call.emitter.record({**EXAMPLES["ToolDeclaration"], "tool_kind": "retrieval"})
    call.done()
    attributes = call_span(spans).attributes
    assert attributes["agenttool.tool.kind"] == "retrieval"
    assert attributes["gen_ai.tool.type"] == "datastore"
    assert attributes["gen_ai.tool.name"] == "search"


@pytest.mark.parametrize("content", [True, False])
def test_check_42_a_surface_has_its_tools_with_reasons(content: bool, spans: Any) -> None:
    if not content:
        spans.without_content()
    surface = EXAMPLES["ToolSurface"]
    Call().emitter.record(surface)
    [span] = spans.finished()
    assert (span.name, span.events[0].name) == ("tool.surface.created", "tool.surface.created")
    assert objects(spans) == [surface]


def test_check_42_a_surface_is_on_the_parent_span(spans: Any) -> None:
    import agentool_otel

    with agentool_otel.run("planner"):
        Call().emitter.record(EXAMPLES["ToolSurface"])
    [span] = spans.finished()
    assert [event.name for event in span.events] == ["tool.surface.created"]


def test_check_43_what_is_written_back_is_valid(spans: Any) -> None:
    call = Call()
    for name, example in EXAMPLES.items():
        written = call.emitter.record(example)
        assert findings(written) == [], name
    call.emitter.flush()
    assert all(findings(obj) == [] for obj in objects(spans))


@pytest.mark.parametrize("version", ["0.1.1", "7.0"])
def test_check_44_another_version_comes_back_with_unknown_members(version: str, spans: Any) -> None:
    second = {"schema_version": version, "of_tomorrow": {"a": [None]}}
    Call().done(**second)
    assert objects(spans)[-1].items() >= second.items()
