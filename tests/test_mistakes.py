"""Likely mistakes with public functions: they are accepted, or the error names the remedy."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import agentool_otel as ao
from agentool_otel.errors import AgentoolError, ConfigurationError, DecodeError
from agentool_otel.evaluation import evaluate

DOCUMENT = {
    "trace_id": "t",
    "agent_id": "a",
    "input": "q",
    "output": "ok",
    "status": "success",
    "steps": [],
}
CHECKS = [{"type": "status"}]
WRONG: dict[str, Any] = {
    "a path": "folder",
    "a Path": Path("folder"),
    "bytes": b"folder",
    "a number": 5,
    "None": None,
    "numbers": [5],
    "paths": ["folder"],
    "an object": object(),
    "objects": [object()],
    "a function": print,
    "a dict without steps": {"trace_id": "t"},
    "dicts without steps": [{"trace_id": "t"}],
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    place = tmp_path / "good.jsonl"
    place.write_text(json.dumps(DOCUMENT) + "\n")
    return place


@pytest.mark.parametrize("function", [ao.rebuild, lambda item: evaluate(CHECKS, item), ao.load])
@pytest.mark.parametrize("wrong", WRONG.values(), ids=WRONG)
def test_a_mistake_is_an_error_of_this_package(function: Callable[[Any], Any], wrong: Any) -> None:
    if function is ao.load and wrong is None:
        pytest.skip("the default place")
    with pytest.raises(AgentoolError) as error:
        list(function(wrong))
    assert str(error.value)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: ao.rebuild("d"), "load('d') reads a place"),  # type: ignore[arg-type]
        (lambda: evaluate(CHECKS, "d"), "evaluate(cases, load('d')) reads a place"),  # type: ignore[arg-type]
        (lambda: ao.load(object()), "rebuild(spans) and evaluate(cases, traces)"),  # type: ignore[arg-type]
    ],
)
def test_the_error_names_the_function_that_is_meant(call: Callable[[], Any], words: str) -> None:
    with pytest.raises(DecodeError) as error:
        list(call())
    assert words in str(error.value)


def test_a_wrong_argument_raises_before_the_first_item() -> None:
    with pytest.raises(DecodeError, match="the path 'x'"):
        ao.rebuild("x")  # type: ignore[arg-type]


def test_traces_that_are_rebuilt_already_are_named(file: Path) -> None:
    with pytest.raises(DecodeError, match="these are rebuilt already: use them as they are"):
        list(ao.rebuild(ao.load(file)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("x.jsonl", "got the text 'x.jsonl' - at $; hint: the traces of a file are replayed by"),
        ('{"a": ', "got JSON that is damaged (Expecting value"),
    ],
)
def test_a_path_is_no_damaged_json(text: str, words: str) -> None:
    with pytest.raises(DecodeError) as error:
        ao.replay(text)
    assert words in str(error.value)


def test_traces_are_no_spans(file: Path) -> None:
    with pytest.raises(DecodeError, match="expected spans, got an object of type ReasoningTrace"):
        list(ao.rebuild(ao.load(file)))  # type: ignore[arg-type]


def test_places_may_be_several(file: Path, tmp_path: Path) -> None:
    second = tmp_path / "other.jsonl"
    second.write_text(json.dumps(DOCUMENT | {"trace_id": "u"}) + "\n")
    for places in ([file, second], (str(file), second), [file, tmp_path / "other.jsonl"]):
        assert [item.trace_id for item in ao.load(places)] == ["t", "u"]
    assert [item.trace_id for item in ao.load([file])] == ["t"]


def test_a_trace_may_be_one_or_an_object_of_json(file: Path) -> None:
    (trace,) = ao.load(file)
    for traces in (trace, [trace], (trace,), DOCUMENT, [DOCUMENT], iter([trace])):
        (result,) = evaluate(CHECKS, traces)  # type: ignore[arg-type]
        assert (result.trace_id, result.passed) == ("t", True)


def test_a_step_without_its_type_names_the_types() -> None:
    with pytest.raises(ConfigurationError) as error:

        @ao.step  # type: ignore[arg-type]
        def plan() -> None: ...

    assert "@step needs the type of the step: reasoning, tool_call" in str(error.value)
    assert str(error.value).endswith("hint: @agentool_otel.step('reasoning') above plan")
