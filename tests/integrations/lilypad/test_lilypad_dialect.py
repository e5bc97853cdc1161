"""Lilypad, written from its source: there is no public recording here."""

from __future__ import annotations

from tests.dialects.spelled import coverage, span, spelled, text

SPANS = [
    span(
        {
            "lilypad.type": "trace",
            "lilypad.trace.arg_values": '{"question": "Where?"}',
            "lilypad.trace.output": "Here.",
        },
        name="answer",
    ),
    span({"lilypad.type": "trace"}, parent_id="3" * 16),
]


def test_spans_are_read() -> None:
    assert spelled(*SPANS) == text("""
        lilypad: workflow answer
          > user: Where?
          < assistant: Here.
        lilypad: unclassified
    """)
    assert coverage(SPANS) == 1.0
