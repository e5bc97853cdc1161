"""The objects of Agent Tool: their types, their schemas, and errors about bad ones."""

from __future__ import annotations

from typing import Any

import jsonschema  # type: ignore[import-untyped] # its stubs are a package of their own
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.errors import DecodeError
from agentool_otel.integrations.agent_tool.documents.checking import findings, identify, read
from agentool_otel.integrations.agent_tool.documents.objects import (
    OBJECTS,
    Event,
    Result,
    Versioned,
)
from agentool_otel.integrations.agent_tool.documents.schema import generate, shipped_schema
from tests.seed_systems.agent_tool_documents import EXAMPLES, PARTIAL, generated
from tests.strategies import exact, values

each = pytest.mark.parametrize("cls", OBJECTS)


@each
def test_the_shipped_schema_is_what_the_type_generates(cls: type[Versioned]) -> None:
    """To mend it: python -m agentool_otel.integrations.agent_tool.documents.schema"""
    assert shipped_schema(cls) == generate(cls)
    jsonschema.Draft202012Validator.check_schema(shipped_schema(cls))


@each
def test_every_member_has_a_description(cls: type[Versioned]) -> None:
    schema = shipped_schema(cls)
    parts = [schema, *schema.get("$defs", {}).values()]
    assert all(member["description"] for part in parts for member in part["properties"].values())


@each
def test_an_example_is_known_for_what_it_is_and_valid(cls: type[Versioned]) -> None:
    example = EXAMPLES[cls.__name__]
    assert identify(example) is cls
    assert findings(example) == []
    jsonschema.validate(example, shipped_schema(cls), jsonschema.Draft202012Validator)


@pytest.mark.parametrize(("name", "example"), PARTIAL)
def test_missing_required_members_are_a_warning(name: str, example: dict[str, Any]) -> None:
    assert type(read(example)).__name__ == name
    assert {finding.level for finding in findings(example)} == {"warning"}


@given(data=st.sampled_from(OBJECTS).flatmap(lambda cls: st.tuples(st.just(cls), generated(cls))))
def test_every_object_comes_back_as_it_was(data: tuple[type[Versioned], dict[str, Any]]) -> None:
    cls, members = data
    assert exact(read(members, cls).to_dict()) == exact(members)
    assert jsonschema.Draft202012Validator(shipped_schema(cls)).is_valid(members)


@given(members=st.dictionaries(st.sampled_from(["result_id", "status", "error", "x"]), values))
def test_a_schema_takes_what_can_be_read(members: dict[str, Any]) -> None:
    results = [finding for finding in findings(members, Result) if finding.level == "error"]
    assert jsonschema.Draft202012Validator(shipped_schema(Result)).is_valid(members) == (
        not results
    )


@pytest.mark.parametrize(
    ("bad", "path", "expected", "found"),
    [
        ({"result_id": 7}, "$.result_id", "string", "int 7"),
        (
            {"result_id": "r", "error": {"message": []}},
            "$.error.message",
            "string or null",
            "list of 0",
        ),
        ({"surface_id": "s", "scope": "turn", "blocked_tools": [{}, 3]}, "$.blocked_tools[1]",
         "object (OpenObject)", "int 3"),
        ({"event_type": None}, "$.event_type", "string", "null"),
    ],
)  # fmt: skip
def test_an_error_names_path_expected_and_found(
    bad: dict[str, Any], path: str, expected: str, found: str
) -> None:
    with pytest.raises(DecodeError) as error:
        read(bad)
    assert (error.value.path, error.value.expected, error.value.actual) == (path, expected, found)


def test_what_is_no_object_is_refused() -> None:
    with pytest.raises(DecodeError, match="an object of Agent Tool"):
        read({"colour": "green"})
    with pytest.raises(DecodeError, match="an object of Agent Tool"):
        read([])  # type: ignore[arg-type]


def test_times_and_versions_that_are_odd_are_warned_of() -> None:
    event = {**EXAMPLES["Event"], "time": "yesterday", "schema_version": "0.3.0"}
    assert [finding.path for finding in findings(event, Event)] == ["$.schema_version", "$.time"]
