"""The JSON Schema of cases: valid files, and agreement with the assertion types."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.evaluation.assertion_types import WrongAssertion, assertion_types, check_of
from agentool_otel.evaluation.cases.schema import generate, own_types, shipped_file, shipped_schema
from tests.evaluation.runs import Object
from tests.evaluation.test_assertions import FAIL, PASS, UNSEEN
from tests.evaluation.test_case_files import EVENTS, INVOCATION, LIST
from tests.evaluation.test_wrong_checks import FORMS, SEARCH, WRONG, adk

jsonschema: Any = pytest.importorskip("jsonschema")  # it has no types
ROOT = Path(__file__).parents[2]
VALIDATOR: Any = jsonschema.Draft202012Validator(shipped_schema())
RIGHT: list[Object] = [
    *(item[0] for item in PASS),
    *(item[0] for item in FAIL),
    *(item[0] for item in UNSEEN),
]
IN_CODE = (
    "neither min_calls nor",
    "is more than max_calls",
    "min_calls is 0",
    "tools is empty",
    "no regular expression",
    "no JSON Schema",
    "nowhere in this JSON Schema",
    "is nowhere",
    "named by two of",
)
"""Faults that a schema cannot express."""


def files() -> list[Path]:
    results = [ROOT / "tests/fixtures/spec/eval-case.json"]
    return [*results, *(path for path in ROOT.glob("examples/**/cases.*") if path.suffix != ".py")]


def test_the_file_is_what_the_command_writes() -> None:
    text = json.dumps(generate(own_types()), indent=1, ensure_ascii=False) + "\n"
    assert shipped_file().read_text("utf-8") == text, (
        "run python -m agentool_otel.evaluation.cases.schema"
    )
    jsonschema.Draft202012Validator.check_schema(shipped_schema())
    assert own_types() == assertion_types()


def test_every_parameter_has_a_description() -> None:
    definitions = shipped_schema()["$defs"]
    for name in own_types():
        assert definitions[name]["description"]
        for parameter, schema in definitions[name]["properties"].items():
            assert parameter == "type" or schema["description"], (name, parameter)


@pytest.mark.parametrize("file", files(), ids=lambda file: file.name)
def test_the_cases_of_the_examples_match(file: Path) -> None:
    assert VALIDATOR.is_valid(json.loads(file.read_text()))


@pytest.mark.parametrize("assertion", RIGHT, ids=lambda item: str(item)[:60])
def test_every_assertion_of_the_tests_matches(assertion: Object) -> None:
    VALIDATOR.validate(assertion)
    VALIDATOR.validate({"case_id": "a", "assertions": [assertion]})


@pytest.mark.parametrize(
    "value",
    [*(form([SEARCH]) for form in FORMS.values()), adk([]), yaml.safe_load(LIST),
     {"evalCases": [{"evalId": "talk", "conversation": [INVOCATION, EVENTS]}]}],
)  # fmt: skip
def test_every_form_of_cases_matches(value: Any) -> None:
    VALIDATOR.validate(value)


@pytest.mark.parametrize(("assertion", "message"), WRONG, ids=lambda item: str(item)[:40])
def test_a_wrong_assertion_does_not_match_in_any_form(assertion: Object, message: str) -> None:
    expected = any(words in message for words in IN_CODE)
    assert VALIDATOR.is_valid(assertion) == expected
    for form in FORMS.values():
        assert VALIDATOR.is_valid(form([SEARCH, assertion])) == expected


@given(data=st.data())
def test_schema_and_reader_agree_on_a_changed_assertion(data: st.DataObject) -> None:
    """Whatever is misspelt, left out or of another type: both refuse it, or neither."""
    assertion: Any = copy.deepcopy(data.draw(st.sampled_from(RIGHT)))
    name = data.draw(st.sampled_from([*assertion]))
    sampled = st.sampled_from(
        [None, True, -1, 0.5, "", " ", "word", [], [""], ["a", 1], {}, {"a": 1}]
    )
    change = data.draw(st.sampled_from(["misspell", "remove", "replace", "add"]))
    if change in ("misspell", "remove"):
        entry = assertion.pop(name)
        if change == "misspell":
            assertion[name + "x"] = entry
    elif change == "replace":
        assertion[name] = data.draw(sampled)
    else:
        assertion["tool_nam"] = data.draw(sampled)
    try:
        check_of(assertion)
        faults: list[str] = []
    except WrongAssertion as error:
        faults = [fault.message for fault in error.faults]
    in_code = bool(faults) and all(any(item in fault for item in IN_CODE) for fault in faults)
    is_null_extra = assertion.get("tool_nam", 0) is None or assertion.get(name + "x", 0) is None
    if (
        not in_code
        and not is_null_extra
        and isinstance(assertion.get("description"), (str, type(None)))
    ):
        assert VALIDATOR.is_valid(assertion) == (not faults), (assertion, faults)
