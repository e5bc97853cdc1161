"""Fragola, written from its source: there is no public recording here."""

from __future__ import annotations

from tests.dialects.spelled import coverage, span, spelled, text

SPANS = [
    span({"fragola.agent.name": "guide", "fragola.agent.model": "gpt-5"}, name="fragola.agent"),
    span({"fragola.agent.model": "gpt-5"}, name="fragola.agent.modelInvocation"),
]


def test_spans_are_read() -> None:
    assert spelled(*SPANS) == text("""
        fragola: agent model=gpt-5 agent=guide
        fragola: chat model=gpt-5
    """)
    assert coverage(SPANS) == 1.0
