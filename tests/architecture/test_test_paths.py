"""The folders and files of tests that commands and environments name exist."""

from __future__ import annotations

import re

import pytest

from tests import frameworks, lowest
from tests.frameworks import ROOT

PATH = re.compile(r"^tests(?:/[\w.]+)+$")
TASKS = (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def paths_in(arguments: list[str]) -> list[str]:
    return [argument for argument in arguments if PATH.match(argument)]


@pytest.mark.parametrize(
    "paths",
    [
        paths_in(frameworks.TESTS),
        *(paths_in(arguments) for arguments in frameworks.OTHER_TESTS.values()),
        paths_in(list(lowest.TESTS)),
        re.findall(r"\btests(?:/\w+)+(?:\.py)?", TASKS),
    ],
    ids=["frameworks", *frameworks.OTHER_TESTS, "lowest", "tasks"],
)
def test_every_named_path_exists(paths: list[str]) -> None:
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("name", [*frameworks.OTHER_TESTS])
def test_every_list_of_tests_has_an_environment(name: str) -> None:
    assert name in frameworks.ENVIRONMENTS
