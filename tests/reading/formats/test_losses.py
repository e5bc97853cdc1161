"""No loss is silent, whatever the format: ours and third parties' alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given

from agentool_otel import ReasoningTrace
from agentool_otel.errors import ConfigurationError
from agentool_otel.ground.json_codec import dumps
from agentool_otel.reading.formats import Loss, format_named, formats
from tests import strategies
from tests.reading.formats.written import EVERYTHING, convert, file_of, texts


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        for item in value.values():
            yield from leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from leaves(item)
    else:
        yield value


def members() -> Iterator[tuple[str, str | None, Any]]:
    """Every member of the trace above as a loss names it, its step, and what it says."""
    for name, value in EVERYTHING.items():
        if name == "metrics":
            yield from ((f"metrics.{key}", None, item) for key, item in value.items())
        elif name != "steps":
            yield name, None, value
    for step in EVERYTHING["steps"]:
        kind, step_id = step["type"], step["step_id"]
        for name, value in step.items():
            if name in ("tool_call", "tool_result"):
                yield from ((f"{kind}.{key}", step_id, item) for key, item in value.items())
            elif name in ("step_id", "timestamp"):
                yield name, step_id, value
            elif name != "type":
                yield f"{kind}.{name}", step_id, value


def named(losses: list[Loss], member: str, step_id: str | None) -> bool:
    """True where a member, or the step it belongs to, is among the losses."""
    kind = member.partition(".")[0]
    of_step = {s["step_id"]: s["type"] for s in EVERYTHING["steps"]}.get(str(step_id))
    return any(
        loss.step_id == step_id and loss.member in (member, kind, of_step) for loss in losses
    )


@pytest.mark.parametrize("name", formats())
def test_every_member_is_written_or_listed_as_a_loss(name: str) -> None:
    result, losses = convert(name, EVERYTHING)
    text = texts(result)
    silently_lost = [
        (member, step_id)
        for member, step_id, value in members()
        if not all(str(leaf) in text for leaf in leaves(value))
        and not named(losses, member, step_id)
    ]
    assert silently_lost == []


@pytest.mark.parametrize("name", formats())
@given(document=strategies.traces)
def test_every_trace_can_be_written(name: str, document: dict[str, Any]) -> None:
    value, losses = format_named(name).write(ReasoningTrace.from_dict(document))
    assert dumps(value)
    assert all(loss.reason for loss in losses)


@pytest.mark.parametrize("name", formats())
def test_a_result_without_a_call_answers_no_call_of_any_id(name: str) -> None:
    requests = {"type": "tool_call", "step_id": "a", "tool_call": {"name": "x", "id": "None"}}
    document = {"trace_id": "t", "steps": [requests, {"type": "tool_result", "step_id": "b"}]}
    assert convert(name, document)


def test_the_trace_itself_loses_nothing() -> None:
    assert convert("reasoning-trace", EVERYTHING) == (EVERYTHING, [])


@pytest.mark.parametrize("name", ["atif", "inspect"])
def test_formats_with_room_for_any_member_lose_nothing(name: str) -> None:
    assert {loss.outcome for loss in convert(name, EVERYTHING).losses} == {"normalised"}


@pytest.mark.parametrize("name", ["reasoning-trace", "atif", "openai-messages"])
def test_no_traces_give_an_empty_file_of_lines(name: str) -> None:
    assert file_of(name) == ""


def test_an_unknown_format_is_refused_with_the_list_of_known_ones() -> None:
    with pytest.raises(ConfigurationError, match=r"no format 'csv'; there are adk-evalset, atif"):
        format_named("csv")
