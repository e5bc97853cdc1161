"""Mastra: older versions and other cases that our recording lacks."""

from __future__ import annotations

import json

from tests.dialects.spelled import coverage, span, spelled, text

SPANS = [
    span(
        {
            "mastra.span.type": "agent_run",
            "mastra.agent_run.input": '[{"role": "user", "content": "Where?"}]',
            "mastra.agent_run.output": '{"text": "Here."}',
            "mastra.metadata.threadId": "t1",
        },
        name="agent run: 'guide'",
    ),
    span(
        {
            "mastra.span.type": "model_step",
            "mastra.model_step.input": '{"messages": [{"role": "user", "content": "Where?"}]}',
            "mastra.model_step.output": '{"text": "Here."}',
            "gen_ai.usage.input_tokens": 5,
        }
    ),
    span(
        {
            "mastra.span.type": "mcp_tool_call",
            "mastra.mcp_tool_call.input": '{"at": 1}',
            "mastra.mcp_tool_call.output": '"found"',
        },
        name="mcp_tool: 'look' on 'map'",
    ),
    span({"mastra.span.type": "model_chunk", "mastra.output": "He"}),
    span({"mastra.span.type": "workflow_step"}),
]


def test_spans_are_read() -> None:
    assert spelled(*SPANS) == text("""
        mastra: agent agent=guide session=t1
          > user: Where?
          < assistant: Here.
        mastra: chat in=5
          > user: Where?
          < assistant: Here.
        mastra: tool look arguments={"at":1} result="found"
        mastra: unclassified
        mastra: unclassified
    """)
    assert coverage(SPANS) == 0.93


def test_an_answer_with_tool_calls_is_on_the_parent_step() -> None:
    attributes = {
        "mastra.span.type": "model_inference",
        "gen_ai.output.messages": '[{"role":"assistant","parts":[{"type":"text","content":"A"}]}]',
    }
    called = span({**attributes, "gen_ai.response.finish_reasons": '["tool-calls"]'})
    answered = span({**attributes, "gen_ai.response.finish_reasons": '["stop"]'})
    assert spelled(called, answered) == text("""
        mastra: chat finish=tool_call
        mastra: chat finish=stop
          < assistant: A
    """)


def test_a_step_has_thoughts_text_and_calls() -> None:
    output = {
        "reasoningText": "Hm.",
        "text": "I look.",
        "toolCalls": [{"toolCallId": "c1", "toolName": "look", "args": {"at": 1}}],
    }
    attributes = {"mastra.span.type": "model_step", "mastra.model_step.output": json.dumps(output)}
    assert spelled(span(attributes)) == text("""
        mastra: chat
          < assistant: [thinks] Hm. | I look. | [call c1] look {"at":1}
    """)


def test_a_structured_answer_is_an_answer() -> None:
    attributes = {
        "mastra.span.type": "agent_run",
        "mastra.agent_run.output": '{"object": {"n": 1}}',
    }
    assert spelled(span(attributes, name="agent run: 'guide'")) == text("""
        mastra: agent agent=guide
          < assistant: {"n":1}
    """)


def test_spans_before_version_1_are_those_of_methods() -> None:
    result = {"text": "18", "totalUsage": {"inputTokens": 7, "outputTokens": 2}}
    failed = {"code": "TOOL_EXECUTION_FAILED", "message": "no station"}
    run = {
        "agent.generateVNext.argument.0": '"Weather?"',
        "agent.generateVNext.argument.1": '{"threadId": "t1"}',
        "agent.generateVNext.result": json.dumps(result),
        "componentName": "weather",
    }
    call = {
        "mastra.operationId": "mastra.stream",
        "aisdk.model.id": "gpt-5",
        "aisdk.model.provider": "openai.chat",
        "stream.prompt.messages": '[{"role": "user", "content": "Weather?"}]',
        "stream.response.text": "18",
        "stream.usage.inputTokens": 4,
    }
    tool = {
        "mastra.operationId": "mastra.stream.toolCall",
        "stream.toolCall.toolName": "get_weather",
        "stream.toolCall.toolCallId": "c1",
        "stream.toolCall.args": '{"city": "Rome"}',
        "stream.toolCall.result": json.dumps(failed),
    }
    assert spelled(span(run), span(call), span(tool)) == text("""
        mastra: agent agent=weather session=t1 in=7 out=2
          > user: Weather?
          < assistant: 18
        mastra: chat provider=openai model=gpt-5
          > user: Weather?
          < assistant: 18
        mastra: tool get_weather call=c1 tool_error=no station arguments={"city":"Rome"}
    """)
