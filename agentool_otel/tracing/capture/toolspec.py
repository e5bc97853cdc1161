"""A ToolSpec from a function's signature, annotations and docstring."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, get_type_hints

import msgspec

from agentool_otel.ground import lazy_re as re

if TYPE_CHECKING:
    from agentool_otel.model.documents import ToolSpec

__all__ = ["tool_spec"]

_ARGUMENT = re.compile(r"^\s*\*{0,2}(\w+)\s*(?:\([^)]*\)\s*)?:\s*(.*)$")
_SECTIONS = ("Args:", "Arguments:", "Parameters:")


def tool_spec(fn: Callable[..., Any], *, name: str | None = None) -> ToolSpec:
    """Infer the ToolSpec of a callable.

    Parameter and return schemas come from the annotations (anything that has a JSON form; others
    become an open schema), descriptions from the docstring's first paragraph and its Google-style
    `Args:` section, defaults from the signature where they have a JSON form.
    """
    target = inspect.unwrap(fn)
    signature = inspect.signature(target)
    try:
        hints = get_type_hints(target)
    except Exception:  # annotations are user code: names that exist only for type checkers
        hints = {}
    summary, described = _docstring(inspect.getdoc(target) or "")
    properties: dict[str, Any] = {}
    required: list[str] = []
    for index, parameter in enumerate(signature.parameters.values()):
        if index == 0 and parameter.name in ("self", "cls"):
            continue
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        schema = _schema(hints.get(parameter.name, Any))
        if parameter.name in described:
            schema["description"] = described[parameter.name]
        if parameter.default is parameter.empty:
            required.append(parameter.name)
        elif _is_json(parameter.default):
            schema["default"] = parameter.default
        properties[parameter.name] = schema
    parameters: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        parameters["required"] = required
    spec = {
        "name": name or getattr(target, "__name__", type(target).__name__),
        "description": summary,
        "parameters": parameters,
    }
    if "return" in hints and hints["return"] is not type(None):
        spec["returns"] = _schema(hints["return"])
    from agentool_otel.model.documents import ToolSpec

    return ToolSpec.from_dict(spec)


def _schema(hint: Any) -> dict[str, Any]:
    if hint is Any:
        return {}
    try:
        schema = msgspec.json.schema(hint)
    except Exception:  # a type of the user that has no JSON form
        return {}
    return schema


def _is_json(value: Any) -> bool:
    return value is None or isinstance(value, (bool, int, float, str))


def _docstring(text: str) -> tuple[str, dict[str, str]]:
    lines = text.splitlines()
    summary: list[str] = []
    for line in lines:
        if not line.strip() and summary:
            break
        if line.strip() in _SECTIONS:
            break
        if line.strip():
            summary.append(line.strip())
    described: dict[str, str] = {}
    in_block, current, indent = False, None, 0
    for line in lines:
        if line.strip() in _SECTIONS:
            in_block, current = True, None
            continue
        if not in_block or not line.strip():
            continue
        depth = len(line) - len(line.lstrip())
        if depth == 0:
            in_block = False
            continue
        match = _ARGUMENT.match(line)
        if match and (current is None or depth <= indent):
            current, indent = match[1], depth
            described[current] = match[2].strip()
        elif current is not None:
            described[current] = f"{described[current]} {line.strip()}".strip()
    return " ".join(summary), described
