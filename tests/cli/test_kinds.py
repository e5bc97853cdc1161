"""One table of kinds: read by `convert` and `eval`, checked by `validate`, named by other
commands.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.cli._kinds import check_part
from agentool_otel.converters.converting import recognising
from agentool_otel.errors import DecodeError
from agentool_otel.evaluation.cases.case_text import Part
from agentool_otel.evaluation.cases.schema import shipped_file, shipped_schema
from tests.cli.conftest import Invoke
from tests.converters.documents import FORMATS, documents_of, runs, task_files
from tests.evaluation.test_wrong_checks import FORMS, SEARCH, adk
from tests.seed_systems.examples import TOOLS

RUN: Any = {
    "id": "r1",
    "agent": {"name": "bot"},
    "results": [{"taskId": "t1", "prompt": "q", "expectedTool": "w", "passed": True}],
}
TASKS: Any = {
    "name": "t",
    "version": "1",
    "tasks": [{"id": "a", "prompt": "p", "expectedTool": "w"}],
}
MARKED: Any = [{"name": "a", "input_schema": {}, "agentool": {"returns": {}}}]
"""Tools of Amplifier look like others where nothing of the spec stands beside them."""
DOCUMENTS: dict[str, tuple[Any, str]] = {
    **{name: (value, name) for name, value in TOOLS.items() if name != "agentool"},
    "amplifier": (MARKED, "amplifier"),
    "run": (RUN, "toolsmith"),
    "tasks": (TASKS, "toolsmith"),
}
"""Documents of other systems, and the format that they are in."""
CASES: dict[str, Any] = {
    **{name: form([SEARCH]) for name, form in FORMS.items()},
    "eval set": adk([{"name": "a"}]),
    "one assertion": SEARCH,
}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_every_document_that_convert_knows_is_valid(invoke: Invoke, name: str) -> None:
    value, kind = DOCUMENTS[name]
    Path("file.json").write_text(json.dumps(value, indent=1))
    result = invoke("validate", "file.json")
    assert result.exit_code == 0, result.stdout
    assert kind in result.stdout
    assert invoke("convert", "file.json", "--to", "agentool").exit_code == 0


@pytest.mark.parametrize("name", [name for name in DOCUMENTS if name != "amplifier"])
def test_a_command_for_spans_points_to_the_one_for_documents(invoke: Invoke, name: str) -> None:
    value, kind = DOCUMENTS[name]
    Path("file.json").write_text(json.dumps(value, indent=1))
    refused = invoke("rebuild", "file.json")
    assert refused.exit_code == 3
    assert f"file.json holds a document of {kind}, no spans" in refused.stderr
    assert " hint: agentool-otel convert file.json --to agentool" in refused.stderr


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(("suffix", "write"), [("json", json.dumps), ("yaml", yaml.safe_dump)])
def test_every_form_of_cases_is_valid(
    invoke: Invoke, name: str, suffix: str, write: Callable[[Any], str]
) -> None:
    file = f"file.{suffix}"
    Path(file).write_text(write(CASES[name]))
    result = invoke("validate", file)
    assert result.exit_code == 0, result.stdout
    assert "ok" in result.stdout
    assert f"hint: agentool-otel eval {file}" in invoke("show", file).stderr


def test_wrong_checks_are_listed_with_their_lines(invoke: Invoke) -> None:
    Path("checks.yaml").write_text("- type: no_tool_eror\n- type: latency\n  max_sec: 4\n")
    result = invoke("validate", "checks.yaml")
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        "✗ checks.yaml: 2 Assertion, 2 not valid",
        "    line 1: error: unknown assertion type 'no_tool_eror'; did you mean 'no_tool_error'?",
        "    line 3: error: latency has no parameter 'max_sec'; did you mean 'max_ms'?",
    ]


def test_a_wrong_document_of_another_system_is_an_error_with_its_line(invoke: Invoke) -> None:
    tools = [{"name": "a", "inputSchema": {}}, {"name": "b", "inputSchema": []}]
    Path("tools.json").write_text(json.dumps({"tools": tools}, indent=1))
    result = invoke("validate", "tools.json")
    assert result.exit_code == 1
    assert (
        "line 9: error: expected object, got array of 0 - at $.tools[1].inputSch" in result.stdout
    )


@given(
    value=st.sampled_from(FORMATS).flatmap(documents_of) | runs | task_files,
)
def test_what_a_converter_recognises_and_reads_is_valid(value: Any) -> None:
    result = recognising(value)
    checked = check_part(Part(value, lambda _: 1))
    if len(result) != 1 or result[0].name == "agentool":
        return
    try:
        result[0].read(value)
    except DecodeError:
        assert checked.invalid
    else:
        assert not checked.invalid, checked.lines
        assert set(checked.kinds) == {result[0].name}


def test_the_schema_of_cases_is_printed_and_its_path_too(invoke: Invoke) -> None:
    assert json.loads(invoke("schema").stdout) == shipped_schema()
    assert invoke("schema", "--path").stdout == f"{shipped_file()}\n"
