"""LangWatch SDK, written from its attribute names: there is no public recording here."""

from __future__ import annotations

from tests.dialects.spelled import coverage, span, spelled, text

SPANS = [
    span(
        {
            "langwatch.span.type": "llm",
            "langwatch.input": '{"type": "chat_messages", "value": '
            '[{"role": "user", "content": "Where?"}]}',
            "langwatch.output": '{"type": "text", "value": "Here."}',
            "langwatch.metrics": '{"type": "json", "value": {"promptTokens": 5, "cost": 0.5}}',
            "langwatch.thread.id": "t1",
        }
    ),
    span(
        {
            "langwatch.span.type": "tool",
            "langwatch.input": '{"type": "json", "value": {"at": 1}}',
            "langwatch.output": '{"type": "text", "value": "18"}',
        },
        name="look",
    ),
    span(
        {
            "langwatch.span.type": "rag",
            "langwatch.input": '{"type": "text", "value": "Paris"}',
            "langwatch.rag.contexts": '{"type": "json", "value": [{"content": "A city."}]}',
        }
    ),
    span({"langwatch.span.type": "guardrail", "langwatch.input": '{"type": "text", "value": "x"}'}),
]


def test_spans_are_read() -> None:
    assert spelled(*SPANS) == text("""
        langwatch: chat cost=0.5 session=t1 in=5
          > user: Where?
          < assistant: Here.
        langwatch: tool look arguments={"at":1} result="18"
        langwatch: retrieval query=Paris documents=[{"content":"A city."}]
        langwatch: unclassified
    """)
    assert coverage(SPANS) == 0.92
