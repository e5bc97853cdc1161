"""The modules that docstrings, comments and documents name exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.metadata import distribution

import pytest

from tests.frameworks import ROOT

PACKAGE = ROOT / "agentool_otel"
PLACES = ("*.md", "docs/**/*.md", "examples/**/*.md", "examples/**/*.py", "agentool_otel/**/*.py")
NO_MODULES = {
    "agentool_otel.doctor",  # a scope
    "agentool_otel.marking",  # an error handler
    *(entry_point.group for entry_point in distribution("agentool-otel").entry_points),
}
_SCOPES = "agentool_otel.instrumentation."
"""Prefix of scope names. They are telemetry: no folder has this name."""
_TOP = "|".join(
    sorted(
        path.stem
        for path in PACKAGE.iterdir()
        if path.suffix in ("", ".py") and path.stem[0] != "_"
    )
)
_FULL = re.compile(r"\b(agentool_otel(?:\.[A-Za-z_]\w*)+)")
_IN_BACKTICKS = re.compile(rf"`((?:{_TOP})(?:\.[A-Za-z_]\w*)+)`")
_PATH = re.compile(r"`([a-z_]+/[\w/.-]+\.(?:py|md|json))`")
"""A file, from the root of the project or of the package."""
_FILE = re.compile(r"\b(agentool_otel(?:/\w+)+)(?=\.py\b|/[\s`,]|`)")


def names_in(text: str) -> Iterator[str]:
    """Yield the modules, and the names in modules, that a text mentions."""
    yield from _FULL.findall(text)
    for name in _IN_BACKTICKS.findall(text):
        if not name.endswith(".py"):  # a file, somebody else's
            yield f"agentool_otel.{name}"
    yield from (name.replace("/", ".") for name in _FILE.findall(text))


def exists(name: str) -> bool:
    """Return whether a dotted name leads to a module, or to a name that a module's code has."""
    place = PACKAGE
    for part in name.split(".")[1:]:
        if (place / part).is_dir():
            place /= part
        elif (place / f"{part}.py").is_file():
            return True
        else:
            return re.search(rf"\b{part}\b", (place / "__init__.py").read_text()) is not None
    return True


def test_every_module_that_a_text_names_exists() -> None:
    missing = {
        f"{path.relative_to(ROOT)}: {name}"
        for place in PLACES
        for path in ROOT.glob(place)
        for name in names_in(path.read_text(encoding="utf-8"))
        if name not in NO_MODULES and not name.startswith(_SCOPES) and not exists(name)
    }
    assert missing == set()


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "README.md", "docs/concepts/glossary.md"])
def test_every_file_that_a_page_names_exists(page: str) -> None:
    named = _PATH.findall((ROOT / page).read_text(encoding="utf-8"))
    assert [
        item for item in named if not any((place / item).exists() for place in (ROOT, PACKAGE))
    ] == []


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("`agentool_otel.model.spans.SpanRecord`, model/nothing", []),
        ("see `model.nothing.at_all`", ["agentool_otel.model.nothing.at_all"]),
        ("agentool_otel/model/nothing.py", ["agentool_otel.model.nothing"]),
        ("from agentool_otel import spans; agentool_otel.spans()", ["agentool_otel.spans"]),
        ("agentool_otel.load(path)", []),
    ],
)
def test_a_module_that_does_not_exist_is_noticed(text: str, missing: list[str]) -> None:
    assert [name for name in names_in(text) if not exists(name)] == missing
