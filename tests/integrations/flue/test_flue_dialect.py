"""Flue, written from a reader's source: there is no public recording here."""

from __future__ import annotations

from tests.dialects.spelled import coverage, span, spelled, text

SPANS = [
    span({"flue.workflow.payload": '{"city": "Paris"}', "flue.workflow.result": '"18"'}, name="w"),
    span({"flue.task.agent": "guide", "flue.task.prompt": "Where?", "flue.task.result": "Here."}),
    span({"flue.turn.input": "Where?", "flue.turn.output": "Here."}),
    span(
        {
            "flue.tool.name": "look",
            "flue.tool.call_id": "c1",
            "flue.tool.arguments": '{"at": 1}',
            "flue.tool.result": "found",
        }
    ),
    span({"flue.operation.result": "x"}),
]


def test_spans_are_read() -> None:
    assert spelled(*SPANS) == text("""
        flue: workflow w
          > user: {"city":"Paris"}
          < assistant: 18
        flue: agent agent=guide
          > user: Where?
          < assistant: Here.
        flue: chat
          > user: Where?
          < assistant: Here.
        flue: tool look call=c1 arguments={"at":1} result="found"
        flue: unclassified
    """)
    assert coverage(SPANS) == 0.92
