"""Spring AI: differences of its versions from the conventions, and the contents of its logs."""

from __future__ import annotations

from tests.dialects.spelled import coverage, event, span, spelled, text

BOOT = "org.springframework.boot"


def test_a_chat_client_is_a_run() -> None:
    client = span(
        {
            "spring.ai.kind": "chat_client",
            "gen_ai.operation.name": "framework",
            "gen_ai.system": "spring_ai",
            "spring.ai.chat.client.conversation.id": "session-1",
        },
        event(
            "log",
            body='Chat Client Prompt Content:\n["system":"Be brief.", "user":"A "b", "c" d?"]',
        ),
        event("log", body='Chat Client Completion:\n["There."]'),
        scope=BOOT,
    )
    advisor = span({"spring.ai.kind": "advisor", "gen_ai.operation.name": "framework"}, scope=BOOT)
    assert spelled(client, advisor) == text("""
        spring_ai: agent session=session-1
            system: Be brief.
          > user: A "b", "c" d?
          < assistant: There.
        spring_ai: unclassified
    """)
    assert coverage([client]) == 1.0


def test_a_tool_call() -> None:
    tool = span(
        {
            "spring.ai.kind": "tool_call",
            "gen_ai.operation.name": "framework",
            "gen_ai.system": "spring_ai",
            "spring.ai.tool.definition.name": "look",
            "spring.ai.tool.call.id": "c1",
            "spring.ai.tool.call.arguments": '{"at": 1}',
            "spring.ai.tool.call.result": '"found"',
        }
    )
    assert spelled(tool) == 'spring_ai: tool look call=c1 arguments={"at":1} result="found"'
    assert coverage([tool]) == 1.0


def test_a_model_call_with_its_log_records() -> None:
    """Texts are quoted and not escaped; their owner is known only if there is a single one."""
    chat = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-5"}
    one = span(
        {
            **chat,
            "gen_ai.response.finish_reasons": '["TOOL_CALLS"]',
            "spring.ai.model.request.tool.names": '["look"]',
        },
        event("log", body='Chat Model Prompt Content:\n["Where is "it"?"]'),
        event("log", body='Chat Model Completion:\n["{"a": "b", "c": 1}"]'),
        scope=BOOT,
    )
    several = span(
        chat, event("log", body='Chat Model Prompt Content:\n["Be brief.", "So?"]'), scope=BOOT
    )
    assert spelled(one, several) == text("""
        spring_ai: chat model=gpt-5 finish=tool_call tools=look
          > user: Where is "it"?
          < assistant: {"a": "b", "c": 1}
        spring_ai: chat model=gpt-5
          > None: Be brief.
          > None: So?
    """)


def test_unknown_values_are_left_out() -> None:
    """Micrometer's `none`, and the zeros of a stream whose tokens nobody counted."""
    chat = span(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "gpt-5",
            "gen_ai.response.model": "none",
            "gen_ai.usage.input_tokens": "0",
            "gen_ai.usage.output_tokens": "0",
            "gen_ai.usage.total_tokens": "0",
        },
        event("log", body="Chat Model Completion:\n[]"),
        scope=BOOT,
    )
    assert spelled(chat) == "spring_ai: chat model=gpt-5"


def test_a_vector_store_is_queried_or_filled() -> None:
    record = span(
        {
            "spring.ai.kind": "vector_store",
            "db.operation.name": "query",
            "db.vector.query.content": "Where?",
            "db.vector.query.top_k": "2",
        },
        event("log", body='Vector Store Query Response:\n["Here.", "There."]'),
    )
    filled = span({"spring.ai.kind": "vector_store", "db.operation.name": "add"})
    embedded = span(
        {"gen_ai.operation.name": "embedding", "gen_ai.request.model": "small"}, scope=BOOT
    )
    assert spelled(record, filled, embedded) == text("""
        spring_ai: retrieval query=Where? top_k=2
            documents=[{"content":"Here."},{"content":"There."}]
        spring_ai: unclassified
        spring_ai: embeddings model=small
    """)
