"""LiveKit Agents: names before 1.7 by hand; the recording of a newer version is a fixture."""

from __future__ import annotations

import json

import msgspec
import pytest

from agentool_otel.model.spans import SpanRecord
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


_NAMES = ("user_input", "chat_ctx", "response.text", "response.function_calls")
_OF_TOOLS = ("function_tool.arguments", "function_tool.output")


def test_names_since_1_7_are_read_as_those_before() -> None:
    assert spelled(*map(_since_1_7, SPANS)) == spelled(*SPANS)


def _since_1_7(record: SpanRecord) -> SpanRecord:
    names = {f"lk.{name}": f"lk.pii.{name}" for name in (*_NAMES, *_OF_TOOLS)}
    attributes = {names.get(key, key): value for key, value in record.attributes.items()}
    return msgspec.structs.replace(record, attributes=attributes)


def test_a_model_call_with_its_answer_alone_has_an_output() -> None:
    assert spelled(span({"lk.pii.response.text": "Here."}, name="llm_node")) == text("""
        livekit: chat
          < assistant: Here.
    """)


@pytest.mark.parametrize("tools", [["look"], ["llm_node", "look"], []])
def test_a_model_call_that_is_offered_tools_is_no_tool_call(tools: list[str]) -> None:
    assert spelled(span({"lk.function_tools": tools}, name="llm_node")) == "livekit: chat"


def test_an_attempt_of_a_model_call_is_no_model_call() -> None:
    attributes = {"gen_ai.request.model": "m", "gen_ai.provider.name": "p", "lk.retry_count": 0}
    record = span(attributes, name="llm_request_run", scope="livekit-agents")
    assert spelled(record) == "livekit: unclassified"


@pytest.mark.parametrize("prefix", ["lk.", "lk.pii."])
def test_a_failed_tool_has_its_output_as_error(prefix: str) -> None:
    attributes = {
        "lk.function_tool.name": "look",
        "lk.function_tool.is_error": True,
        f"{prefix}function_tool.output": "no map",
    }
    record = span(attributes, name="function_tool")
    assert spelled(record) == 'livekit: tool look tool_error=no map result="no map"'
