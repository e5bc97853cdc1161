"""CrewAI's own telemetry: a recording, and spans written from its source."""

from __future__ import annotations

from tests.dialects.spelled import coverage, span, spelled, text
from tests.dialects.traces import recorded

SPANS = [
    span({"crewai_version": "1.4", "crew_key": "k", "crew_tasks": "[]"}, name="Crew Created"),
    span({"crewai_version": "1.4", "tool_name": "look", "attempts": 1}, name="Tool Usage"),
    span(
        {
            "crewai_version": "1.4",
            "crew_key": "k",
            "crew_inputs": '{"city": "Paris"}',
            "crew_output": "18 degrees",
        },
        name="Crew Execution",
        scope="crewai.telemetry",
    ),
]


def test_only_a_crew_that_shares_its_output_is_a_run() -> None:
    assert spelled(*SPANS) == text("""
        crewai: unclassified
        crewai: unclassified
        crewai: workflow k
          > user: {"city":"Paris"}
          < assistant: 18 degrees
    """)
    assert coverage(SPANS) == 0.3


def test_a_task_that_shares_its_output_is_a_run_of_its_agent() -> None:
    tasks = [
        item for item in recorded("crewai-1.15.30.crewai.jsonl") if item.name == "Task Execution"
    ]
    assert spelled(*tasks) == text("""
        crewai: agent agent=weather
          > user: What is the weather in Paris and Rome?
          < assistant: The answer is 42.
        crewai: agent agent=writer
          > user: Write a line about it.
          < assistant: The answer is 42.
    """)


def test_a_task_that_does_not_share_its_output_is_not_a_run() -> None:
    task = span({"crewai_version": "1.15", "agent_role": "writer"}, name="Task Execution")
    assert spelled(task) == text("""
        crewai: unclassified
    """)
