"""Any value has a JSON form, found without calling the value. `tests/guest` has the
hostile ones.
"""

from __future__ import annotations

import collections
import dataclasses
import datetime
import decimal
import enum
import json
import pathlib
import types
import uuid
from typing import Any, NamedTuple

import msgspec
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.content.encoding.encoder import Limits, encode, jsonable


class Point(NamedTuple):
    x: int


@dataclasses.dataclass
class Row:
    id: int
    kind = "row"


class Sub(Row):
    pass


class Color(enum.Enum):
    RED = "red"


class Priced(msgspec.Struct):
    price: float


class Thing:
    def __init__(self) -> None:
        self.inner = 1


def marker(kind: str, why: str = "opaque", **more: Any) -> dict[str, Any]:
    return {"$type": kind, "$unencodable": why, **more}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (Point(1), [1]),
        (Row(1), {"id": 1}),
        (Sub(1), {"id": 1}),
        (Priced(1.5), {"price": 1.5}),
        (Color.RED, "red"),
        ({Color.RED: Color.RED}, {"red": "red"}),
        ({1: "a", None: "b"}, {"1": "a", "null": "b"}),
        ({1: "a", "1": "b"}, {"1": "a", "1'": "b"}),
        ({(1, "x"): "a"}, {'[1,"x"]': "a"}),
        ({"a"}, ["a"]),
        (collections.deque([1]), [1]),
        (types.MappingProxyType({"a": (1,)}), {"a": [1]}),
        (b"text", "text"),
        (b"\xff\xfe", marker("bytes", "binary", **{"$length": 2})),
        (decimal.Decimal("1.10"), "1.10"),
        (pathlib.PurePosixPath("/a"), "/a"),
        (uuid.UUID(int=0), "00000000-0000-0000-0000-000000000000"),
        (datetime.date(2026, 1, 2), "2026-01-02"),
        (datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc), "2026-01-02T00:00:00+00:00"),
        (2**80, 2**80),
        ([2**20_000], [marker("int", "digits", **{"$length": 20_001})]),
        ([1.5, float("nan")], [1.5, marker("float", "nan")]),
        ("half \ud83d", "half \ufffd"),
        (ValueError("bad", 1), {"$type": "ValueError", "args": ["bad", 1]}),
        (Thing(), marker("tests.content.test_encoding.Thing")),
        (Thing, marker("type", **{"$text": "tests.content.test_encoding.Thing"})),
        ([iter([1])], [marker("list_iterator")]),
    ],
)  # fmt: skip
def test_any_value_has_a_json_form(value: Any, expected: Any) -> None:
    assert json.loads(encode(value)) == expected


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text()
        | st.floats(allow_nan=False, allow_infinity=False),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)  # fmt: skip
def test_a_plain_value_is_its_json(value: Any) -> None:
    assert encode(value) == orjson.dumps(value).decode()


def test_non_ascii_text_is_not_escaped() -> None:
    assert encode(["é", Color.RED]) == '["é","red"]'


def test_a_value_that_contains_itself_is_marked_as_circular() -> None:
    value: dict[str, Any] = {"n": 1}
    value["me"] = [value, value]
    assert jsonable(value) == {"n": 1, "me": [marker("dict", "circular")] * 2}


def test_a_value_that_occurs_twice_is_written_twice() -> None:
    shared = [Color.RED]
    assert jsonable([shared, shared]) == [["red"], ["red"]]


@pytest.mark.parametrize(
    ("limits", "value", "expected"),
    [
        (Limits(depth=2), [[[[1]]]], [[{"$type": "list", "$truncated": "depth", "$length": 1}]]),
        (Limits(nodes=4), {"a": {1}, **{str(n): n for n in range(20)}},
         {"a": [1], "$truncated": "nodes", "$length": 21}),
        (Limits(nodes=4), [{1}, 2, 3, 4], [[1], {"$truncated": "nodes", "$length": 4}]),
        (Limits(characters=3), ["abcde", "f"],
         ["abc… [truncated: 5 characters]", {"$truncated": "characters", "$length": 2}]),
        (Limits(seconds=-1, nodes=257), [set()], {"$truncated": "seconds", "$length": 1}),
    ],
)  # fmt: skip
def test_a_limit_leaves_valid_json_and_a_mark(limits: Limits, value: Any, expected: Any) -> None:
    assert json.loads(encode(value, limits)) == expected


def test_nesting_too_deep_for_orjson_is_cut() -> None:
    value: Any = "bottom"
    for _ in range(5000):
        value = (value,)  # orjson 3.13 overruns its buffer here
    assert encode(value).count("[") == 100


def test_a_copy_is_unaffected_by_later_changes() -> None:
    value = {"a": [1]}
    copy = jsonable(value)
    value["a"].append(2)
    assert copy == {"a": [1]}


@pytest.mark.parametrize("huge", [list(range(300_000)), ["x" * 4096] * 500])
def test_a_huge_argument_leaves_the_small_ones_beside_it_whole(huge: list[Any]) -> None:
    arguments = {"records": huge, "limit": 5, "query": {"city": "Malmö"}}
    limits = Limits(nodes=100, characters=100_000)
    document = json.loads(encode(arguments, limits))
    assert document["limit"] == 5
    assert document["query"] == {"city": "Malmö"}
    assert document["records"][-1]["$truncated"]
