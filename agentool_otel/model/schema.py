"""JSON Schemas of the documents, generated from their types.

    python -m agentool_otel.model.schema        writes the files that ship beside this module

They describe what the codec accepts: unknown members and unknown words are valid, known words are
only examples, and null is allowed wherever the codec keeps one.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
import sys
import textwrap
from importlib import resources
from pathlib import Path
from typing import Any

import msgspec

from agentool_otel.ground.json_codec import loads
from agentool_otel.model.codec import Field, fields_of
from agentool_otel.model.documents import (
    Document,
    EvalCase,
    EvalResult,
    ReasoningTrace,
    Step,
    ToolCall,
    ToolRegistry,
    ToolResult,
    ToolSpec,
)

__all__ = [
    "DOCUMENTS",
    "SPEC_VERSION",
    "field_docstrings",
    "file_name",
    "generate",
    "shipped_schema",
]

SPEC_VERSION = "0.1"
DOCUMENTS: tuple[type[Document], ...] = (
    ToolSpec,
    ToolCall,
    ToolResult,
    Step,
    ReasoningTrace,
    EvalCase,
    EvalResult,
    ToolRegistry,
)
"""The documents that have a schema file of their own; the others are parts of these."""


def shipped_schema(cls: type[Document]) -> dict[str, Any]:
    """Return the schema of a document as it ships with this package."""
    folder = resources.files("agentool_otel.model") / "schemas"
    schema: dict[str, Any] = loads((folder / file_name(cls)).read_text("utf-8"))
    return schema


def generate(cls: type[Document], urn: str = f"urn:agentool:{{}}:{SPEC_VERSION}") -> dict[str, Any]:
    """Return the schema of a document as its type and docstrings give it now; needs the source.

    Args:
        cls: the document.
        urn: its `$id`, with a place for the document's name.
    """
    definitions = {
        part.__name__: _object(part)
        for part in sorted(_parts(cls) - {cls}, key=lambda part: part.__name__)
    }
    schema: dict[str, Any] = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": urn.format(_kebab(cls)),
        "title": cls.__name__,
        **_object(cls),
    }
    return {**schema, "$defs": definitions} if definitions else schema


def file_name(cls: type[Document]) -> str:
    """Return the name of a document's schema file."""
    return f"{_kebab(cls)}.schema.json"


def _kebab(cls: type[Document]) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", cls.__name__).lower()


def _parts(cls: type[Document]) -> set[type[Document]]:
    """Return `cls` and all documents inside it."""
    below = (_parts(field.document) for field in fields_of(cls) if field.document is not None)
    return {cls}.union(*below)


def _object(cls: type[Document]) -> dict[str, Any]:
    texts = field_docstrings(cls)
    fields = fields_of(cls)
    schema: dict[str, Any] = {
        "description": inspect.getdoc(cls) or "",
        "type": "object",
        "properties": {field.name: _member(field, texts.get(field.name, "")) for field in fields},
        "additionalProperties": True,
    }
    required = [field.name for field in fields if field.required]
    return {**schema, "required": required} if required else schema


def _member(field: Field, description: str) -> dict[str, Any]:
    schema: dict[str, Any] = {"description": description, **_shape(field)}
    return {**schema, "examples": field.examples} if field.examples else schema


def _shape(field: Field) -> dict[str, Any]:
    kind = field.kind
    if kind == "any":
        return {}
    if kind == "document":
        reference = _reference(field)
        return {"anyOf": [reference, {"type": "null"}]} if field.nullable else reference
    array = kind in ("documents", "array of strings")
    name = "array" if array else kind
    shape: dict[str, Any] = {"type": [name, "null"] if field.nullable else name}
    if array:
        shape["items"] = {"type": "string"} if field.document is None else _reference(field)
    return shape


def _reference(field: Field) -> dict[str, Any]:
    return {"$ref": f"#/$defs/{field.document.__name__ if field.document else ''}"}


def field_docstrings(cls: type[msgspec.Struct]) -> dict[str, str]:
    """Return the docstring lines beneath the fields of a class and its bases, by field name."""
    texts: dict[str, str] = {}
    for base in cls.__bases__:
        if issubclass(base, msgspec.Struct) and base is not msgspec.Struct:
            texts.update(field_docstrings(base))
    body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0]
    field = ""
    for statement in body.body if isinstance(body, ast.ClassDef) else []:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            field = statement.target.id
        elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            if field and isinstance(statement.value.value, str):
                texts[field] = " ".join(statement.value.value.split())
            field = ""
        else:
            field = ""
    return texts


def _main() -> None:
    folder = Path(__file__).with_name("schemas")
    folder.mkdir(exist_ok=True)
    for cls in DOCUMENTS:
        text = json.dumps(generate(cls), indent=2, ensure_ascii=False) + "\n"
        (folder / file_name(cls)).write_text(text, encoding="utf-8")
    print(f"wrote {len(DOCUMENTS)} schemas to {folder}", file=sys.stderr)


if __name__ == "__main__":
    _main()
