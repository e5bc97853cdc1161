"""Our output is valid for the other tools, by their own schemas and types."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped] # its stubs are a package of their own
import pytest
from hypothesis import given, settings
from openai.types.chat import ChatCompletionMessageParam
from pydantic import TypeAdapter

from tests import strategies
from tests.reading.formats.written import EVERYTHING, convert, file_of

SCHEMAS = Path(__file__).parents[2] / "fixtures" / "formats"
ONE_DOCUMENT = ("adk-evalset", "inspect")
messages: TypeAdapter[list[Any]] = TypeAdapter(list[ChatCompletionMessageParam])


def validator(name: str) -> jsonschema.Draft202012Validator:
    (file,) = SCHEMAS.glob(f"*.{name}.schema.json")
    return jsonschema.Draft202012Validator(json.loads(file.read_text()))


VALIDATORS = {name: validator(name) for name in ("atif", *ONE_DOCUMENT)}


@pytest.mark.parametrize("name", ONE_DOCUMENT)
@pytest.mark.parametrize("times", [0, 1, 3])
def test_traces_make_one_document(name: str, times: int) -> None:
    document = json.loads(file_of(name, *[EVERYTHING] * times))
    VALIDATORS[name].validate(document)
    assert len(document["eval_cases" if name == "adk-evalset" else "samples"]) == times


@pytest.mark.parametrize("name", VALIDATORS)
@given(document=strategies.traces)
@settings(max_examples=30)
def test_any_trace_has_the_shape_that_readers_of_the_format_validate(
    name: str, document: dict[str, Any]
) -> None:
    VALIDATORS[name].validate(json.loads(file_of(name, document)))


@given(document=strategies.traces)
def test_any_trace_gives_valid_openai_messages(document: dict[str, Any]) -> None:
    messages.validate_python(convert("openai-messages", document).value["messages"])


@given(document=strategies.traces)
def test_atif_steps_are_numbered_and_results_stay_with_their_calls(
    document: dict[str, Any],
) -> None:
    """Harbor checks this beyond the schema."""
    steps = convert("atif", document).value["steps"]
    assert [step["step_id"] for step in steps] == list(range(1, len(steps) + 1))
    for step in steps:
        tool_call_ids = {call["tool_call_id"] for call in step.get("tool_calls", ())}
        for answer in step.get("observation", {}).get("results", ()):
            assert answer.get("source_call_id") in {*tool_call_ids, None}
        if step["source"] != "agent":
            assert not {"reasoning_content", "tool_calls", "metrics"} & step.keys()


@given(document=strategies.traces)
def test_every_tool_message_follows_the_message_that_called_the_tool(
    document: dict[str, Any],
) -> None:
    ids: list[str] = []
    for message in convert("openai-messages", document).value["messages"]:
        if message["role"] == "assistant":
            ids = [call["id"] for call in message.get("tool_calls", ())]
        elif message["role"] == "tool":
            ids.remove(message["tool_call_id"])
