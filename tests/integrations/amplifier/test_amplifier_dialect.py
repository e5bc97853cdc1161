"""Amplifier, written from its attribute names: there is no public recording here."""

from __future__ import annotations

from tests.dialects.spelled import coverage, span, spelled, text

SPANS = [
    span({"gen_ai.operation.name": "prompt", "amplifier.session.id": "s1"}),
    span({"gen_ai.operation.name": "execute_tool", "amplifier.tool.name": "bash"}),
    span({"gen_ai.operation.name": "plan", "amplifier.plan.type": "todo"}),
    span({"gen_ai.operation.name": "context_compaction", "amplifier.context.tokens_before": 9}),
    span(
        {
            "amplifier.session.id": "s2",
            "amplifier.session.parent_id": "s1",
            "amplifier.session.type": "fork",
            "amplifier.agent.name": "explorer",
        }
    ),
]


def test_spans_are_read() -> None:
    assert spelled(*SPANS) == text("""
        amplifier: agent session=s1
        amplifier: tool bash
        amplifier: plan
        amplifier: unclassified
        amplifier: agent agent=explorer session=s2
    """)
    assert coverage(SPANS) == 0.58
