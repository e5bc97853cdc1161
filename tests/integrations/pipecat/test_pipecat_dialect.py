"""Pipecat: cases that our recording lacks."""

from __future__ import annotations

from tests.dialects.spelled import span, spelled, text


def test_a_turn_is_a_run_of_its_conversation_and_speech_is_not_an_operation() -> None:
    attributes = {"conversation.id": "session-1", "turn.number": 1}
    assert spelled(
        span(attributes, name="conversation", scope="pipecat.turn"),
        span(attributes, name="turn", scope="pipecat.turn"),
        span({"gen_ai.operation.name": "tts", "text": "Hello."}, name="tts", scope="pipecat"),
    ) == text("""
        pipecat: unclassified session=session-1
        pipecat: agent session=session-1
        pipecat: unclassified
    """)


def test_settings_that_were_not_given_are_none() -> None:
    call = span(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "gpt-5",
            "gen_ai.request.top_k": "NOT_GIVEN",
            "input": '[{"role": "user", "content": "Hi?"}]',
            "output": "Hello.",
        },
        name="llm",
        scope="pipecat",
    )
    assert spelled(call) == text("""
        pipecat: chat model=gpt-5
          > user: Hi?
          < assistant: Hello.
    """)
