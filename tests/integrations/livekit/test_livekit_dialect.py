"""LiveKit Agents, written from its trace types: there is no public recording here."""

from __future__ import annotations

import json

from tests.dialects.spelled import coverage, span, spelled, text

CONTEXT = {
    "items": [
        {"type": "message", "role": "user", "content": ["Where?"]},
        {"type": "function_call", "call_id": "c1", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c1", "output": "found"},
    ]
}
SPANS = [
    span(
        {
            "lk.agent_name": "guide",
            "lk.user_input": "Where?",
            "lk.response.text": "Here.",
            "lk.job_id": "j1",
        },
        name="agent_turn",
    ),
    span(
        {
            "lk.chat_ctx": json.dumps(CONTEXT),
            "lk.response.text": "Here.",
            "lk.response.function_calls": '[{"id": "c2", "name": "look", "arguments": "{}"}]',
        },
        name="llm_node",
    ),
    span(
        {
            "lk.function_tool.name": "look",
            "lk.function_tool.arguments": '{"at": 1}',
            "lk.function_tool.output": "found",
        },
        name="function_tool",
    ),
    span({"lk.room_name": "r"}, name="tts_node"),
]


def test_spans_are_read() -> None:
    assert spelled(*SPANS) == text("""
        livekit: agent agent=guide session=j1
          > user: Where?
          < assistant: Here.
        livekit: chat
          > user: Where?
          > assistant: [call c1] look {}
          > tool: [result c1] "found"
          < assistant: Here. | [call c2] look {}
        livekit: tool look arguments={"at":1} result="found"
        livekit: unclassified
    """)
    assert coverage(SPANS) == 0.91
