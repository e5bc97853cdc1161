"""Environment variables are named in one module, and documented there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import agentool_otel
from agentool_otel.ground import environment, otlp_settings

PACKAGE = Path(agentool_otel.__file__).parent
FOLDERS = (
    "capture",
    "cli",
    "content",
    "emit",
    "evaluation",
    "export",
    "formats",
    "instrumentation",
    "setup",
    "sources",
    "testing",
)
"""Whose modules spell no name of a variable, in code or in a message."""
NAME = re.compile(
    r"\b(?:OTEL|AGENTOOL)_(?:[A-Z]|$)|\b(?:TRACEPARENT|TRACESTATE|[A-Z]+_CA_BUNDLE)\b"
)


def texts(file: Path) -> Iterator[tuple[int, str]]:
    """The strings of a module that are no documentation."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in documentation:
            continue
        if isinstance(node.value, str):
            yield node.lineno, node.value


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_other_module_spells_the_name_of_a_variable(folder: str) -> None:
    spelled = [
        f"{file.relative_to(PACKAGE)}:{line} {text!r}"
        for file in sorted((PACKAGE / folder).rglob("*.py"))
        if file.name != "sitecustomize.py"  # runs in Pythons without this package
        for line, text in texts(file)
        if NAME.search(text)
    ]
    assert spelled == []


def test_every_variable_is_documented_with_its_default() -> None:
    tree = ast.parse(Path(environment.__file__).read_text(encoding="utf-8"))
    for node, after in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(node, ast.AnnAssign):
            assert isinstance(after, ast.Expr), ast.unparse(node)
            assert isinstance(after.value, ast.Constant), ast.unparse(node)
            assert "Default: " in str(after.value.value), ast.unparse(node)


@pytest.mark.parametrize(
    ("text", "wanted"), [("", True), ("on", True), (" OFF ", False), ("0", False), ("no", False)]
)
def test_the_journal_is_kept_unless_it_is_switched_off(text: str, wanted: bool) -> None:
    assert environment.journal_wanted({environment.JOURNAL: text}) is wanted


def test_the_setting_of_a_signal_comes_before_that_of_all() -> None:
    general, own = (
        otlp_settings.variable("HEADERS"),
        otlp_settings.variable("HEADERS", "logs"),
    )
    assert (general, own) == ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_LOGS_HEADERS")
    environ = {general: "a=1", own: " b=2 "}
    assert otlp_settings.value("HEADERS", "logs", environ) == "b=2"
    assert otlp_settings.value("HEADERS", "traces", environ) == "a=1"
    assert otlp_settings.value_of_signal("HEADERS", "traces", environ) == ""


def test_an_environment_that_is_empty_is_not_that_of_the_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(environment.DISABLED, "true")
    assert environment.sdk_disabled()
    assert not environment.sdk_disabled({})
