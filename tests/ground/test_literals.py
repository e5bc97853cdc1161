"""Printed values of programs are read, except those that would take long."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.dialects.kit import langchain_values
from agentool_otel.dialects.kit.python_text import call_in, value_in
from agentool_otel.ground.literals import is_printed, literal

LONG = 30_000
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.text()
    | st.floats(allow_nan=False),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
).filter(lambda item: "inf" not in repr(item))


@pytest.mark.thorough
@given(VALUES)
def test_what_was_printed_is_read_however_long_it_is(value: Any) -> None:
    values = [value] * (LONG // len(repr(value)) + 1)
    assert literal(repr(values), 10 * LONG) == values
    assert literal(repr({"a": values}), 10 * LONG) == {"a": values}


def test_an_embedding_is_read() -> None:
    numbers = [-0.012345678901234567, 1e-07, 1700000000.123456789] * 1000
    assert literal(repr(numbers), 10 * LONG) == numbers


@pytest.mark.parametrize(
    ("begin", "unit", "end"),
    [
        ("f'", "{a}", "'"),
        ("[F'", "{a}", "']"),
        ("{'a': rf\"", "{a}", '"}'),
        ("['''\"''', f'", "{a}", "']"),
        ("['a' # '\n, f'", "{a}", "']"),
        ("{", f"{2**61 - 1}, ", "1}"),
        ("[", "a, ", "1]"),
        ("'", "a", ""),
    ],
)
def test_a_long_text_that_is_no_value_or_a_slow_one_stays_text(
    begin: str, unit: str, end: str
) -> None:
    text = f"{begin}{unit * (LONG // len(unit))}{end}"
    assert value_in(text) is text
    with pytest.raises(ValueError, match="literal"):
        literal(text, 2 * LONG)


def test_a_text_is_read_up_to_a_length() -> None:
    assert literal("[1, 2]", 6) == [1, 2]
    with pytest.raises(ValueError, match="literal"):
        literal("[1, 2]", 5)


def test_a_printed_call_is_read_however_long_it_is() -> None:
    arguments = {"words": ["it's", "b"] * 2000}
    printed = f"ToolCall(tool_id='1', tool_kwargs={arguments!r})"
    assert call_in(printed, "ToolCall") == {"tool_id": "1", "tool_kwargs": arguments}
    assert not is_printed(f"ToolCall(tool_id=f'{'{a}' * LONG}')")


def test_the_content_of_a_printed_message_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(text: str) -> Any:
        read.append(text)
        return value_in(text)

    monkeypatch.setattr(langchain_values, "value_in", counted)
    output = " id= name= it's" * 100
    message = langchain_values.parse_printed_messages(f"content={output!r} id='run-1'")
    assert message == {"type": "ai", "content": output}
    assert read == [repr(output)]
