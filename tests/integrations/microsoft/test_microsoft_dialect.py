"""Agent Framework, Semantic Kernel and M.E.AI: cases that our recordings lack."""

from __future__ import annotations

import json

from tests.dialects.spelled import coverage, event, span, spelled, text

STRUCTURED = [
    {
        "role": "assistant",
        "parts": [
            {
                "type": "tool_call",
                "id": "final_result",
                "name": "final_result",
                "arguments": {"degrees": 18},
            }
        ],
    }
]
SPANS = [
    span(
        {"workflow.name": "trip", "workflow.id": "w"}, name="workflow.run", scope="agent_framework"
    ),
    span({"workflow.id": "w"}, name="workflow.build", scope="agent_framework"),
    span({"executor.id": "e"}, name="executor.process e", scope="agent_framework"),
    span(
        {"message.source_id": "planner", "message.target_id": "booker", "message.type": "standard"},
        name="message.send",
        scope="agent_framework",
    ),
    span({"message.source_id": "planner"}, name="message.send", scope="agent_framework"),
    span(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.provider.name": "microsoft.agent_framework",
            "agent_framework.function.name": "look",
            "agent_framework.function.invocation.duration": 0.5,
            "gen_ai.tool.call.id": "c1",
        },
        scope="agent_framework",
    ),
    span(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.output.messages": json.dumps(STRUCTURED),
        },
        scope="Experimental.Microsoft.Extensions.AI",
    ),
    span(
        {
            "gen_ai.operation.name": "chat.completions",
            "gen_ai.request.model": "gpt-4o",
            "gen_ai.response.prompt_tokens": 3,
            "gen_ai.response.completion_tokens": 4,
        },
        event("gen_ai.content.prompt", **{"gen_ai.prompt": '[{"role":"user","content":"hi"}]'}),
        event("gen_ai.content.completion", **{"gen_ai.completion": '[{"content":"hello"}]'}),
        scope="Microsoft.SemanticKernel.Diagnostics",
    ),
]


def test_spans_are_read() -> None:
    assert spelled(*SPANS) == text("""
        microsoft: workflow trip
        microsoft: unclassified
        microsoft: unclassified
        microsoft: tool transfer_to_booker agent=planner transfer_to=booker
        microsoft: unclassified
        microsoft: tool look call=c1 ms=500.0
        microsoft: chat provider=openai
          < assistant: {"degrees":18}
        microsoft: chat model=gpt-4o in=3 out=4
          > user: hi
          < assistant: hello
    """)
    assert coverage(SPANS) == 0.75


def test_a_run_of_azures_agent_service_is_an_agent_invocation() -> None:
    record = span({"gen_ai.operation.name": "process_thread_run", "gen_ai.thread.id": "t1"})
    assert spelled(record) == "microsoft: agent session=t1"


def test_semantic_kernels_tools_and_finish_reasons_are_normalised() -> None:
    tool = {"type": "function", "function": {"name": "Map-look", "parameters": {}}}
    spans = [
        span(
            {
                "gen_ai.operation.name": "invoke_agent",
                "gen_ai.agent.name": "guide",
                "gen_ai.tool.definitions": json.dumps([tool]),
            },
            scope="semantic_kernel.utils.telemetry.agent_diagnostics.decorators",
        ),
        span(
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.response.finish_reason": "FinishReason.TOOL_CALLS,FinishReason.STOP",
            },
            scope="semantic_kernel.utils.telemetry.model_diagnostics.decorators",
        ),
    ]
    assert spelled(*spans) == text("""
        microsoft: agent agent=guide tools=Map-look
        microsoft: chat finish=tool_call,stop
    """)


def test_the_bodies_of_semantic_kernels_log_records_are_messages() -> None:
    record = span(
        {"gen_ai.operation.name": "chat"},
        event("gen_ai.user.message", body='{"role": "user", "content": "Where?"}'),
        event("gen_ai.choice", body='{"message": {"role": "assistant", "content": "Here."}}'),
        scope="semantic_kernel.utils.telemetry.model_diagnostics.decorators",
    )
    assert spelled(record) == text("""
        microsoft: chat
          > user: Where?
          < assistant: Here.
    """)


def test_a_result_printed_as_a_content_object_is_unpacked() -> None:
    response = json.dumps({"type": "function_result", "call_id": "c1", "result": "18"})
    part = {"type": "tool_call_response", "id": "c1", "response": response}
    attributes = {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps([{"role": "tool", "parts": [part]}]),
    }
    assert spelled(span(attributes, scope="agent_framework")) == text("""
        microsoft: chat
          > tool: [result c1] "18"
    """)
