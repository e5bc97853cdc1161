"""A requested and an executed call are compared in one way, by values and by hashes."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.model.evidence import contains, fingerprint, fits, is_equal_value, is_only_value

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text("ab", max_size=1), inner),
    max_leaves=4,
)
OBJECTS = st.dictionaries(st.text("abc", min_size=1, max_size=1), VALUES, max_size=3)


@given(requested=OBJECTS, executed=OBJECTS)
def test_hashes_say_what_the_values_say(requested: Any, executed: Any) -> None:
    by_value = is_equal_value(requested, executed) or contains(executed, requested)
    by_hash = fits(fingerprint(requested), fingerprint(executed))
    assert by_hash == by_value or not requested  # no arguments are contained in all


@given(requested=OBJECTS.filter(bool), others=OBJECTS)
def test_arguments_are_contained_whatever_is_beside_them(requested: Any, others: Any) -> None:
    executed = {**others, **requested}
    assert contains(executed, requested)
    assert fits(fingerprint(requested), fingerprint(executed))


@given(requested=OBJECTS.filter(bool))
def test_a_request_may_be_the_value_of_one_parameter(requested: Any) -> None:
    executed = {"arguments": requested, "limit": 5}
    assert contains(executed, requested)
    assert fits(fingerprint(requested), fingerprint(executed))


@pytest.mark.parametrize("arguments", [None, "text", 5, [1], {}])
def test_what_is_no_object_is_contained_in_nothing(arguments: Any) -> None:
    assert not contains({"a": 1}, arguments)
    assert not contains(arguments, {"a": 1})


def test_the_order_of_members_does_not_count() -> None:
    one, other = {"a": 1, "b": {"c": 2, "d": 3}}, {"b": {"d": 3, "c": 2}, "a": 1}
    assert fingerprint(one) == fingerprint(other)._replace(values=fingerprint(one).values)


def test_the_only_value_of_a_request_stands_for_it() -> None:
    assert is_only_value("Paris", {"city": "Paris"})
    assert not is_only_value("Paris", {"city": "Paris", "unit": "C"})
    assert not is_only_value("Paris", "Paris")
