"""AutoGen's runtime, what is not in our recording of it."""

from __future__ import annotations

from tests.dialects.spelled import coverage, span, spelled, text

SPANS = [
    span(
        {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.system": "autogen",
            "gen_ai.agent.name": "guide",
        },
        scope="autogen-core",
    ),
    span({"messaging.operation": "publish"}, name="autogen publish", scope="autogen-core"),
]


def test_spans_are_read() -> None:
    assert spelled(*SPANS) == text("""
        autogen: agent agent=guide
        autogen: unclassified
    """)
    assert coverage(SPANS) == 0.75
