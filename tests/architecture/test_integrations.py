"""Products: each role of a folder is announced, each announcement leads to a role, and the core's
code names few of them."""

from __future__ import annotations

import re
import tokenize
from importlib import import_module
from importlib.metadata import distribution
from pathlib import Path

import pytest

import agentool_otel
from agentool_otel.ground.integrations import Integration, integrations

PACKAGE = Path(agentool_otel.__file__).parent
FOLDERS = {path.parent.name: path.parent for path in PACKAGE.glob("integrations/*/__init__.py")}
GROUPS = {
    "opentelemetry_instrumentor": "instrumentor",
    "amplifier.modules": "hook",
    "agentool_otel.dialects": "dialect",
    "agentool_otel.stores": "store",
    "agentool_otel.sources": "server",
    "agentool_otel.log_readers": "log_reader",
    "agentool_otel.formats": "format",
    "agentool_otel.cases": "cases",
    "agentool_otel.converters": "converter",
}
"""By the group of its entry points, a role."""
OTHER_SOURCES = "sessions"
"""The role of a source that is no server: files that a program keeps on this machine."""
POINTS = [
    (GROUPS[entry_point.group], entry_point.module)
    for entry_point in distribution("agentool-otel").entry_points
    if entry_point.group in GROUPS and entry_point.module.startswith("agentool_otel.integrations.")
]
KEPT = ("dialects", "integrations", "providers")
"""Folders of the core that are about products: shared vocabularies, and APIs of models."""
MOST_NAMES = 9
"""Most products that the core's code may name. The number only falls."""


def roles(folder: Path) -> set[str]:
    return {path.stem for path in folder.iterdir() if path.stem[0] != "_"}


def role_in(module: str) -> str:
    """Return the role that a module is, or is part of."""
    return module.split(".")[3]


@pytest.mark.parametrize("name", FOLDERS)
def test_each_role_of_a_product_is_announced_once(name: str) -> None:
    announced = sorted(role_in(module) for _, module in POINTS if module.split(".")[2] == name)
    target = roles(FOLDERS[name]) & {*GROUPS.values(), OTHER_SOURCES}
    assert announced == sorted(target)


@pytest.mark.parametrize(("role", "module"), POINTS)
def test_an_entry_point_leads_to_the_role_of_its_group(role: str, module: str) -> None:
    assert role_in(module) in (role, OTHER_SOURCES if role == "server" else role)


@pytest.mark.parametrize("name", FOLDERS)
def test_a_product_declares_itself(name: str) -> None:
    module = import_module(f"agentool_otel.integrations.{name}")
    assert isinstance(module.INTEGRATION, Integration)
    assert integrations()[name] == module.INTEGRATION
    assert module.INTEGRATION.title


def names_in_code(file: Path) -> set[str]:
    """The products that a module names outside comments and docstrings."""
    words: set[str] = set()
    with tokenize.open(file) as source:
        before = tokenize.NEWLINE
        for token in tokenize.generate_tokens(source.readline):
            is_text = before in (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.NL)
            documents = token.type == tokenize.STRING and is_text
            if token.type != tokenize.COMMENT and not documents:
                words |= set(re.findall(r"[a-z]+(?:_[a-z0-9]+)*", token.string.casefold()))
            if token.type not in (tokenize.COMMENT, tokenize.NL):
                before = token.type
    return words & FOLDERS.keys()


def test_the_core_names_few_products() -> None:
    named: dict[str, list[str]] = {}
    for file in PACKAGE.rglob("*.py"):
        place = file.relative_to(PACKAGE)
        if place.parts[0] not in KEPT and place.name != "_content_names.py":
            for name in names_in_code(file):
                named.setdefault(name, []).append(str(place))
    assert len(named) <= MOST_NAMES, named
