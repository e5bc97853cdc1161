"""Converted documents are read back without the name of their format, for every pair."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.converters import convert, converter_named
from tests.converters.documents import FORMATS, documents_of, runs, task_files
from tests.strategies import exact

FILES: dict[str, st.SearchStrategy[Any]] = {
    **{name: documents_of(name) for name in FORMATS},
    "toolsmith tasks": task_files,
    "toolsmith runs": runs,
}


@pytest.mark.parametrize("target", FORMATS)
@settings(max_examples=50)
@given(data=st.data())
def test_what_is_written_is_read_back_without_its_name(target: str, data: st.DataObject) -> None:
    """As the same documents, except data that a similar format keeps under its own name."""
    takes_all = target in ("agentool", "toolsmith")  # the others have tools alone
    names = [name for name in (FILES if takes_all else FORMATS) if name != target]
    source = data.draw(st.sampled_from(names))
    value = data.draw(FILES[source])
    written = convert(value, target, source.partition(" ")[0]).value
    again = convert(written, "agentool")
    expected = converter_named("agentool").write(converter_named(target).read(written))
    if again.source == target:
        assert exact(again.value) == exact(expected)
    else:
        assert (target, again.source) in ALIKE
        assert without_kept(again.value) == without_kept(expected)


ALIKE = {("amplifier", "anthropic-tools")}
"""Formats whose tools may look the same: written, and read."""


def without_kept(value: Any) -> Any:
    tools = value if isinstance(value, list) else [value]
    return [{**tool, "metadata": None} for tool in tools]
