"""tRPC-Agent-Go: spans as v1.9.1 writes them."""

from __future__ import annotations

import json
from typing import Any

from agentool_otel.model.spans import SpanRecord
from tests.dialects.spelled import span, spelled, text

SCOPE = "trpc.agent.go"
BOTH = {"gen_ai.system": "trpc.go.agent", "gen_ai.conversation.id": "session-1"}
SAID = [
    {"role": "system", "content": "You are a weather man."},
    {"role": "user", "content": "What is the weather in Paris?"},
]
CALL = {
    "id": "call_1",
    "type": "function",
    "function": {"name": "get_weather", "arguments": '{"city":"Paris"}'},
}
ANSWER = {
    "role": "assistant",
    "content": "I look.",
    "reasoning_content": "Hm.",
    "tool_calls": [CALL],
}


def tool(content: str, **more: Any) -> SpanRecord:
    turn = {"role": "tool", "content": content, "tool_id": "call_1", "tool_name": "get_weather"}
    response = {"id": "", "object": "tool.response", "choices": [{"index": 0, "message": turn}]}
    return span(
        {
            **BOTH,
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "get_weather",
            "gen_ai.tool.call.arguments": '{"city": "Paris"}',
            "gen_ai.tool.call.result": json.dumps(response),
            "trpc.go.agent.llm_request": "{}",
            "trpc.go.agent.llm_response": "{}",
            **more,
        },
        scope=SCOPE,
    )


def test_a_model_call_is_read() -> None:
    call = span(
        {
            **BOTH,
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "gpt-5",
            "gen_ai.input.messages": json.dumps(SAID),
            "gen_ai.output.messages": json.dumps(
                [
                    {
                        "index": 0,
                        "message": ANSWER,
                        "delta": {"role": ""},
                        "finish_reason": "tool_calls",
                    }
                ]
            ),
            "gen_ai.request.tool.definitions": '[{"name": "get_weather", "inputSchema": {}}]',
            "gen_ai.usage.input_tokens": 41,
            "gen_ai.usage.output_tokens": 23,
            "gen_ai.usage.input_tokens.cached": 16,
        },
        scope=SCOPE,
    )
    assert spelled(call) == text("""
        trpc_agent: chat model=gpt-5 session=session-1 in=41 out=23 cached=16
            tools=get_weather
          > system: You are a weather man.
          > user: What is the weather in Paris?
          < assistant: [thinks] Hm. | I look. | [call call_1] get_weather {"city":"Paris"}
            (tool_call)
    """)


def test_a_tools_result_is_inside_a_response() -> None:
    assert spelled(tool('{"city":"Paris","degrees":18}'), tool('"order 7: paid"')) == text("""
        trpc_agent: tool get_weather call=call_1 session=session-1 arguments={"city":"Paris"}
            result={"city":"Paris","degrees":18}
        trpc_agent: tool get_weather call=call_1 session=session-1 arguments={"city":"Paris"}
            result="order 7: paid"
    """)


def test_repeated_results_and_graph_nodes_are_not_operations() -> None:
    merged = tool("", **{"gen_ai.tool.name": "(merged tools)"})
    node = span({"gen_ai.operation.name": "workflow", "gen_ai.workflow.type": "tool"}, scope=SCOPE)
    assert spelled(merged, node) == text("""
        trpc_agent: unclassified session=session-1
        trpc_agent: unclassified
    """)
