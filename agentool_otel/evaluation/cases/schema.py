"""The JSON Schema of files of cases, by which editors check and complete them.

    python -m agentool_otel.evaluation.cases.schema        writes the file beside this module

It is generated from the assertion types: their parameters, limits and docstrings. What it cannot
express is refused when cases are read: a pattern that is no regular expression, a JSON Schema that
is none, and parameters that contradict each other.
"""

from __future__ import annotations

import inspect
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import msgspec

from agentool_otel.evaluation.assertion_types import assertion_type, assertion_types
from agentool_otel.evaluation.check import Check
from agentool_otel.model import schema as documents
from agentool_otel.model.documents import EvalCase

__all__ = ["generate", "own_types", "shipped_file", "shipped_schema"]

_OURS = "agentool_otel."
_FILE = "cases.schema.json"
_Schema = dict[str, Any]
_DESCRIPTION = {"description": "Why, for people.", "type": ["string", "null"]}


def shipped_file() -> Path:
    """Return the file that ships with this package."""
    return Path(__file__).with_name(_FILE)


def shipped_schema() -> _Schema:
    """Return the schema as it ships with this package: with our own assertion types."""
    return cast("_Schema", json.loads(shipped_file().read_text("utf-8")))


def own_types() -> list[str]:
    """Return the names of the assertion types of this package."""
    return [name for name in assertion_types() if assertion_type(name).__module__.startswith(_OURS)]


def generate(types: Iterable[str]) -> _Schema:
    """Return the schema with some assertion types, as their classes are now; needs their source."""
    names = sorted(types)
    classes = {name: assertion_type(name) for name in names}
    references, parts = msgspec.json.schema_components(
        classes.values(), ref_template="#/$defs/{name}"
    )
    inner = {key: part for key, part in parts.items() if not _is_type(key, references)}
    definitions = {
        name: _assertion(name, kind, parts[_key(reference)])
        for (name, kind), reference in zip(classes.items(), references, strict=True)
    }
    for kind in _inner_structs(classes.values()):
        _describe(inner[kind.__name__], kind)
    case = documents.generate(EvalCase)
    for member in ("$schema", "$id", "$defs"):
        case.pop(member)
    case["properties"]["assertions"]["items"] = {"$ref": "#/$defs/assertion"}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:agentool-otel:cases",
        "title": "Cases of agentool-otel eval",
        "description": "Cases, or assertions alone, which then hold for every run.",
        "anyOf": [
            {"$ref": "#/$defs/entry"},
            {"type": "array", "items": {"$ref": "#/$defs/entry"}},
        ],
        "$defs": {
            "entry": {
                "anyOf": [
                    {"$ref": f"#/$defs/{name}"}
                    for name in ("case", "assertion", "assertions", "cases", "eval_set")
                ]
            },
            "case": case,
            "cases": _list_of("cases", "case"),
            "assertions": _list_of("assertions", "assertion"),
            "eval_set": {
                "description": "An eval set of another package, such as an agent framework.",
                "type": "object",
                "anyOf": [{"required": ["eval_cases"]}, {"required": ["evalCases"]}],
                "properties": {name: {"type": "array"} for name in ("eval_cases", "evalCases")},
            },
            "assertion": _any_assertion(definitions),
            **definitions,
            **inner,
        },
    }


def _is_type(key: str, references: Iterable[_Schema]) -> bool:
    return any(_key(reference) == key for reference in references)


def _key(reference: _Schema) -> str:
    return str(reference["$ref"]).removeprefix("#/$defs/")


def _list_of(member: str, definition: str) -> _Schema:
    """Return the schema of an object that has nothing but a list."""
    items = {"type": "array", "items": {"$ref": f"#/$defs/{definition}"}}
    return {
        "type": "object",
        "required": [member],
        "properties": {member: items, "$schema": {"type": "string"}},
        "additionalProperties": False,
    }


def _any_assertion(definitions: dict[str, _Schema]) -> _Schema:
    """Return the schema of an assertion: its type decides on the other members."""
    return {
        "type": "object",
        "required": ["type"],
        "properties": {
            "type": {
                "description": "What is asserted.",
                "enum": list(definitions),
                "enumDescriptions": [
                    definition["description"] for definition in definitions.values()
                ],
            }
        },
        "allOf": [
            {
                "if": {"required": ["type"], "properties": {"type": {"const": name}}},
                "then": {"$ref": f"#/$defs/{name}"},
            }
            for name in definitions
        ],
    }


def _assertion(name: str, kind: type, part: _Schema) -> _Schema:
    _describe(part, kind)
    required = part.pop("required", [])
    properties: dict[str, _Schema] = part.pop("properties")
    for parameter, schema in properties.items():
        if parameter not in required:
            properties[parameter] = _nullable(schema)
    part.pop("title", None)
    return {
        **part,
        "required": ["type", *required],
        "properties": {"type": {"const": name}, "description": _DESCRIPTION, **properties},
    }


def _nullable(schema: _Schema) -> _Schema:
    """Return the schema of a parameter that may be left out: null is as good as that."""
    options = schema.get("anyOf")
    outside = {key: value for key, value in schema.items() if key in ("description", "default")}
    inner = {key: value for key, value in schema.items() if key not in outside}
    null = {"type": "null"}
    if options is None:
        return {**outside, "anyOf": [inner, null]}
    return schema if null in options else {**schema, "anyOf": [*options, null]}


def _describe(part: _Schema, kind: type) -> None:
    """Put the docstrings of a class and its fields into its schema."""
    part["description"] = " ".join(str(inspect.getdoc(kind)).partition("\n\n")[0].split())
    if not issubclass(kind, msgspec.Struct):
        return
    for name, text in documents.field_docstrings(kind).items():
        if name in part["properties"]:
            part["properties"][name] = {"description": text, **part["properties"][name]}


def _inner_structs(kinds: Iterable[type]) -> list[type]:
    """Return the records that are parameters of assertion types."""
    structs: dict[type, None] = {}
    waiting: list[Any] = [msgspec.inspect.type_info(kind) for kind in kinds]
    for info in waiting:  # grows
        match info:
            case msgspec.inspect.StructType():
                if not issubclass(info.cls, Check):
                    structs[info.cls] = None
                waiting += [field.type for field in info.fields]
            case msgspec.inspect.ListType():
                waiting.append(info.item_type)
            case msgspec.inspect.UnionType():
                waiting += info.types
            case _:
                pass
    return list(structs)


def _main() -> None:
    place = shipped_file()
    text = json.dumps(generate(own_types()), indent=1, ensure_ascii=False) + "\n"
    place.write_text(text, encoding="utf-8")
    print(f"wrote {place}", file=sys.stderr)


if __name__ == "__main__":
    _main()
