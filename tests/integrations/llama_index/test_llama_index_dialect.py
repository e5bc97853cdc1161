"""LlamaIndex by its own instrumentation and OpenInference's: cases that our recordings lack."""

from __future__ import annotations

import json

import pytest

from tests.dialects.spelled import event, span, spelled, text

OWN, OPENINFERENCE = "llamaindex.opentelemetry.tracer", "openinference.instrumentation.llama_index"


def test_a_completion_is_a_model_call_with_a_prompt_and_a_text() -> None:
    record = span(
        {"llamaindex.run_id": "r"},
        event("LLMCompletionStartEvent", prompt="Where?", **{"model_dict.model_name": "m"}),
        event("LLMCompletionEndEvent", **{"response.text": "Here."}),
        name="OpenAI.complete",
        scope=OWN,
    )
    assert spelled(record) == text("""
        llama_index: chat model=m
          > user: Where?
          < assistant: Here.
    """)


def test_thoughts_are_read() -> None:
    blocks = [{"block_type": "thinking", "content": "Hm."}]
    record = span(
        {},
        event("LLMChatStartEvent", messages="[]"),
        event("LLMChatEndEvent", **{"response.message.blocks": json.dumps(blocks)}),
        name="Anthropic.chat",
        scope=OWN,
    )
    assert spelled(record) == text("""
        llama_index: chat
          < assistant: [thinks] Hm.
    """)


def test_a_tool_call_that_was_cut_has_no_arguments() -> None:
    record = span(
        {"llamaindex.step.input_summary": "ToolCall(tool_name='look', tool_kwargs={'at': '..."},
        name="FunctionTool.acall",
        scope=OWN,
    )
    assert spelled(record) == "llama_index: tool look"


ANSWER = (
    "StopEvent(result=AgentOutput(response=ChatMessage(role=<MessageRole.ASSISTANT: 'assistant'>, "
    "additional_kwargs={}, blocks=[TextBlock(block_type='text', text="
)


@pytest.mark.parametrize(
    ("printed", "answer"),
    [
        (ANSWER + "'Here.')]), structured_respo...", "  < assistant: Here."),
        (ANSWER + '"It\'s \\\\ here.")]), struc...', "  < assistant: It's \\ here."),
        (ANSWER + "'\\N')]), struc...", ""),
        (ANSWER + "'It is a long answer tha...", ""),
        ("StopEvent(result='Here.')", ""),
    ],
)
def test_the_printed_answer_of_a_run_is_read_if_it_is_complete(printed: str, answer: str) -> None:
    record = span({}, event("workflow.output", output=printed), name="FunctionAgent.run", scope=OWN)
    head = "llama_index: agent agent=FunctionAgent"
    assert spelled(record) == "\n".join(filter(None, (head, answer)))


def test_a_workflow_below_another_span_is_a_run_too() -> None:
    output = event("workflow.output", output="StopEvent()")
    below = span({}, output, name="AgentWorkflow.run", scope=OWN, parent_id="3" * 16)
    assert spelled(below) == "llama_index: workflow AgentWorkflow"


def test_openinferences_tool_span_has_the_arguments_and_result_of_a_method() -> None:
    gave = {"raw_input": {"kwargs": {"at": 1}}, "raw_output": {"found": 2}, "is_error": False}
    record = span(
        {
            "openinference.span.kind": "TOOL",
            "tool.name": "look",
            "input.value": json.dumps({"kwargs": {"at": 1, "ctx": "<Context object>"}}),
            "input.mime_type": "application/json",
            "output.value": json.dumps(gave),
            "output.mime_type": "application/json",
        },
        scope=OPENINFERENCE,
    )
    assert spelled(record) == 'openinference: tool look arguments={"at":1} result={"found":2}'


def test_a_tool_with_an_error_output_failed() -> None:
    record = span(
        {
            "openinference.span.kind": "TOOL",
            "tool.name": "look",
            "input.value": '{"kwargs": {}}',
            "output.value": '{"raw_output": "no map", "is_error": true}',
        },
        scope=OPENINFERENCE,
    )
    assert spelled(record) == (
        'openinference: tool look tool_error=no map arguments={} result="no map"'
    )


def test_the_inner_span_of_a_method_is_not_an_operation() -> None:
    attributes = {"openinference.span.kind": "RETRIEVER", "input.value": "Where?"}
    outer = span(attributes, name="VectorIndexRetriever.retrieve", scope=OPENINFERENCE)
    inner = span(attributes, name="VectorIndexRetriever._retrieve", scope=OPENINFERENCE)
    assert spelled(outer, inner) == text("""
        openinference: retrieval query=Where?
        openinference: unclassified
    """)
