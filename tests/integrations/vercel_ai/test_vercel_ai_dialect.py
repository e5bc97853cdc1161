"""Vercel AI SDK: traces of version 6, public and recorded; spans written for versions 3 to 7."""

from __future__ import annotations

import json

from tests.dialects.spelled import coverage, span, spelled, text
from tests.dialects.traces import load, recorded

INNER = load("vercel_ai_v6/ai-generateText-doGenerate.json")
OUTER = load("vercel_ai_v6/ai-generateText.json") + load("vercel_ai_v6/ai-streamText.json")
SENT = [
    {"role": "system", "content": "Be brief."},
    {"role": "user", "content": [{"type": "text", "text": "Weather?"}]},
    {
        "role": "assistant",
        "content": [
            {"type": "reasoning", "text": "I need a tool."},
            {"type": "tool-call", "toolCallId": "c1", "toolName": "weather", "input": {"in": "SF"}},
        ],
    },
    {
        "role": "tool",
        "content": [
            {
                "type": "tool-result",
                "toolCallId": "c1",
                "toolName": "weather",
                "output": {"type": "json", "value": {"t": 64}},
            }
        ],
    },
]
FROM_TABLES = [
    span(
        {
            "operation.name": "ai.streamText.doStream fn",
            "ai.operationId": "ai.streamText.doStream",
            "ai.telemetry.metadata.sessionId": "s1",
            "ai.model.id": "claude",
            "ai.model.provider": "anthropic.messages",
            "ai.prompt.messages": json.dumps(SENT),
            "ai.prompt.tools": [
                json.dumps({"type": "function", "name": "weather", "inputSchema": {}})
            ],
            "ai.response.reasoning": "Cold enough?",
            "ai.response.toolCalls": json.dumps(
                [{"toolCallId": "c2", "toolName": "weather", "input": '{"in":"LA"}'}]
            ),
            "ai.response.finishReason": "tool-calls",
            "ai.response.msToFirstChunk": 250,
            "ai.usage.inputTokens": 20,
            "ai.usage.outputTokens": 5,
            "ai.usage.inputTokenDetails.cacheReadTokens": 8,
            "ai.usage.inputTokenDetails.cacheWriteTokens": 2,
            "ai.usage.outputTokenDetails.reasoningTokens": 3,
        }
    ),
    span(
        {
            "ai.operationId": "ai.toolCall",
            "ai.toolCall.name": "weather",
            "ai.toolCall.id": "c2",
            "ai.toolCall.args": '{"in":"LA"}',
            "ai.toolCall.result": '{"t":80}',
        }
    ),
    span(
        {
            "ai.operationId": "ai.generateObject.doGenerate",
            "ai.model.id": "gpt-4o",
            "ai.result.object": '{"a":1}',
            "ai.usage.promptTokens": 3,
            "ai.usage.completionTokens": 4,
        }
    ),
    span({"ai.operationId": "ai.embed.doEmbed", "ai.model.id": "e3", "ai.usage.tokens": 7}),
    span({"ai.operationId": "ai.embed", "ai.model.id": "e3", "ai.usage.tokens": 7}),
]


def test_inner_spans_are_model_calls() -> None:
    assert spelled(*INNER) == text("""
        vercel_ai: chat provider=openai model=gpt-4o-mini answered_by=gpt-4o-mini-2024-07-18
            response=resp_0269f3aed1fd415900698212189ed88190b8bb13919d420b02 finish=stop in=14
            out=20
          > user: Write a haiku about programming.
          < assistant: Lines of code align,  ⏎Logic dances throug…ms in data flow. (stop)
        vercel_ai: chat provider=openai model=gpt-4o-mini answered_by=gpt-4o-mini-2024-07-18
            response=resp_0056c25ba5cb2bd9006982121a510c81a1a31c11ddcf1abc73 finish=stop in=50
            out=9
          > system: You are a helpful assistant.
          > user: What is 2 + 2?
          > assistant: 2 + 2 equals 4.
          > user: And what is 3 + 3?
          < assistant: 3 + 3 equals 6. (stop)
    """)
    assert coverage(INNER) == 0.71


