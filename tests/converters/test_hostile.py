"""Malformed documents: an error with a place, and nothing else."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.converters import convert, converter_named, converters, from_agentool
from agentool_otel.errors import DecodeError
from agentool_otel.model.codec import decode
from tests.converters.documents import json_objects
from tests.seed_systems.examples import TOOLS
from tests.seed_systems.toolsmith_files import RUN, TASKS
from tests.strategies import values

pytestmark = pytest.mark.thorough

DOCUMENTS = [*TOOLS.items(), ("toolsmith", TASKS), ("toolsmith", RUN)]


def places(value: Any) -> list[tuple[Any, Any]]:
    """Return each container of a document with each key in it."""
    if not isinstance(value, (dict, list)):
        return []
    items = value.items() if isinstance(value, dict) else enumerate(value)
    return [place for key, inner in items for place in ((value, key), *places(inner))]


def spoiled(document: Any, data: st.DataObject) -> Any:
    """Return a document of which something is missing, or is anything else."""
    document = copy.deepcopy(document)
    container, key = data.draw(st.sampled_from(places(document)))
    if isinstance(container, dict) and data.draw(st.booleans()):
        del container[key]
    else:
        container[key] = data.draw(values)
    return document


def refusal(call: Callable[[], object]) -> DecodeError:
    """Return the error of a call; another one's is a failure."""
    try:
        call()
    except DecodeError as error:
        return error
    return DecodeError("anything", "something that is fine")


@pytest.mark.parametrize(("name", "document"), DOCUMENTS)
@given(data=st.data())
def test_a_spoiled_document_is_read_or_refused_by_path(
    name: str, document: Any, data: st.DataObject
) -> None:
    value = spoiled(document, data)
    error = refusal(lambda: convert(value, "agentool", name))
    assert error.path.startswith("$")


@pytest.mark.parametrize("name", converters())
@given(data=st.data())
def test_whether_a_format_recognises_a_document_is_never_an_error(
    name: str, data: st.DataObject
) -> None:
    _, document = data.draw(st.sampled_from(DOCUMENTS))
    assert converter_named(name).recognises(spoiled(document, data)) in (True, False)


@pytest.mark.parametrize(("name", "document"), DOCUMENTS)
@given(data=st.data())
def test_what_was_kept_may_have_become_anything(
    name: str, document: Any, data: st.DataObject
) -> None:
    documents = converter_named(name).read(document)
    objects = [(type(document), spoiled(document.to_dict(), data)) for document in documents]
    error = refusal(lambda: from_agentool([decode(cls, item) for cls, item in objects], name))
    assert error.path.startswith("$")


ROOMS = {
    "mcp-tools": ("tools", "_meta"),
    "toolsmith": ("tools", "metadata"),
    "agent-tool": (None, "annotations"),
    "agent-spec": (None, "metadata"),
    "amplifier": (None, None),
}


@pytest.mark.parametrize("name", ROOMS)
@given(held=json_objects | values)
def test_what_others_hold_in_our_place_is_read_or_refused(name: str, held: Any) -> None:
    container, parent = ROOMS[name]
    document = copy.deepcopy(converter_named(name).normal(TOOLS[name]))
    tool = (document[container] if container else document)[0]
    tool |= {parent: {"agentool": held}} if parent else {"agentool": held}
    error = refusal(lambda: convert(document, "agentool", name))
    assert error.path.startswith("$")


@given(value=values | st.lists(values, max_size=2))
@pytest.mark.parametrize("name", converters())
def test_any_json_is_refused_or_a_document(name: str, value: Any) -> None:
    error = refusal(lambda: convert(value, "agentool", name))
    assert error.path.startswith("$")


@pytest.mark.parametrize("depth", [100, 900, 5000])
def test_deep_documents_are_converted_or_refused(depth: int) -> None:
    deep: Any = {}
    for _ in range(depth):
        deep = {"d": deep}
    tool = {"name": "t", "inputSchema": deep}
    error = refusal(lambda: convert([tool], "openai-tools", "mcp-tools"))
    assert "deep" in str(error) or "fine" in str(error)
