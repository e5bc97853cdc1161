"""Strands Agents, written from the tables of its tracer: there is no public recording here."""

from __future__ import annotations

import json
from typing import Any

from agentool_otel.dialects import classify
from tests.dialects.spelled import coverage, event, span, spelled, text

SCOPE = "strands.telemetry.tracer"
CALL = [{"toolUse": {"toolUseId": "t1", "name": "add", "input": {"a": 1}}}]
RUN = [
    span(
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.system": "strands-agents",
            "gen_ai.agent.name": "adder",
            "gen_ai.request.model": "claude",
            "gen_ai.agent.tools": '["add"]',
            "gen_ai.event.start_time": "2026-01-01T00:00:00Z",
            "system_prompt": "Add numbers.",
            "session.id": "s1",
            "gen_ai.usage.input_tokens": 30,
            "gen_ai.usage.output_tokens": 9,
        },
        event("gen_ai.user.message", content='[{"text": "1 plus 2?"}]'),
        event("gen_ai.choice", message="3", finish_reason="end_turn"),
        name="invoke_agent adder",
        scope=SCOPE,
    ),
    span(
        {"event_loop.cycle_id": "c1", "gen_ai.event.start_time": "2026-01-01T00:00:00Z"},
        event("gen_ai.user.message", content='[{"text": "1 plus 2?"}]'),
        name="execute_event_loop_cycle",
        scope=SCOPE,
    ),
    span(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.system": "strands-agents",
            "gen_ai.request.model": "claude",
            "gen_ai.usage.prompt_tokens": 10,
            "gen_ai.usage.input_tokens": 10,
            "gen_ai.usage.completion_tokens": 4,
            "gen_ai.usage.output_tokens": 4,
            "gen_ai.usage.total_tokens": 14,
            "gen_ai.usage.cache_read_input_tokens": 6,
            "gen_ai.usage.cache_write_input_tokens": 1,
            "gen_ai.server.time_to_first_token": 120,
        },
        event("gen_ai.user.message", content='[{"text": "1 plus 2?"}]'),
        event(
            "gen_ai.choice",
            message=json.dumps(
                [{"reasoningContent": {"reasoningText": {"text": "A sum."}}}, *CALL]
            ),
            finish_reason="tool_use",
        ),
        name="chat",
        scope=SCOPE,
    ),
    span(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.system": "strands-agents",
            "gen_ai.tool.name": "add",
            "gen_ai.tool.call.id": "t1",
            "gen_ai.tool.status": "success",
        },
        event("gen_ai.tool.message", role="tool", content='{"a": 1}', id="t1"),
        event("gen_ai.choice", message='[{"text": "3"}]', id="t1"),
        name="execute_tool add",
        scope=SCOPE,
    ),
    span(
        {
            "gen_ai.operation.name": "invoke_swarm",
            "gen_ai.system": "strands-agents",
            "gen_ai.agent.name": "swarm",
        },
        name="invoke_swarm",
        scope=SCOPE,
    ),
]


def test_a_run_is_read_from_its_events() -> None:
    assert spelled(*RUN) == text("""
        strands: agent model=claude agent=adder session=s1 in=30 out=9 tools=add
            system: Add numbers.
          > user: 1 plus 2?
          < assistant: 3 (stop)
        strands: unclassified
        strands: chat model=claude first_chunk_s=0.12 in=10 out=4 cached=6 cache_written=1
            total=14
          > user: 1 plus 2?
          < assistant: [thinks] A sum. | [call t1] add {"a":1} (tool_call)
        strands: tool add call=t1 arguments={"a":1} result="3"
        strands: workflow swarm
    """)
    assert coverage(RUN) == 0.9


