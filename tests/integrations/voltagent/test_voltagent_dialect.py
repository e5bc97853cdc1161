"""VoltAgent, written from a reader's source for older versions; a newer one is recorded."""

from __future__ import annotations

from tests.dialects.spelled import coverage, span, spelled, text

SPANS = [
    span(
        {
            "span.type": "agent",
            "voltagent.conversation_id": "c1",
            "agent.name": "guide",
            "agent.messages": '[{"role": "user", "content": "Where?"}]',
            "output": "Here.",
            "usage.prompt_tokens": 5,
            "usage.completion_tokens": 2,
        }
    ),
    span(
        {
            "entity.type": "llm",
            "llm.messages": '[{"role": "user", "content": "Where?"}]',
            "output": "Here.",
            "llm.usage.prompt_tokens": 5,
        }
    ),
    span({"entity.type": "tool", "tool.name": "look", "input": '{"at": 1}', "output": '"found"'}),
    span({"entity.type": "memory", "input": "Paris", "output": '[{"a": 1}]'}, name="memory.read"),
    span({"entity.type": "memory", "input": '{"a": 1}'}, name="memory.write"),
]


def test_spans_are_read() -> None:
    assert spelled(*SPANS) == text("""
        voltagent: agent agent=guide session=c1 in=5 out=2
          > user: Where?
          < assistant: Here.
        voltagent: chat in=5
          > user: Where?
          < assistant: Here.
        voltagent: tool look arguments={"at":1} result="found"
        voltagent: search_memory query=Paris results=[{"a":1}]
        voltagent: upsert_memory content={"a":1}
    """)
    assert coverage(SPANS) == 1.0


def test_a_span_of_several_steps_has_no_single_steps_usage() -> None:
    call = {
        "entity.type": "agent",
        "span.type": "llm",
        "llm.operation": "generateText",
        "llm.usage.prompt_tokens": 265,
    }
    run = {"entity.type": "agent", "usage.prompt_tokens": 280, "conversation.id": "c1"}
    assert spelled(span(call), span(run)) == text("""
        voltagent: chat
        voltagent: agent session=c1 in=280
    """)
