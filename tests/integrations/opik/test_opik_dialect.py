"""Opik, written from its attribute names: there is no public recording here."""

from __future__ import annotations

from tests.dialects.spelled import coverage, span, spelled, text

IDS = {"opik.trace_id": "t", "opik.span_id": "s", "opik.parent_span_id": "p"}
SPANS = [
    span({**IDS, "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "look"}),
    span({**IDS, "ai.operationId": "ai.toolCall", "ai.toolCall.name": "look"}),
    span(IDS),
]


def test_ids_leave_the_vocabulary_of_a_span_as_it_is() -> None:
    assert spelled(*SPANS) == text("""
        opik: tool look
        opik: tool look
        opik: unclassified
    """)
    assert coverage(SPANS) == 0.31
