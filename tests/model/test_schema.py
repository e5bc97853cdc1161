"""The JSON Schema files: they match the types and the codec."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped] # its stubs are a package of their own
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.errors import DecodeError
from agentool_otel.model.codec import decode, fields_of
from agentool_otel.model.documents import Document
from agentool_otel.model.schema import DOCUMENTS, file_name, generate, shipped_schema

SPEC = Path(__file__).parents[1] / "fixtures" / "spec"
each_document = pytest.mark.parametrize("cls", DOCUMENTS)


def valid(cls: type[Document], value: Any) -> bool:
    checker: Any = jsonschema.Draft202012Validator(shipped_schema(cls))
    return bool(checker.is_valid(value))


def decodes(cls: type[Document], value: Any) -> bool:
    try:
        decode(cls, value)
    except DecodeError:
        return False
    return True


@each_document
def test_the_shipped_schema_is_what_the_type_generates(cls: type[Document]) -> None:
    """To mend it: python -m agentool_otel.model.schema"""
    assert shipped_schema(cls) == generate(cls)


@each_document
def test_the_schema_is_valid_draft_2020_12(cls: type[Document]) -> None:
    jsonschema.Draft202012Validator.check_schema(shipped_schema(cls))


@each_document
def test_every_member_has_a_description(cls: type[Document]) -> None:
    schema = shipped_schema(cls)
    parts = [schema, *schema.get("$defs", {}).values()]
    assert all(member["description"] for part in parts for member in part["properties"].values())


def test_the_files_are_named_after_the_documents() -> None:
    assert [file_name(cls).removesuffix(".schema.json") for cls in DOCUMENTS] == [
        "tool-spec",
        "tool-call",
        "tool-result",
        "step",
        "reasoning-trace",
        "eval-case",
        "eval-result",
        "tool-registry",
    ]


@each_document
def test_an_example_of_the_spec_is_valid(cls: type[Document]) -> None:
    path = SPEC / file_name(cls).replace(".schema", "")
    exchange = json.loads((SPEC / "tool-exchange.json").read_text("utf-8"))
    trace = json.loads((SPEC / "reasoning-trace.json").read_text("utf-8"))
    parts = {
        "ToolCall": exchange["tool_call"],
        "ToolResult": exchange["tool_result"],
        "Step": trace["steps"][1],
    }
    value = parts.get(cls.__name__) or json.loads(path.read_text("utf-8"))
    jsonschema.validate(value, shipped_schema(cls), jsonschema.Draft202012Validator)


def test_unknown_words_and_members_are_valid() -> None:
    step = DOCUMENTS[3]
    assert valid(step, {"type": "daydream", "dream": {"of": "sheep"}})


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(
            st.sampled_from(sorted({f.name for cls in DOCUMENTS for f in fields_of(cls)})), inner
        )
    ),
    max_leaves=8,
)


@each_document
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_the_schema_accepts_what_the_codec_accepts(
    cls: type[Document], data: st.DataObject
) -> None:
    fields = fields_of(cls)
    likely: dict[str, st.SearchStrategy[Any]] = {
        "string": st.text(max_size=3),
        "boolean": st.booleans(),
        "object": st.just({}),
        "document": st.just({"name": "t", "description": "", "parameters": {}, "type": "x"}),
    }
    value = data.draw(
        st.fixed_dictionaries(
            {f.name: likely.get(f.kind, st.just([])) | anything for f in fields if f.required},
            optional={f.name: anything for f in fields if not f.required},
        )
        | anything
    )
    assert valid(cls, value) == decodes(cls, value)
