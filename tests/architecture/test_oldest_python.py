"""Code that type checkers allow and Python 3.10 does not, where the tests run on a newer one."""

from __future__ import annotations

import ast
from pathlib import Path

import agentool_otel

PACKAGE = Path(agentool_otel.__file__).parent


def test_no_named_tuple_has_another_base() -> None:
    """Python 3.10 raises when such a class is made; 3.11 allows `Generic` beside it."""
    results = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef) and len(node.bases) > 1
        if any(isinstance(base, ast.Name) and base.id == "NamedTuple" for base in node.bases)
    ]
    assert results == []


def test_every_class_variable_names_its_type() -> None:
    """Python 3.10 refuses a bare `ClassVar` when msgspec evaluates the annotations of a class."""
    results = [
        f"{path.relative_to(PACKAGE)}:{node.lineno}"
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation).endswith("ClassVar")
    ]
    assert results == []
