"""A member of which a part was cut or masked has one outcome, in every vocabulary."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.loading import rebuild
from agentool_otel.model.messages import message, text
from agentool_otel.model.operations import ToolExecution
from agentool_otel.reading.rebuild.report.fidelity import Note
from agentool_otel.reading.rebuild.report.gaps import gaps_of
from agentool_otel.semconv import gen_ai
from tests.laws import many
from tests.records import Collected, agent

INPUT, ARGUMENTS = gen_ai.INPUT_MESSAGES, gen_ai.TOOL_CALL_ARGUMENTS


def a_run() -> Collected:
    spans = Collected()
    requests = [message("user", [text("my card is 4111 1111")])]
    texts = [message("assistant", [text("thank you")])]
    root = spans.add(agent(input=requests, output=texts), seconds=9)
    spans.add(ToolExecution(name="pay", arguments={"card": "4111"}, result={"ok": 1}), parent=root)
    return spans


def notes_of(spans: Collected) -> list[Note]:
    [rebuilt] = rebuild(spans.spans)
    assert rebuilt.may_hide()
    return rebuilt.fidelity.notes


def outcomes(notes: list[Note], *fields: str) -> set[str]:
    return {note.outcome for note in notes if note.field in fields}


@settings(max_examples=many(100), deadline=None)
@given(share=st.floats(0, 1))
def test_a_cut_value_is_truncated_and_was_captured(share: float) -> None:
    for number, key, field in ((0, INPUT, "input"), (1, ARGUMENTS, "tool_call.arguments")):
        observation = a_run()
        value = observation.spans[number].attributes[key]
        cut = value[: max(2, int(share * (len(value) - 1)))].rstrip("]}")
        observation.spans[number].attributes[key] = cut
        assert outcomes(notes_of(observation), field, key) == {"truncated"}


@pytest.mark.parametrize("mark", [{"redaction.masked.count": 1}, {"redaction.masked.keys": INPUT}])
def test_a_value_with_a_collectors_mask_in_it_is_redacted(mark: dict[str, object]) -> None:
    observation = a_run()
    attributes = observation.spans[0].attributes
    attributes[INPUT] = attributes[INPUT].replace("4111 1111", "****")
    attributes.update(mark)
    assert outcomes(notes_of(observation), "input") == {"redacted"}
    assert outcomes(notes_of(observation), "output") == {"kept"}


def test_a_value_that_is_a_mask_as_a_whole_is_redacted() -> None:
    observation = a_run()
    observation.spans[0].attributes[INPUT] = "****"
    observation.spans[1].attributes[gen_ai.TOOL_CALL_RESULT] = "****"
    assert outcomes(notes_of(observation), "input") == {"redacted"}
    assert outcomes(notes_of(observation), "tool_result", "tool_result.output") == {"redacted"}


def test_a_value_that_was_hashed_is_redacted() -> None:
    observation = a_run()
    attributes = observation.spans[0].attributes
    attributes[INPUT] = attributes[INPUT].replace("4111 1111", "9b74c9897bac770f")
    attributes["redaction.masked.keys"] = INPUT
    assert outcomes(notes_of(observation), "input") == {"redacted"}


@pytest.mark.parametrize("key", [gen_ai.TOOL_DESCRIPTION, gen_ai.SYSTEM_INSTRUCTIONS])
def test_a_cut_description_hides_no_member(key: str) -> None:
    observation = a_run()
    observation.spans[1].attributes[key] = "Runs a command. [truncated]"
    assert outcomes(notes_of(observation), key) == {"truncated"}
    [rebuilt] = rebuild(observation.spans)
    assert gaps_of(rebuilt.fidelity) == {}