def test_outer_spans_are_runs() -> None:
    assert spelled(*OUTER) == text("""
        vercel_ai: agent provider=openai model=gpt-4o-mini finish=stop
            agent=test-generate-text in=14 out=20
          > user: Write a haiku about programming.
          < assistant: Lines of code align,  ⏎Logic dances throug…ms in data flow. (stop)
        vercel_ai: agent provider=openai model=gpt-4o-mini finish=stop
            agent=test-generate-text-messages in=50 out=9
          > system: You are a helpful assistant.
          > user: What is 2 + 2?
          > assistant: 2 + 2 equals 4.
          > user: And what is 3 + 3?
          < assistant: 3 + 3 equals 6. (stop)
        vercel_ai: agent provider=openai model=gpt-4o-mini finish=stop agent=test-stream-text
            in=15 out=112 cached=0 reasoning=0 total=127
          > user: Write a short poem about TypeScript.
          < assistant: In code’s embrace, where types align,  ⏎Ty… safe strings.   (stop)
    """)
    assert coverage(OUTER) == 0.75


def test_tools_reasoning_cache_and_older_names_are_read() -> None:
    assert spelled(*FROM_TABLES) == text("""
        vercel_ai: chat provider=anthropic model=claude finish=tool_call first_chunk_s=0.25
            session=s1 in=20 out=5 cached=8 cache_written=2 reasoning=3 tools=weather
          > system: Be brief.
          > user: Weather?
          > assistant: [thinks] I need a tool. | [call c1] weather {"in":"SF"}
          > tool: [result c1] {"t":64}
          < assistant: [thinks] Cold enough? | [call c2] weather {"in":"LA"} (tool_call)
        vercel_ai: tool weather call=c2 arguments={"in":"LA"} result={"t":80}
        vercel_ai: chat model=gpt-4o in=3 out=4
          < assistant: {"a":1}
        vercel_ai: embeddings model=e3 in=7
        vercel_ai: unclassified
    """)
    assert coverage(FROM_TABLES) == 0.94


def test_version_7_is_read_as_the_conventions() -> None:
    scope = "@ai-sdk/otel"
    texts = [
        span({"gen_ai.operation.name": "agent_step"}, scope=scope),
        span(
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "weather",
                "gen_ai.tool.type": "extension",
                "gen_ai.execute_tool.duration": 0.25,
            },
            scope=scope,
        ),
    ]
    assert spelled(*texts) == text("""
        vercel_ai: unclassified
        vercel_ai: tool weather ms=250.0
    """)
    assert coverage(texts) == 0.8


def test_spans_of_opencode_are_read_as_the_sdk_it_is_built_on() -> None:
    record = span(
        {
            "ai.operationId": "ai.streamText",
            "resource.name": "session.llm",
            "ai.prompt": '{"messages":[{"role":"user","content":"fix it"}]}',
        },
        scope="opencode",
    )
    assert spelled(record) == text("""
        vercel_ai: agent agent=session.llm
          > user: fix it
    """)


def test_a_tool_that_threw_has_the_message_of_its_error() -> None:
    tools = [item for item in recorded("ai-6.0.326.vercel_ai.jsonl") if item.name == "ai.toolCall"]
    assert spelled(*tools) == text("""
        vercel_ai: tool get_weather call=call_000006 session=session-1 error=Error message=no
            station in Rome arguments={"city":"Rome"}
        vercel_ai: tool get_weather call=call_000004 session=session-1
            arguments={"city":"Paris"} result={"city":"Paris","degrees":18}
    """)


def test_an_answer_that_version_3_4_wrote_under_two_names_is_one_answer() -> None:
    calls = json.dumps([{"toolCallId": "c1", "toolName": "weather", "args": '{"in":"SF"}'}])
    both = {f"ai.{old}.{name}": value for old in ("response", "result")
            for name, value in (("text", "I look."), ("toolCalls", calls))}  # fmt: skip
    assert spelled(span({"ai.operationId": "ai.generateText.doGenerate", **both})) == text("""
        vercel_ai: chat
          < assistant: I look. | [call c1] weather {"in":"SF"}
    """)


def test_openinferences_attributes_do_not_replace_the_sdks_own() -> None:
    calls = [{"toolCallId": "c1", "toolName": "weather", "input": '{"in":"SF"}'}]
    result = "llm.output_messages.0.message.tool_calls.0.tool_call.function.name"
    both = {
        "ai.operationId": "ai.generateText.doGenerate",
        "ai.response.toolCalls": json.dumps(calls),
        "openinference.span.kind": "LLM",
        result: "weather",
    }
    assert spelled(span(both)) == text("""
        vercel_ai: chat
          < assistant: [call c1] weather {"in":"SF"}
    """)
    assert coverage([span(both)]) == 1.0
