"""JSON text for what leaves the process is always UTF-8."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.ground.json_codec import dumps, dumps_as_utf8, loads

texts = st.text(st.characters(codec=None, exclude_categories=()))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


@given(values)
def test_any_value_has_a_form_in_utf8(value: Any) -> None:
    assert dumps_as_utf8(value).encode()


@given(values)
def test_a_value_that_utf8_can_hold_is_as_always(value: Any) -> None:
    text = dumps(value)
    if "\\ud" not in text:
        assert loads(dumps_as_utf8(value)) == loads(text)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("ok \ud83e end", "ok \ufffd end"),
        ("\udc00", "\ufffd"),
        ("\ud83d\ude00", "\U0001f600"),
        ("a\ud83d", "a\ufffd"),
        ("plain é", "plain é"),
    ],
)
def test_a_lone_surrogate_is_replaced(text: str, written: str) -> None:
    assert loads(dumps_as_utf8({"t": [text, 1 << 70]})) == {"t": [written, 1 << 70]}
