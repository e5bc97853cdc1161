"""The reference is complete: names, commands, assertion types with their modes, decisions."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import click
import msgspec
import pytest

import agentool_otel
from agentool_otel.cli._main import main as group
from agentool_otel.evaluation.assertions._arguments import OLD_MODES
from tests.docs.assertion_examples import EXAMPLES, TYPES, Example, evaluated
from tests.docs.blocks import blocks
from tests.docs.decisions import FOLDER, decisions

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs"))
from generators import PARTS  # noqa: E402 - of the site, which puts its folder first, too
from generators.text import docstring  # noqa: E402

COMMANDS = group.list_commands(click.Context(group, **group.context_settings))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize(
    "name", [item for item in agentool_otel.__all__ if not item.startswith("_")]
)
def test_every_public_name_has_a_section(name: str) -> None:
    section = _section("functions", name)
    assert len(section.split()) > 8, "a signature and a docstring"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_section_with_its_options(name: str) -> None:
    section = _section("commands", name)
    command = group.get_command(click.Context(group, **group.context_settings), name)
    assert command is not None
    options = {
        opt for param in command.params if isinstance(param, click.Option) for opt in param.opts
    }
    assert [option for option in options if option not in section] == []


def test_a_colon_in_the_second_line_of_an_argument_begins_no_other() -> None:
    text = "Do it.\n\nArgs:\n    one: a thing\n        with a part: that.\n    two: another."
    assert docstring(text).splitlines()[-2:] == [
        "- `one`: a thing with a part: that.",
        "- `two`: another.",
    ]


@cache
def _part(name: str) -> str:
    return PARTS[name]()


def _section(part: str, name: str) -> str:
    after = _part(part).partition(f"## {name}\n")[2]
    return re.split(r"^## ", after, maxsplit=1, flags=re.M)[0]


# ------------------------------------------------------------------------------- command lines


def _command_lines() -> Iterator[tuple[str, str]]:
    """Yield the lines of pages and help texts that call our command, with where they are."""
    for page in PAGES:
        for block in blocks(page):
            for line in re.findall(r"^(?:\$ )?(agentool-otel .+)$", block.text, re.M):
                yield f"{page.relative_to(ROOT)}:{block.line}", line
    for name in COMMANDS:
        command = group.get_command(click.Context(group, **group.context_settings), name)
        assert command is not None
        text = f"{command.help or ''}\n{command.epilog or ''}"
        for line in re.findall(r"^ +(agentool-otel .+?)(?: {3,}.*)?$", text, re.M):
            yield f"{name} --help", line


@pytest.mark.parametrize(("where", "line"), list(dict.fromkeys(_command_lines())))
def test_every_command_line_has_a_command_and_options_that_exist(where: str, line: str) -> None:
    """Also where a block cannot run here."""
    words = shlex.split(re.split(r" [|<>&;]| 2>|;", line)[0], comments=True)
    context = click.Context(
        group, **group.context_settings, info_name="agentool-otel", resilient_parsing=True
    )
    if words[1].startswith("-"):
        return
    command = group.get_command(context, words[1])
    assert command is not None, line
    command.make_context(words[1], words[2:], parent=context, resilient_parsing=True)


# ---------------------------------------------------------------------------------- assertions


def test_every_assertion_type_has_examples() -> None:
    assert set(EXAMPLES) == set(TYPES)


@pytest.mark.parametrize("name", TYPES)
def test_a_type_has_an_example_that_passes_and_one_that_fails(name: str) -> None:
    assert {example.verdict for example in evaluated(name)} == {"passed", "failed"}


@pytest.mark.parametrize(
    ("name", "parameter", "word"),
    [
        (name, parameter, word)
        for name, kind in TYPES.items()
        for parameter, words in get_type_hints(kind).items()
        if get_origin(words) is Literal
        for word in get_args(words)
        if not (parameter == "mode" and name == "args_match" and word in OLD_MODES)
    ],
)
def test_every_mode_has_an_example(name: str, parameter: str, word: str) -> None:
    assert word in [_value(item, parameter) for item in evaluated(name)]


def _value(example: Example, parameter: str) -> Any:
    default = {
        field.name: field.default for field in msgspec.structs.fields(TYPES[example.check["type"]])
    }
    return example.check.get(parameter, default[parameter])


# ----------------------------------------------------------------------------------- decisions


def test_no_two_decisions_have_one_title() -> None:
    titles = [decision.title for decision in decisions()]
    assert len(set(titles)) == len(titles) > 80


@pytest.mark.parametrize("page", sorted(FOLDER.glob("*.md")), ids=lambda item: item.name)
def test_every_file_that_a_decision_names_exists(page: Path) -> None:
    named = re.findall(r"`([\w./-]+\.(?:py|yaml|md|json))`", page.read_text(encoding="utf-8"))
    assert [item for item in named if "/" in item and not _exists(item)] == []


def _exists(path: str) -> bool:
    places = (ROOT, ROOT / "agentool_otel", *(ROOT / "agentool_otel").iterdir())
    return any((place / path).exists() for place in places)
