"""AutoGen's runtime: cases that our recording lacks."""

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
    texts = {"tool_name": "look", "tool_description": "Look.", "tool_args": '{"at":"sky"}'}
    assert spelled(span(texts, name="look", scope="base_tool")) == text("""
        autogen: tool look arguments={"at":"sky"}
    """)


def test_the_address_of_an_agent_in_a_team_is_its_name_and_the_session() -> None:
    team = "11111111-2222-4333-8444-555555555555"
    attributes = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "guide"}
    attributes["gen_ai.agent.id"] = f"guide_{team}/{team}"
    assert spelled(span(attributes, scope="autogen-core")) == text(f"""
        autogen: agent agent=guide session={team}
    """)


def test_what_a_manager_is_started_with_is_the_run_of_a_team() -> None:
    attributes = {
        "messaging.operation": "process",
        "messaging.destination": "SwarmGroupChatManager_a1.(a1)-A",
        "recipient_agent_class": "SwarmGroupChatManager",
        "message": '{"messages":[{"source":"user","content":"Go.","type":"TextMessage"}]}',
    }
    scope = "autogen SingleThreadedAgentRuntime"
    assert spelled(span(attributes, scope=scope)) == text("""
        autogen: workflow SwarmGroupChatManager session=a1
          > user: Go.
    """)
