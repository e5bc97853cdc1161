"""Import rules: no cycles, and private modules stay inside their folder.

The order of the packages is a contract of import-linter, in pyproject.toml.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import agentool_otel

PACKAGE = Path(agentool_otel.__file__).parent


def name_of(file: Path) -> str:
    parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {name_of(file): file for file in PACKAGE.rglob("*.py") if "_bootstrap" not in file.parts}


@cache
def parsed(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


def imported(module: str, *, eagerly: bool) -> set[str]:
    """The modules of ours that a module names in its imports, and the packages it names for that.

    Eagerly: only those that are imported when the module itself is.
    """
    tree = parsed(module)
    results: set[str] = set()
    for node in eager(tree.body) if eagerly else ast.walk(tree):
        if isinstance(node, ast.Import):
            results |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module is not None:
            results |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
    return results & MODULES.keys() - {module}


def eager(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        if isinstance(node, ast.If):
            typing_only = "TYPE_CHECKING" in ast.unparse(node.test)
            yield from eager(node.orelse if typing_only else node.body + node.orelse)
        elif isinstance(node, ast.Try):
            yield from eager(node.body + node.orelse + node.finalbody)
        elif isinstance(node, (ast.With, ast.ClassDef)):
            yield from eager(node.body)
        else:
            yield node


def test_no_module_imports_itself_by_way_of_others() -> None:
    graph = {module: imported(module, eagerly=True) for module in MODULES}
    assert list(TopologicalSorter(graph).static_order())  # else graphlib.CycleError names them


def test_an_underscore_keeps_a_module_in_its_folder() -> None:
    strangers = [
        (module, second)
        for module in MODULES
        for second in imported(module, eagerly=False)
        if second.rpartition(".")[2].startswith("_")
        and MODULES[second].parent != MODULES[module].parent
    ]
    assert not strangers
