"""AgentOps, written from its attribute names and after a recording (`spans/agentops-*.jsonl`)."""

from __future__ import annotations

from agentool_otel.dialects import classify
from tests.dialects.spelled import coverage, span, spelled, text

SPANS = [
    span(
        {
            "agentops.span.kind": "agent",
            "agent.name": "planner",
            "agentops.entity.input": "Plan a trip.",
            "agentops.entity.output": "Go by train.",
        }
    ),
    span(
        {
            "agentops.span.kind": "llm",
            "gen_ai.request.model": "gpt-5",
            "gen_ai.prompt.0.role": "user",
            "gen_ai.prompt.0.content": "Where?",
            "gen_ai.completion.0.role": "assistant",
            "gen_ai.completion.0.finish_reason": "tool_calls",
            "gen_ai.completion.0.tool_calls.0.id": "c1",
            "gen_ai.completion.0.tool_calls.0.name": "look",
            "gen_ai.completion.0.tool_calls.0.arguments": "{}",
            "gen_ai.usage.prompt_tokens": 9,
            "gen_ai.usage.total_cost": 0.25,
        }
    ),
    span(
        {
            "agentops.span.kind": "tool",
            "tool.name": "look",
            "tool.parameters": '{"at": "Paris"}',
            "tool.result": "found",
            "tool.status": "failed",
        }
    ),
    span({"agentops.span.kind": "workflow", "from_agent": "planner", "to_agent": "booker"}),
    span({"agentops.span.kind": "http"}),
    span({"agentops.span.kind": "task", "agentops.task.input": "x"}, parent_id="3" * 16),
    span(
        {"agentops.span.kind": "workflow", "workflow.input": "in", "workflow.final_output": "out"}
    ),
]


def test_spans_are_read() -> None:
    assert spelled(*SPANS) == text("""
        agentops: agent agent=planner
          > user: Plan a trip.
          < assistant: Go by train.
        agentops: chat model=gpt-5 cost=0.25 in=9
          > user: Where?
          < assistant: [call c1] look {} (tool_call)
        agentops: tool look error=_OTHER arguments={"at":"Paris"} result="found"
        agentops: tool transfer_to_booker agent=planner transfer_to=booker
        agentops: unclassified
        agentops: unclassified
        agentops: workflow
          > user: in
          < assistant: out
    """)
    assert coverage(SPANS) == 0.93


def test_a_session_with_a_failed_end_state_is_an_error() -> None:
    record = span({"agentops.span.kind": "session", "agentops.session.end_state": "Fail"})
    assert classify(record)[1].error_type == "_OTHER"


def test_a_tool_span_below_the_model_has_no_result() -> None:
    record = span(
        {
            "agentops.span.kind": "AgentOpsSpanKindValues.TOOL",
            "tool.name": "look",
            "tool.parameters": '{"city": "Paris"}',
            "tool.call.id": "c1",
        },
        parent_id="3" * 16,
    )
    assert spelled(record) == 'agentops: tool look call=c1 arguments={"city":"Paris"}'


def test_tools_are_read_from_functions_by_number() -> None:
    record = span(
        {
            "gen_ai.request.type": "chat",
            "gen_ai.request.model": "gpt-5",
            "gen_ai.request.functions.0.name": "look",
            "gen_ai.request.functions.0.parameters": '{"type": "object"}',
        },
        scope="openai",
    )
    assert spelled(record) == "agentops: chat model=gpt-5 tools=look"


def test_spans_of_the_agents_sdk_are_recognised_by_instrumentation_name() -> None:
    attributes = {"instrumentation.name": "agentops", "trace.id": "trace_1"}
    workflow = {"workflow.step.type": "trace", "workflow.name": "refunds"}
    assert spelled(
        span({**attributes, **workflow}, scope="openai-agents"),
        span({**attributes, "from_agent": "triage", "to_agent": "clerk"}, scope="openai-agents"),
        span(attributes, scope="openai-agents", name="turn"),
    ) == text("""
        agentops: workflow refunds
        agentops: tool transfer_to_clerk agent=triage transfer_to=clerk
        agentops: unclassified
    """)


def test_tools_of_the_agents_sdk_have_their_schema_as_arguments() -> None:
    record = span(
        {
            "agentops.span.kind": "llm",
            "gen_ai.request.tools.0.type": "function",
            "gen_ai.request.tools.0.name": "look",
            "gen_ai.request.tools.0.arguments": '{"type": "object"}',
        }
    )
    assert spelled(record) == "agentops: chat tools=look"
