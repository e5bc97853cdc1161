"""Mastra, written from a reader's source: there is no public recording here."""

from __future__ import annotations

from tests.dialects.spelled import coverage, span, spelled, text

SPANS = [
    span(
        {
            "mastra.span.type": "agent_run",
            "mastra.agent_run.input": '[{"role": "user", "content": "Where?"}]',
            "mastra.agent_run.output": '{"text": "Here."}',
            "mastra.metadata.threadId": "t1",
        },
        name="agent run: 'guide'",
    ),
    span(
        {
            "mastra.span.type": "model_step",
            "mastra.model_step.input": '{"messages": [{"role": "user", "content": "Where?"}]}',
            "mastra.model_step.output": '{"text": "Here."}',
            "gen_ai.usage.input_tokens": 5,
        }
    ),
    span(
        {
            "mastra.span.type": "mcp_tool_call",
            "mastra.mcp_tool_call.input": '{"at": 1}',
            "mastra.mcp_tool_call.output": '"found"',
        },
        name="mcp_tool: 'look' on 'map'",
    ),
    span({"mastra.span.type": "model_chunk", "mastra.output": "He"}),
    span({"mastra.span.type": "workflow_step"}),
]


def test_spans_are_read() -> None:
    assert spelled(*SPANS) == text("""
        mastra: agent agent=guide session=t1
          > user: Where?
          < assistant: Here.
        mastra: chat in=5
          > user: Where?
          < assistant: Here.
        mastra: tool look arguments={"at":1} result="found"
        mastra: unclassified
        mastra: unclassified
    """)
    assert coverage(SPANS) == 0.93
