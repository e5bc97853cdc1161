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


def test_a_tool_of_older_releases_has_names_of_its_own() -> None:
    said = {"tool_name": "look", "tool_description": "Look.", "tool_args": '{"at":"sky"}'}
    assert spelled(span(said, name="look", scope="base_tool")) == text("""
        autogen: tool look arguments={"at":"sky"}
    """)
