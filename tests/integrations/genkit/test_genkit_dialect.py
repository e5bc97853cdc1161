"""Genkit: cases that our recording lacks."""

from __future__ import annotations

import json

from agentool_otel.model.spans import SpanRecord
from tests.dialects.spelled import coverage, span, spelled, text

REQUEST = {
    "messages": [
        {"role": "user", "content": [{"text": "Where?"}]},
        {"role": "model", "content": [{"toolRequest": {"name": "look", "ref": "c1", "input": 1}}]},
        {"role": "tool", "content": [{"toolResponse": {"ref": "c1", "output": "found"}}]},
    ],
    "tools": [{"name": "look", "inputSchema": {}}],
    "config": {"temperature": 0.5},
}
RESPONSE = {
    "message": {"role": "model", "content": [{"reasoning": "Hm."}, {"text": "Here."}]},
    "finishReason": "stop",
    "usage": {"inputTokens": 5, "outputTokens": 2},
}
SPANS = [
    span({"genkit:type": "flow", "genkit:name": "guide", "genkit:input": '"Where?"'}),
    span(
        {
            "genkit:type": "action",
            "genkit:metadata:subtype": "model",
            "genkit:name": "googleai/gemini",
            "genkit:input": json.dumps(REQUEST),
            "genkit:output": json.dumps(RESPONSE),
        }
    ),
    span(
        {
            "genkit:metadata:subtype": "tool",
            "genkit:name": "look",
            "genkit:input": '{"at": 1}',
            "genkit:output": '"found"',
        }
    ),
    span({"genkit:metadata:subtype": "util", "genkit:name": "generate"}),
]


def test_spans_are_read() -> None:
    assert spelled(*SPANS) == text("""
        genkit: workflow guide
          > user: Where?
        genkit: chat model=googleai/gemini finish=stop temperature=0.5 in=5 out=2 tools=look
          > user: Where?
          > assistant: [call c1] look 1
          > tool: [result c1] "found"
          < assistant: [thinks] Hm. | Here.
        genkit: tool look arguments={"at":1} result="found"
        genkit: unclassified
    """)
    assert coverage(SPANS) == 1.0


def test_queries_and_documents_are_their_text() -> None:
    document = {"content": [{"text": "There "}, {"text": "it is."}], "metadata": {"page": 1}}
    record = span(
        {
            "genkit:metadata:subtype": "retriever",
            "genkit:input": json.dumps({"query": {"content": [{"text": "Where?"}]}}),
            "genkit:output": json.dumps({"documents": [document]}),
        }
    )
    assert spelled(record) == text("""
        genkit: retrieval query=Where? documents=[{"content":"There it
            is.","metadata":{"page":1}}]
    """)


def test_a_multipart_tool_returns_its_output_or_output_and_parts() -> None:
    def looked(output: str) -> SpanRecord:
        return span(
            {
                "genkit:metadata:subtype": "tool.v2",
                "genkit:name": "look",
                "genkit:input": "{}",
                "genkit:output": output,
            }
        )

    assert spelled(
        looked('{"output": {"at": 1}}'), looked('{"output": 1, "content": [{"text": "one"}]}')
    ) == text("""
        genkit: tool look arguments={} result={"at":1}
        genkit: tool look arguments={} result={"output":1,"content":[{"text":"one"}]}
    """)
