"""GitHub Copilot, written from its attribute names: there is no public recording here."""

from __future__ import annotations

from tests.dialects.spelled import coverage, span, spelled, text

SPANS = [
    span(
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "copilot",
            "gen_ai.usage.input_tokens": 100,
            "github.copilot.turn_count": 2,
            "github.copilot.cost": 1,
        },
        scope="github.copilot",
    ),
    span(
        {
            "gen_ai.operation.name": "chat",
            "gen_ai.request.model": "gpt-5",
            "gen_ai.usage.input_tokens": 50,
            "github.copilot.cost": 1,
        },
        scope="github.copilot",
    ),
    span(
        {"github.copilot.permission.kind": "shell", "github.copilot.permission.result": "approved"},
        name="permission",
        scope="github.copilot",
    ),
]


def test_premium_requests_are_no_cost_and_permissions_no_operations() -> None:
    assert spelled(*SPANS) == text("""
        copilot: agent agent=copilot in=100
        copilot: chat model=gpt-5 in=50
        copilot: unclassified
    """)
    assert coverage(SPANS) == 0.55
