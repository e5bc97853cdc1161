"""The registry of our names is complete; that Weaver reads it is seen in `tests/backends`."""

from __future__ import annotations

import re

from agentool_otel.cli.registry import command
from agentool_otel.semconv import agent_tool, agentool
from agentool_otel.semconv.table import ATTRIBUTES, EVENTS, GENERATIONS, PREFIXES
from agentool_otel.semconv.weaver import registry
from tests.click_runner import CliRunner


def names() -> list[str]:
    return re.findall(r"^ +- id: (\S+)$", registry(), re.MULTILINE)


def test_every_name_of_ours_is_there_once() -> None:
    result = names()
    assert len(result) == len(set(result))
    ours = {name for name in ATTRIBUTES if name.startswith(("agentool.", "agenttool."))}
    assert ours <= set(result)
    meanings = {**agentool.MEANING, **agent_tool.MEANING}
    assert {f"event.{name}" for name in EVENTS if name in meanings} <= set(result)


def test_each_vocabulary_is_a_group_of_its_own() -> None:
    agentool_group, agent_tool_group = registry().split("  - id: registry.")[1:]
    assert "agenttool." not in agentool_group
    assert "id: agentool." not in agent_tool_group.partition("  - id: event.")[0]


def test_the_id_of_a_user_is_imported_and_not_declared_again() -> None:
    """The general conventions declare it, and a registry must have no name twice."""
    assert re.findall(r"^ +- ref: user.id$", registry(), re.MULTILINE) == ["      - ref: user.id"]
    assert "user.id" not in names()


def test_replacements_of_missing_names_are_recognised() -> None:
    result = set(names())
    for generation in GENERATIONS.values():
        for attribute in generation.absent - PREFIXES.keys():
            assert generation.name_of(attribute) in result


def test_the_command_prints_it() -> None:
    assert CliRunner().invoke(command).stdout == registry()
