"""The public functions and classes, from their signatures and docstrings."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any, NamedTuple

import agentool_otel
from generators.text import cell, docstring

__all__ = ["MODULES", "modules", "top_level"]

MODULES = {
    "agentool_otel.evaluation": "Evaluation: what `evaluate` is made of, and judges.",
    "agentool_otel.testing.conformance": "Whether spans keep to the conventions.",
    "agentool_otel.converters": "Documents of other systems to those of the spec, and back.",
    "agentool_otel.reading.formats": "Shapes in which other tools take trajectories.",
    "agentool_otel.tracing.capture": "Parts of decorators, and context for other processes.",
    "agentool_otel.tracing.export.sdk": "An exporter for a tracer provider of the application.",
    "agentool_otel.testing.loopback_model": "A model server on this machine, for tests and demos.",
    "agentool_otel.pytest_plugin": "Fixtures and a marker for tests of agents.",
}
"""The other modules that programs import, and what each is for."""
_RECORDS = ("__struct_fields__", "__dataclass_fields__", "_fields", "_is_protocol")
"""What classes have that are made of declared fields: Structs, dataclasses, tuples, protocols."""


class _Field(NamedTuple):
    """An attribute of a class, as its source declares it."""

    name: str
    annotation: str
    default: str
    meaning: str


def top_level() -> str:
    """Return a section for each name of `agentool_otel`, functions before classes."""
    names = [it for it in agentool_otel.__all__ if not it.startswith("_")]
    objects = {name: getattr(agentool_otel, name) for name in names}
    functions = [name for name, obj in objects.items() if not inspect.isclass(obj)]
    classes = [name for name in names if name not in functions]
    return "\n".join(_section(name, objects[name], "##") for name in (*functions, *classes))


def modules() -> str:
    """Return a section for each of the other modules; names of `agentool_otel` are left out."""
    return "\n".join(_module(name, title) for name, title in MODULES.items())


def _module(name: str, title: str) -> str:
    module = import_module(name)
    parts = [f"## {name}\n\n{title}\n"]
    for public in module.__all__:
        obj = getattr(module, public)
        if public not in agentool_otel.__all__ and (callable(obj) or _fixture(obj)):
            parts.append(_section(public, obj, "###"))
    return "\n".join(parts)


def _section(name: str, obj: Any, level: str) -> str:
    plain = _fixture(obj) or obj
    doc = docstring(_own_doc(plain))
    kind = "class " if inspect.isclass(plain) else ""
    parts = [f"{level} {name}", f"```python\n{kind}{name}{_signature(plain)}\n```", doc]
    if inspect.isclass(plain):
        parts += _class_parts(plain)
    return "\n\n".join(part for part in parts if part) + "\n"


def _fixture(obj: Any) -> Callable[..., Any] | None:
    """Return the function of a pytest fixture; None of anything else."""
    function = getattr(obj, "__wrapped__", None) or getattr(obj, "_fixture_function", None)
    return function if "fixture" in type(obj).__name__.lower() else None


def _own_doc(obj: Any) -> str | None:
    return obj.__doc__ if isinstance(obj.__doc__, str) else None


def _signature(obj: Any) -> str:
    if inspect.isclass(obj) and any(hasattr(obj, it) for it in _RECORDS):
        return ""  # its fields are a table
    try:
        signature = inspect.signature(obj)
    except (TypeError, ValueError):
        return ""
    parameters = [it for it in signature.parameters.values() if not it.name.startswith("_")]
    returned = signature.return_annotation
    after = "" if returned is signature.empty else f" -> {_type(returned)}"
    words = list(_listed(parameters))
    line = f"({', '.join(words)}){after}"
    if len(line) <= 72:
        return line
    return "\n".join(["(", *(f"    {word}," for word in words), f"){after}"])


def _listed(parameters: list[inspect.Parameter]) -> Iterator[str]:
    """Yield the parameters as source has them, with the marks `/` and `*` between."""
    before: inspect.Parameter | None = None
    for it in parameters:
        if before and before.kind is before.POSITIONAL_ONLY and it.kind is not it.POSITIONAL_ONLY:
            yield "/"
        named = before and before.kind in (before.KEYWORD_ONLY, before.VAR_POSITIONAL)
        if it.kind is it.KEYWORD_ONLY and not named:
            yield "*"
        yield _parameter(it)
        before = it
    if before and before.kind is before.POSITIONAL_ONLY:
        yield "/"


def _parameter(parameter: inspect.Parameter) -> str:
    stars = ("*", "**")[parameter.kind is parameter.VAR_KEYWORD] if parameter.kind in _MANY else ""
    text = f"{stars}{parameter.name}"
    typed = parameter.annotation is not parameter.empty
    if typed:
        text += f": {_type(parameter.annotation)}"
    if parameter.default is parameter.empty:
        return text
    return f"{text}{' = ' if typed else '='}{parameter.default!r}"


_MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def _type(annotation: Any) -> str:
    if isinstance(annotation, str):
        return annotation.strip("'\"")
    return inspect.formatannotation(annotation)


def _class_parts(kind: type) -> Iterator[str]:
    rows = [
        f"| `{it.name}` | `{_cell_code(it.annotation)}` | {it.default} | {cell(it.meaning)} |"
        for it in _fields(kind)
    ]
    if rows:
        head = "| field | type | default | meaning |\n| --- | --- | --- | --- |"
        yield "\n".join([head, *rows])
    for name, method in _methods(kind):
        function = method.fget if isinstance(method, property) else method
        signature = "" if isinstance(method, property) else _signature(getattr(kind, name))
        text = textwrap.indent(docstring(_own_doc(function)), "  ")
        first = signature if "\n" not in signature else "(…)"
        yield f"- `{name}{first.replace('`', '')}`\n\n{text}"


def _cell_code(text: str) -> str:
    return text.replace("|", "\\|")


def _lineage(kind: type) -> list[type]:
    """Return a class and its bases in this package, the base first."""
    return [it for it in reversed(kind.__mro__) if it.__module__.startswith("agentool_otel")]


def _fields(kind: type) -> list[_Field]:
    """Return the public fields that a class declares, as the source has them."""
    found: dict[str, _Field] = {}
    for base in _lineage(kind):
        body = _body(base)
        for node, after in zip(body, [*body[1:], None], strict=True):
            if not isinstance(node, ast.AnnAssign) or not isinstance(node.target, ast.Name):
                continue
            name = node.target.id
            if name.startswith("_"):
                continue
            meaning = ""
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                meaning = str(after.value.value)
            found[name] = _Field(name, _annotation(node), _default(node), meaning)
    return list(found.values())


def _annotation(node: ast.AnnAssign) -> str:
    text = ast.unparse(node.annotation)
    return re.sub(r"^Maybe\[(.*)\]$", r"\1 | None", text)


def _default(node: ast.AnnAssign) -> str:
    if node.value is None:
        return "required"
    text = ast.unparse(node.value)
    if text == "UNSET":
        return "absent"
    factory = re.search(r"default_factory=(?:dict|list|tuple)\b", text)
    if factory:
        return {"dict": "`{}`", "list": "`[]`", "tuple": "`()`"}[factory[0].partition("=")[2]]
    return f"`{_cell_code(text)}`"


def _body(kind: type) -> list[ast.stmt]:
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    except (OSError, TypeError):
        return []
    return tree.body if isinstance(tree, ast.ClassDef) else []


def _methods(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield the public methods and properties with a docstring, as the source orders them."""
    found: dict[str, Any] = {}
    for base in _lineage(kind):
        for name, member in vars(base).items():
            plain = member.__func__ if isinstance(member, (classmethod, staticmethod)) else member
            public = not name.startswith("_") and (
                inspect.isfunction(plain) or isinstance(plain, property)
            )
            if public and plain.__doc__:
                found[name] = plain
    yield from found.items()
