"""MLflow: a recording, and spans written from its constants."""

from __future__ import annotations

import json

from tests.dialects.spelled import coverage, span, spelled, text
from tests.dialects.traces import recorded

RECORDED = recorded("mlflow-tracing-3.17.2.mlflow.jsonl")
ANSWER = {
    "id": "chatcmpl-1",
    "model": "gpt-5-2026",
    "choices": [{"finish_reason": "stop", "message": {"role": "assistant", "content": "18."}}],
}
SPANS = [
    span(
        {
            "mlflow.spanType": '"AGENT"',
            "mlflow.spanInputs": '{"args": ["Weather?"], "kwargs": {}}',
            "mlflow.spanOutputs": '"18 degrees."',
            "mlflow.trace.session": "s1",
            "mlflow.spanFunctionName": '"run"',
        },
        name="weather",
    ),
    span(
        {
            "mlflow.spanType": '"CHAT_MODEL"',
            "mlflow.spanInputs": json.dumps(
                {"model": "gpt-5", "temperature": 0, "messages": [{"role": "user", "content": "?"}]}
            ),
            "mlflow.spanOutputs": json.dumps(ANSWER),
            "mlflow.chat.tokenUsage": '{"input_tokens": 5, "output_tokens": 2, "total_tokens": 7}',
            "mlflow.llm.cost": '{"input_cost": 0.1, "output_cost": 0.2, "total_cost": 0.3}',
            "mlflow.llm.model": '"gpt-5"',
            "mlflow.llm.provider": '"openai"',
            "mlflow.chat.tools": '[{"type": "function", "function": {"name": "look"}}]',
        },
        name="Completions",
        parent_id="3" * 16,
    ),
    span(
        {
            "mlflow.spanType": '"TOOL"',
            "mlflow.spanInputs": '{"city": "Paris"}',
            "mlflow.spanOutputs": json.dumps(
                {"type": "tool", "tool_call_id": "c1", "content": "18", "status": "success"}
            ),
        },
        name="look",
        parent_id="3" * 16,
    ),
    span(
        {
            "mlflow.spanType": '"RETRIEVER"',
            "mlflow.spanInputs": '"Paris"',
            "mlflow.spanOutputs": '[{"page_content": "A city."}]',
        },
        parent_id="3" * 16,
    ),
    span({"mlflow.spanType": '"CHAIN"', "mlflow.spanInputs": '"x"'}, parent_id="3" * 16),
]


def test_types_inputs_and_outputs_are_read() -> None:
    assert spelled(*SPANS) == text("""
        mlflow: agent agent=weather session=s1
          > user: Weather?
          < assistant: 18 degrees.
        mlflow: chat provider=openai model=gpt-5 answered_by=gpt-5-2026 response=chatcmpl-1
            cost=0.3 temperature=0 in=5 out=2 total=7 tools=look
          > user: ?
          < assistant: 18. (stop)
        mlflow: tool look call=c1 arguments={"city":"Paris"} result="18"
        mlflow: retrieval query=Paris documents=[{"page_content":"A city."}]
        mlflow: unclassified
    """)
    assert coverage(SPANS) == 0.9


def test_a_span_of_another_vocabulary_is_read_by_that() -> None:
    inner = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"}
    parent = {"mlflow.spanType": '"TOOL"', "mlflow.spanInputs": '{"city": "Rome"}'}
    assert spelled(span({**inner, **parent}, name="execute_tool look")) == text("""
        mlflow: tool look arguments={"city":"Rome"}
    """)


def test_a_tool_that_raised_has_the_message_of_its_exception() -> None:
    failed = [item for item in RECORDED if item.status_message == "LookupError: no station in Rome"]
    assert spelled(*failed) == text("""
        mlflow: tool get_weather error=LookupError message=no station in Rome
            arguments={"city":"Rome"}
    """)
