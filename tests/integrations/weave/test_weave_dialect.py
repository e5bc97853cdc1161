"""Weave, written from its attribute names: there is no public recording here."""

from __future__ import annotations

import json

from agentool_otel.model.messages import message
from agentool_otel.model.messages import text as words
from tests.dialects.spelled import coverage, span, spelled, text

SPANS = [
    span(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "gpt-5",
            "gen_ai.output.messages": json.dumps([message("assistant", [words("hi")])]),
            "gen_ai.conversation.id": "c1",
            "weave.parent_call.id": "p",
            "weave.parent_call.trace_id": "t",
        }
    ),
    span({"weave.parent_call.id": "p"}),
]


def test_spans_are_read() -> None:
    assert spelled(*SPANS) == text("""
        weave: chat model=gpt-5 session=c1
          < assistant: hi
        weave: unclassified
    """)
    assert coverage(SPANS) == 0.57
