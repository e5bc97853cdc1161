"""Checks of Agent Tool's objects: 41, 43 and 44."""

from __future__ import annotations

from typing import Any

import pytest

from agentool_otel.integrations.agent_tool.documents.checking import findings, read
from agentool_otel.integrations.agent_tool.documents.vocabulary import LIFECYCLE_STATES, TOOL_KINDS
from tests.seed_systems.agent_tool_documents import EXAMPLES

DECLARATION = EXAMPLES["ToolDeclaration"]


@pytest.mark.parametrize("kind", [*TOOL_KINDS, "telepathy"])
@pytest.mark.parametrize("lifecycle", [*LIFECYCLE_STATES, "resting"])
def test_check_41_tool_kinds_and_lifecycle_states_survive(kind: str, lifecycle: str) -> None:
    declaration = {**DECLARATION, "tool_kind": kind, "lifecycle": lifecycle}
    assert read(declaration).to_dict() == declaration


def test_check_41_there_are_17_kinds_and_7_states() -> None:
    assert (len(set(TOOL_KINDS)), len(set(LIFECYCLE_STATES))) == (17, 7)


@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_check_43_a_written_object_has_no_findings(example: dict[str, Any]) -> None:
    assert findings(read(example).to_dict()) == []


@pytest.mark.parametrize("version", ["0.1.0", "9.0", None])
@pytest.mark.parametrize("example", EXAMPLES.values(), ids=EXAMPLES)
def test_check_44_other_versions_and_unknown_members_are_kept(
    example: dict[str, Any], version: str | None
) -> None:
    second = {**example, "schema_version": version, "of_tomorrow": {"a": [None]}}
    assert read(second).to_dict() == second
    assert {finding.level for finding in findings(second)} == {"warning"}
