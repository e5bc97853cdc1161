"""Koog: differences of its versions from the conventions."""

from __future__ import annotations

from tests.dialects.spelled import coverage, event, span, spelled, text

CALL = '[{"id":"c1","type":"function","function":{"name":"look","arguments":"{\\"at\\":1}"}}]'
HIDDEN = "HIDDEN:non-empty"


def test_messages_are_normalised_to_the_conventions() -> None:
    """Since Koog 0.6: roles in capitals, a result under `result`, an empty message between."""
    spans = [
        span(
            {
                "gen_ai.operation.name": "create_agent",
                "gen_ai.agent.id": "helper",
                "koog.event.id": "e0",
            }
        ),
        span({"koog.node.id": "nodeCallLLM", "gen_ai.conversation.id": "r1"}),
        span(
            {
                "gen_ai.operation.name": "chat",
                "koog.event.id": "e1",
                "system_instructions": '[{"type":"text","content":"Be brief."}]',
                "gen_ai.input.messages": '[{"role":"tool","parts":[]},'
                '{"role":"User","parts":[{"type":"text","content":"Where?"}]},'
                '{"role":"Tool","parts":[{"type":"tool_call","id":"c0","name":"look",'
                '"arguments":{}}]},'
                '{"role":"tool","parts":[{"type":"tool_call_response","id":"c0",'
                '"result":"found"}]}]',
                "gen_ai.output.messages": '[{"role":"Tool","parts":[{"type":"tool_call",'
                '"id":"c1","name":"look","arguments":{"at":1}}]},'
                '{"role":"Assistant","parts":[{"type":"text","content":"Again."}]}]',
                "gen_ai.response.finish_reasons": "[tool_calls]",
            }
        ),
    ]
    assert spelled(*spans) == text("""
        koog: create_agent id=helper
        koog: unclassified session=r1
        koog: chat finish=tool_call
            system: Be brief.
          > user: Where?
          > assistant: [call c0] look {}
          > tool: [result c0] "found"
          < assistant: [call c1] look {"at":1} | Again.
    """)
    assert coverage(spans) == 0.73


def test_a_run_has_only_its_system_prompt() -> None:
    """Since Koog 0.6: it stands where input and answer belong, and no tokens are counted."""
    system = '[{"role":"System","parts":[{"type":"text","content":"Be brief."}]}]'
    run = span(
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.id": "helper",
            "gen_ai.conversation.id": "r1",
            "gen_ai.input.messages": system,
            "gen_ai.output.messages": system,
            "gen_ai.usage.input_tokens": 0,
            "gen_ai.usage.output_tokens": 0,
            "koog.event.id": "e1",
        }
    )
    assert spelled(run) == "koog: agent id=helper session=r1"


def test_a_tool_that_failed_has_no_result() -> None:
    failed = span(
        {
            "gen_ai.operation.name": "execute_tool",
            "gen_ai.tool.name": "look",
            "gen_ai.tool.call.result": "{}",
            "error.type": "java.lang.IllegalStateException",
            "koog.event.id": "e1",
        },
        status="ERROR",
    )
    assert spelled(failed) == "koog: tool look error=java.lang.IllegalStateException"


def test_a_choice_before_a_tool_result_is_history() -> None:
    """Koog 0.5: the calls of earlier turns are choices too, and an answer in words is none."""
    chat = span(
        {"gen_ai.operation.name": "chat"},
        event("gen_ai.user.message", role="user", content="Where?"),
        event("gen_ai.choice", role="tool", tool_calls=CALL),
        event("gen_ai.tool.message", role="tool", content="found", id="c1"),
        event("gen_ai.assistant.message", role="assistant", content="There."),
        scope="my-service",
    )
    assert spelled(chat) == text("""
        gen_ai: chat
          > user: Where?
          > assistant: [call c1] look {"at":1}
          > tool: [result c1] "found"
          < assistant: There.
    """)


def test_hidden_content_is_not_a_value() -> None:
    spans = [
        span(
            {"gen_ai.operation.name": "chat"},
            event("gen_ai.user.message", role="user", content=HIDDEN),
            event("gen_ai.choice", role="tool", tool_calls=CALL.replace("look", HIDDEN)),
        ),
        span(
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "look",
                "gen_ai.tool.call.arguments": HIDDEN,
                "koog.event.id": "e1",
            }
        ),
    ]
    assert spelled(*spans) == "gen_ai: chat\nkoog: tool look"


def test_content_for_langfuse_is_indexed_and_holds_calls() -> None:
    spans = [
        span(
            {
                "gen_ai.operation.name": "chat",
                "gen_ai.prompt.0.role": "user",
                "gen_ai.prompt.0.content": "Where?",
                "gen_ai.completion.0.role": "assistant",
                "gen_ai.completion.0.finish_reason": "tool_calls",
                "gen_ai.completion.0.content": CALL,
            },
            scope="my-service",
        ),
        span(
            {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "look",
                "gen_ai.tool.call.id": "c1",
                "input.value": '{"at": 1}',
                "output.value": "found",
            },
            scope="my-service",
        ),
    ]
    assert spelled(*spans) == text("""
        gen_ai: chat
          > user: Where?
          < assistant: [call c1] look {"at":1} (tool_call)
        gen_ai: tool look call=c1 arguments={"at":1} result="found"
    """)
    assert coverage(spans) == 1.0
