"""Checks of what converts: 18, 61, 69, 84 and 88."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path

import pytest
from click.testing import CliRunner

from agentool_otel import ToolSpec
from agentool_otel.cli import main
from agentool_otel.converters import (
    convert,
    converter_named,
    converters,
    from_agentool,
    to_agentool,
)
from tests.seed_systems.examples import TOOLS

SPEC = Path(__file__).parent.parent / "fixtures" / "spec" / "tool-spec.json"
PAIRS = list(permutations(sorted(TOOLS), 2))


@pytest.mark.parametrize("name", ["openai-tools", "anthropic-tools"])
def test_check_18_a_tool_of_a_provider_has_the_parameters_of_the_tool_spec(name: str) -> None:
    document = json.loads(SPEC.read_text())
    [written] = from_agentool([ToolSpec.from_dict(document)], name)
    [read] = to_agentool([written], name)
    function = written.get("function", written)
    schema = function.get("parameters", function.get("input_schema"))
    assert schema == document["parameters"]
    assert read.to_dict()["parameters"] == document["parameters"]


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_check_84_any_format_converts_into_any_other_and_back(source: str, target: str) -> None:
    original = converter_named(source).normal(TOOLS[source])
    there = convert(original, target, source)
    back = convert(there.value, source, target)
    if converter_named(target).lossless:
        assert back.value == original
        assert not there.losses
    for loss in there.losses:
        assert loss.path.startswith("$")


def test_check_84_every_installed_format_is_tried() -> None:
    assert set(converters()) == TOOLS.keys()


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_check_88_the_command_writes_what_the_function_returns(
    source: str, target: str, tmp_path: Path
) -> None:
    file = tmp_path / "document.json"
    file.write_text(json.dumps(TOOLS[source]))
    converted = convert(TOOLS[source], target, source)
    done = CliRunner().invoke(main, ["convert", str(file), "--from", source, "--to", target])
    assert json.loads(done.stdout) == converted.value
    assert done.stderr.count("lost:") == len(converted.losses)
