"""Plain values in shapes that nobody expects."""

from __future__ import annotations

import array
import collections
from collections.abc import Callable
from typing import Any

from tests.guest.hostile.making import Kinds

__all__ = ["KINDS"]

KINDS = Kinds()


@KINDS.named("circular list")
def _circular_list() -> Any:
    value: list[Any] = [1]
    value.append(value)
    return value


@KINDS.named("circular dict")
def _circular_dict() -> Any:
    value: dict[str, Any] = {"name": "loop"}
    value["self"] = value
    return value


@KINDS.named("two values that hold each other")
def _mutual() -> Any:
    one: dict[str, Any] = {}
    one["other"] = [{"back": one}]
    return one


def _nested(outer: Callable[[Any], Any], depth: int) -> Any:
    value: Any = "bottom"
    for _ in range(depth):
        value = outer(value)
    return value


@KINDS.named("every level twice the one below")
def _doubled() -> Any:
    value: Any = "ha"
    for _ in range(64):  # 2**64 leaves, 64 lists
        value = [value, value]
    return value


KINDS.add(
    lists_5000_deep=lambda: _nested(lambda inner: [inner], 5000),
    dicts_5000_deep=lambda: _nested(lambda inner: {"next": inner}, 5000),
    tuples_5000_deep=lambda: _nested(lambda inner: (inner,), 5000),
    list_of_300_000=lambda: list(range(300_000)),
    dict_of_100_000=lambda: {str(i): [i] for i in range(100_000)},
    text_of_20_MB=lambda: "x" * 20_000_000,
    text_of_20_MB_beyond_ASCII=lambda: "\N{PARTY POPPER}é" * 3_400_000,
    bytes_of_20_MB=lambda: bytes(20_000_000),
    not_a_number=lambda: {"score": float("nan")},
    infinities=lambda: [float("inf"), float("-inf")],
    keys_that_are_tuples=lambda: {(1, 2): "a", ("x", None): "b"},
    keys_of_all_kinds=lambda: {
        7: "a",
        None: "b",
        True: "c",
        2.5: "d",
        b"\xff": "e",
        frozenset(): 1,
    },
    key_that_is_an_object=lambda: {object(): 1},
    integer_of_20_000_bits=lambda: 1 << 20_000,
    integer_beyond_64_bits=lambda: [2**64, -(2**70)],
    lone_surrogate=lambda: "half \ud83d of it",
    lone_surrogate_as_key=lambda: {"\udce9": ["\udfff"]},
    control_characters=lambda: "\0\x1b[31m\x7f\u2028\ufeff",
    bytes_that_are_no_text=lambda: b"\xff\xfe\x00",
    bytearray=lambda: bytearray(b"abc"),
    memoryview=lambda: memoryview(b"abc"),
    memoryview_of_numbers=lambda: memoryview(array.array("d", [1.0, 2.0])),
    set=lambda: {1, "a", (2, 3)},
    frozenset=lambda: frozenset({frozenset({1}), 2}),
    deque=lambda: collections.deque([1, [2]], maxlen=5),
    range_of_a_trillion=lambda: range(10**12),
    complex=lambda: 1 + 2j,
    ellipsis=lambda: [..., NotImplemented],
)


@KINDS.named("released memoryview")
def _released() -> Any:
    view = memoryview(b"abc")
    view.release()
    return view
