"""The laws of every converter, on documents nobody has written: with unknown members everywhere."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.converters import convert, converter_named
from agentool_otel.ground.json_difference import apply, differences, patch
from tests.converters.documents import (
    FORMATS,
    LOSSLESS,
    agentool_documents,
    documents_of,
    json_objects,
    runs,
    task_files,
    toolsmith_files,
)
from tests.strategies import exact


@pytest.mark.parametrize("name", FORMATS)
@given(data=st.data())
def test_what_is_read_and_written_back_is_the_same(name: str, data: st.DataObject) -> None:
    converter = converter_named(name)
    value = data.draw(documents_of(name))
    back = converter.write(converter.read(value))
    assert exact(back) == exact(converter.normal(value))


@pytest.mark.parametrize(
    "files", [toolsmith_files, task_files, runs], ids=["tools", "tasks", "run"]
)
@given(data=st.data())
def test_every_file_of_toolsmith_comes_back(
    files: st.SearchStrategy[Any], data: st.DataObject
) -> None:
    converter, value = converter_named("toolsmith"), data.draw(files)
    assert exact(converter.write(converter.read(value))) == exact(value)


@pytest.mark.parametrize("name", LOSSLESS)
@given(data=st.data())
def test_formats_with_room_give_every_document_back(name: str, data: st.DataObject) -> None:
    converter = converter_named(name)
    documents = data.draw(agentool_documents(name))
    back = converter.read(converter.write(documents))
    assert [exact(item.to_dict()) for item in back] == [
        exact(document.to_dict()) for document in documents
    ]


@pytest.mark.parametrize("source", FORMATS)
@given(target=st.sampled_from(FORMATS), data=st.data())
def test_the_listed_losses_are_the_difference(
    source: str, target: str, data: st.DataObject
) -> None:
    value = data.draw(documents_of(source))
    place = convert(value, target, source)
    back = convert(place.value, source, target)
    expected = list(differences(converter_named(source).normal(value), back.value))
    assert exact([str(loss) for loss in place.losses]) == exact([str(item) for item in expected])
    if target in LOSSLESS:
        assert not place.losses


@given(json_objects, json_objects)
def test_a_patch_turns_one_object_into_another(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    assert exact(apply(before, patch(before, after))) == exact(after)


@given(json_objects, json_objects)
def test_equal_objects_are_those_without_a_difference(
    before: dict[str, Any], after: dict[str, Any]
) -> None:
    assert (not list(differences(before, after))) == (exact(before) == exact(after))
    assert (not patch(before, after)) == (exact(before) == exact(after))
