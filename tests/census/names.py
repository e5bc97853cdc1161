"""The attribute names in the source of a package, and which of them are known."""

from __future__ import annotations

import ast
import re
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from agentool_otel.semconv.foreign import holds_content, holds_object
from agentool_otel.semconv.table import ATTRIBUTES, METRICS, PREFIXES, RENAMES, STRUCTURAL

__all__ = ["is_known", "names_in", "names_of"]

_NAME = re.compile(r"[A-Za-z_][\w-]*(\.[\w{}-]+)+\.?")


def names_in(wheel: Path, namespaces: Sequence[str]) -> set[str]:
    """Return the names of the namespaces in the modules of a wheel, without its tests."""
    names: set[str] = set()
    with zipfile.ZipFile(wheel) as archive:
        members = archive.namelist()
        modules = {member.removesuffix(".py") for member in members if member.endswith(".py")}
        modules |= {str(parent) for module in modules for parent in PurePosixPath(module).parents}
        for member in members:
            if member.endswith(".py") and "/tests/" not in member:
                source = archive.read(member).decode("utf-8", "replace")
                names.update(names_of(source, namespaces))
    return {name for name in names if not _is_in_a_module(name, modules)}


def _is_in_a_module(name: str, modules: set[str]) -> bool:
    """Return whether a name is that of a module of the package, or of something inside one."""
    first, second = name.split(".")[:2]
    return f"{first}/{second}" in modules or second[:1].isupper()


def names_of(source: str, namespaces: Sequence[str]) -> Iterator[str]:
    """Yield the names in a module; `*` stands for what a program puts into one."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):  # a template, or of another version of Python
        return
    starts = tuple(f"{namespace}." for namespace in namespaces)
    texts = _Texts()
    texts.visit(tree)
    for text in texts.found:
        if text.startswith(starts) and _NAME.fullmatch(text):
            yield re.sub(r"\{\w*\}", "*", text)


class _Texts(ast.NodeVisitor):
    """The texts in a module, put together from constants: `f"{PREFIX}.msg"`, `BASE + ".msg"`."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self._constants: dict[str, str] = {}
        """The last text that each name was assigned."""

    def visit(self, node: ast.AST) -> None:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._constants[name] = self._text(value) or _UNKNOWN
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                self._constants[name] = self._text(value) or _UNKNOWN
            case _:
                pass
        text = self._text(node)
        if text is None:
            self.generic_visit(node)
        elif not isinstance(node, ast.Name):
            self.found.append(text)

    def _text(self, node: ast.AST) -> str | None:
        """Return the text of an expression, with `{}` for a part that is not known."""
        match node:
            case ast.Constant(value=str(text)):
                return text
            case ast.Name(id=name):
                return self._constants.get(name)
            case ast.FormattedValue(value=value):
                return self._text(value) or _UNKNOWN
            case ast.JoinedStr(values=values):
                return "".join(self._text(value) or "" for value in values)
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                before = self._text(left)
                return None if before is None else before + (self._text(right) or _UNKNOWN)
            case _:
                return None


_UNKNOWN = "{}"


def is_known(name: str) -> bool:
    """Return whether a table of ours has a name: as content, or as one of the conventions."""
    if name in ATTRIBUTES or name in METRICS or name in RENAMES or name in STRUCTURAL:
        return True
    sample = name.replace("*", "0")
    sample = f"{sample}0" if sample.endswith(".") else sample
    return (
        holds_content(name) or holds_content(sample) or holds_object(name)
    ) or sample.startswith(tuple(PREFIXES))
