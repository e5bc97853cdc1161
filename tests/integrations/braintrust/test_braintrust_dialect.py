"""Braintrust, written from its documentation: there is no public recording here."""

from __future__ import annotations

from tests.dialects.spelled import coverage, span, spelled, text

SPANS = [
    span(
        {
            "braintrust.span_attributes": '{"type": "llm", "name": "Chat Completion"}',
            "braintrust.input_json": '[{"role": "user", "content": "hi"}]',
            "braintrust.output_json": '[{"message": {"role": "assistant", "content": "hello"}}]',
            "braintrust.metadata": '{"model": "gpt-5", "provider": "openai", "temperature": 0.5}',
            "braintrust.metrics": '{"prompt_tokens": 3, "completion_tokens": 4, "tokens": 7,'
            ' "prompt_cached_tokens": 2, "time_to_first_token": 0.5}',
            "braintrust.parent": "project_id:1",
        },
        parent_id="3" * 16,
    ),
    span(
        {
            "braintrust.span_attributes": '{"type": "tool", "name": "look"}',
            "braintrust.input": '{"city": "Paris"}',
            "braintrust.output": '"18"',
        },
        parent_id="3" * 16,
    ),
    span(
        {
            "braintrust.span_attributes": '{"type": "task"}',
            "braintrust.input": "hi",
            "braintrust.output": "hello",
        },
        name="answer",
    ),
    span({"braintrust.span_attributes": '{"type": "score"}', "braintrust.output": "1"}),
]


def test_spans_are_read() -> None:
    assert spelled(*SPANS) == text("""
        braintrust: chat provider=openai model=gpt-5 first_chunk_s=0.5 temperature=0.5 in=3
            out=4 cached=2 total=7
          > user: hi
          < assistant: hello
        braintrust: tool look arguments={"city":"Paris"} result="18"
        braintrust: workflow answer
          > user: hi
          < assistant: hello
        braintrust: unclassified
    """)
    assert coverage(SPANS) == 0.93


def test_a_foreign_span_sent_to_braintrust_is_read_in_its_own_vocabulary() -> None:
    attributes = {"gen_ai.operation.name": "chat", "braintrust.parent": "project_id:1"}
    assert spelled(span(attributes)) == "gen_ai: chat"
