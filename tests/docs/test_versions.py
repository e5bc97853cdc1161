"""The classifiers and the lowest versions are those that are recorded and declared."""

from __future__ import annotations

from pathlib import Path

from packaging.requirements import Requirement

from tests import versions
from tests.lowest import EXTRAS, lowest

PROJECT = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")


def test_the_classifiers_are_those_that_poe_readme_writes() -> None:
    assert versions.with_classifiers(PROJECT) == PROJECT


def test_each_lowest_version_is_a_declared_bound() -> None:
    requirements = [Requirement(item) for item in lowest()]
    assert len(requirements) > len([*lowest(())]) == 10
    for requirement in requirements:
        [pin] = requirement.specifier
        name = requirement.name.replace("backports-zstd", "backports.zstd")
        assert f'"{name}>={pin.version}' in PROJECT


def test_an_extra_left_out_is_not_pinned() -> None:
    assert "cost" not in EXTRAS
    assert not [item for item in lowest() if item.startswith("genai-prices")]