def test_the_latest_experimental_events_are_read() -> None:
    call = {"type": "tool_call", "name": "add", "id": "t1", "arguments": {"a": 1}}
    response = {"type": "tool_call_response", "id": "t1", "response": [{"json": {"sum": 3}}]}
    operation: Any = classify(
        span(
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.provider.name": "strands-agents",
                "gen_ai.tool.name": "add",
                "gen_ai.event.start_time": "2026-01-01T00:00:00Z",
            },
            event(
                "gen_ai.client.inference.operation.details",
                **{"gen_ai.input.messages": json.dumps([{"role": "tool", "parts": [call]}])},
            ),
            event(
                "gen_ai.client.inference.operation.details",
                **{"gen_ai.output.messages": json.dumps([{"role": "tool", "parts": [response]}])},
            ),
        )
    )[1]
    assert (operation.arguments, operation.result) == ({"a": 1}, {"sum": 3})


def test_a_tool_that_reports_an_error_failed() -> None:
    operation: Any = classify(
        span(
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "add",
                "gen_ai.tool.status": "error",
            },
            event("gen_ai.choice", message='[{"text": "no numbers"}]', id="t1"),
            scope=SCOPE,
        )
    )[1]
    assert operation.tool_error == "no numbers"


def test_the_exception_of_a_tool_is_its_error_and_the_text_its_result() -> None:
    operation: Any = classify(
        span(
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "add",
                "gen_ai.tool.status": "error",
            },
            event("gen_ai.choice", message='[{"text": "Error: no numbers"}]', id="t1"),
            scope=SCOPE,
            status="ERROR",
            status_message="no numbers",
        )
    )[1]
    assert (operation.error_message, operation.tool_error) == ("no numbers", None)
    assert operation.result == "Error: no numbers"


def test_cached_tokens_are_added_if_the_total_does_not_include_them() -> None:
    usage = {
        "gen_ai.operation.name": "chat",
        "gen_ai.system": "strands-agents",
        "gen_ai.usage.input_tokens": 10,
        "gen_ai.usage.output_tokens": 4,
        "gen_ai.usage.cache_read_input_tokens": 100,
    }
    separate = span({**usage, "gen_ai.usage.total_tokens": 114}, scope=SCOPE)
    within = span({**usage, "gen_ai.usage.total_tokens": 14}, scope=SCOPE)
    assert classify(separate)[1].usage.input_tokens == 110  # type: ignore[union-attr]
    assert classify(within)[1].usage.input_tokens == 10  # type: ignore[union-attr]


def test_the_oldest_spans_have_no_operation_name() -> None:
    blocks = [{"text": "I look."}, *CALL]
    spans = [
        span(
            {"gen_ai.prompt": "1 plus 2?", "gen_ai.completion": "3", "gen_ai.agent.name": "adder"}
            | {"gen_ai.agent.tools": '["add"]', "gen_ai.system": "strands-agents"},
            name="Strands Agent",
            scope="strands-agents",
        ),
        span({"event_loop.cycle_id": "c1", "gen_ai.prompt": "[]"}, name="Cycle c1"),
        span(
            {"gen_ai.prompt": json.dumps([{"role": "user", "content": [{"text": "1 plus 2?"}]}])}
            | {"gen_ai.completion": json.dumps(blocks), "gen_ai.system": "strands-agents"},
            name="Model invoke",
            scope="strands-agents",
        ),
        span(
            {
                "gen_ai.prompt": json.dumps(CALL[0]["toolUse"]),
                "gen_ai.completion": '[{"text": "no"}]',
                "tool.name": "add",
                "tool.id": "t1",
                "tool.parameters": '{"a": 1}',
                "tool.result": '[{"text": "no"}]',
                "tool.status": "error",
            },
            name="Tool: add",
            scope="strands-agents",
        ),
    ]
    assert spelled(*spans) == text("""
        strands: agent agent=adder tools=add
          > user: 1 plus 2?
          < assistant: 3
        strands: unclassified
        strands: chat
          > user: 1 plus 2?
          < assistant: I look. | [call t1] add {"a":1}
        strands: tool add call=t1 tool_error=no arguments={"a":1} result="no"
    """)
