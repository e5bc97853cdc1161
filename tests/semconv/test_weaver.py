"""The registry of our names is complete; that Weaver reads it is seen in `tests/backends`."""

from __future__ import annotations

import re

from click.testing import CliRunner

from agentool_otel.cli.registry import command
from agentool_otel.semconv import agentool
from agentool_otel.semconv.table import ATTRIBUTES, EVENTS, GENERATIONS, PREFIXES
from agentool_otel.semconv.weaver import registry


def names() -> list[str]:
    return re.findall(r"^ +- id: (\S+)$", registry(), re.MULTILINE)


def test_every_name_of_ours_is_there_once() -> None:
    found = names()
    assert len(found) == len(set(found))
    ours = {name for name in ATTRIBUTES if name.startswith("agentool.")}
    assert ours <= set(found)
    assert {f"event.{name}" for name in EVENTS if name in agentool.MEANING} <= set(found)


def test_so_is_what_stands_for_names_an_older_generation_lacks() -> None:
    found = set(names())
    for generation in GENERATIONS.values():
        for attribute in generation.absent - PREFIXES.keys():
            assert generation.name_of(attribute) in found


def test_the_command_prints_it() -> None:
    assert CliRunner().invoke(command).stdout == registry()
