"""Laws of the documents: nothing is lost, and refusals name the member."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.errors import DecodeError
from agentool_otel.model.codec import Field, decode, dumps, encode, fields_of
from agentool_otel.model.documents import Document, ReasoningTrace, ToolExchange
from agentool_otel.model.schema import DOCUMENTS

ALL = [*DOCUMENTS, ToolExchange]

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(2**80), 2**80)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
objects = st.dictionaries(st.text(), values, max_size=3)
plain: dict[str, st.SearchStrategy[Any]] = {
    "any": values,
    "string": st.text(),
    "number": st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    "boolean": st.booleans(),
    "object": objects,
    "array of strings": st.lists(st.text(), max_size=3),
}


def members(field: Field) -> st.SearchStrategy[Any]:
    if field.document is None:
        value = plain[field.kind]
    elif field.kind == "document":
        value = documents(field.document)
    else:
        value = st.lists(documents(field.document), max_size=3)
    return st.none() | value if field.nullable else value


def documents(cls: type[Document]) -> st.SearchStrategy[dict[str, Any]]:
    """JSON objects of every shape `cls` allows, with unknown members beside the known ones."""
    fields = fields_of(cls)
    names = {field.name for field in fields}
    unknown = st.dictionaries(st.text().filter(lambda name: name not in names), values, max_size=2)
    mine = st.fixed_dictionaries(
        {field.name: members(field) for field in fields if field.required},
        optional={field.name: members(field) for field in fields if not field.required},
    )
    return st.tuples(unknown, mine).map(lambda drawn: {**drawn[0], **drawn[1]})


def exact(value: Any) -> str:
    """Text that distinguishes 1 from 1.0 and from true, and 0.0 from -0.0."""
    return json.dumps(value, sort_keys=True)


@pytest.mark.parametrize("cls", ALL)
@settings(deadline=None, max_examples=60)
@given(data=st.data())
def test_any_document_comes_back_as_it_was(cls: type[Document], data: st.DataObject) -> None:
    value = data.draw(documents(cls))
    assert exact(encode(decode(cls, value))) == exact(value)


@pytest.mark.parametrize("cls", ALL)
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_any_document_survives_as_text(cls: type[Document], data: st.DataObject) -> None:
    value = data.draw(documents(cls))
    text = dumps(decode(cls, value))
    assert exact(encode(decode(cls, text))) == exact(value)


@pytest.mark.parametrize("cls", ALL)
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_reading_leaves_its_input_alone(cls: type[Document], data: st.DataObject) -> None:
    value = data.draw(documents(cls))
    before = exact(value)
    encode(decode(cls, value))["added"] = True
    assert exact(value) == before


def with_wrong(cls: type[Document]) -> st.SearchStrategy[tuple[dict[str, Any], str]]:
    """Documents with one member of a wrong type, and the name of that member."""
    names = [field.name for field in fields_of(cls) if field.kind != "any"]
    wrong = object()
    return st.tuples(documents(cls), st.sampled_from(names)).map(
        lambda drawn: ({**drawn[0], drawn[1]: wrong}, drawn[1])
    )


@pytest.mark.parametrize("cls", ALL)
@settings(deadline=None, max_examples=40)
@given(data=st.data())
def test_an_error_names_the_wrong_member(cls: type[Document], data: st.DataObject) -> None:
    value, name = data.draw(with_wrong(cls))
    with pytest.raises(DecodeError) as raised:
        decode(cls, value)
    assert raised.value.path == f"$.{name}"


@settings(deadline=None, max_examples=60)
@given(documents(ReasoningTrace))
def test_every_call_and_result_is_in_exactly_one_pair(value: dict[str, Any]) -> None:
    trace = decode(ReasoningTrace, value)
    pairs = list(trace.pairs())
    assert [call for call, _ in pairs if call is not None] == trace.tool_calls()
    results = [result for _, result in pairs if result is not None]
    assert sorted(map(id, results)) == sorted(map(id, trace.tool_results()))
