"""Classes and methods behave the same when decorated."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import inspect
import pickle
import typing
from collections.abc import Iterator
from typing import Any

import pytest

from agentool_otel.errors import ConfigurationError
from tests.guest.decorated import tool


class Base:
    def __init__(self, n: int = 0):
        self.n = n

    @tool
    def sync(self, by: int) -> int:
        return self.n + by

    @tool
    async def later(self, by: int) -> int:
        return self.n + by

    @tool
    def __iter__(self) -> Iterator[int]:
        yield self.n

    @tool
    async def __aenter__(self) -> Base:
        return self

    @tool
    async def __aexit__(self, *_: object) -> None: ...


class Derived(Base):
    def sync(self, by: int) -> Any:
        return super().sync(by) * 10

    async def later(self, by: int) -> Any:
        return await super().later(by) * 10


def test_super_and_bound_methods_reach_decorated_methods(spans: Any) -> None:
    derived = Derived(1)
    assert derived.sync(1) == 20
    assert asyncio.run(derived.later(2)) == 30
    bound = Base(1).later
    assert inspect.ismethod(bound)
    assert inspect.iscoroutinefunction(bound)
    assert pickle.loads(pickle.dumps(bound)).__self__.n == 1


def test_special_methods_can_be_decorated(spans: Any) -> None:
    async def use() -> Any:
        async with Base(3) as base:
            return base.n

    assert list(Base(2)) == [2]
    assert asyncio.run(use()) == 3
    assert [span.name for span in spans.finished()] == [
        "execute_tool __iter__",
        "execute_tool __aenter__",
        "execute_tool __aexit__",
    ]


def test_dataclasses_above_and_below(spans: Any) -> None:
    @tool
    @dataclasses.dataclass
    class Point:
        x: int
        y: int = 2

        @tool
        def length(self) -> int:
            return self.x + self.y

    assert Point(1) == Point(1, 2)
    assert str(inspect.signature(Point)) == "(x: 'int', y: 'int' = 2) -> None"
    assert Point(1).length() == 3
    assert [span.name for span in spans.finished()] == ["execute_tool Point"] * 3 + [
        "execute_tool length"
    ]


def test_a_class_without_an_init_still_takes_no_arguments(spans: Any) -> None:
    class Empty:
        def go(self) -> int:
            return 1

    before = inspect.signature(Empty)
    traced: Any = Empty
    assert tool(Empty) is Empty
    assert traced().go() == 1
    assert inspect.signature(traced) == before
    with pytest.raises(TypeError, match=r"Empty\(\) takes no arguments"):
        traced(1)


def test_a_class_with_an_inherited_init_or_new(spans: Any) -> None:
    @tool
    class Child(Base): ...

    @tool
    class Made:
        n: typing.ClassVar[int]

        def __new__(cls, n: int) -> Any:
            new = super().__new__(cls)
            new.__dict__["n"] = n
            return new

        def __init__(self, n: int): ...

    assert Child(4).n == 4
    assert Made(5).n == 5
    assert len(spans.finished()) == 2


def test_an_inherited_call_goes_by_the_name_of_the_decorated_class(spans: Any) -> None:
    class Doubler:
        async def __call__(self, n: int) -> int:
            return 2 * n

    @tool
    class Twice(Doubler): ...

    assert asyncio.run(Doubler()(1)) == 2
    assert asyncio.run(Twice()(2)) == 4
    assert spans.only().name == "execute_tool Twice"


def test_a_built_in_class_cannot_be_decorated() -> None:
    with pytest.raises(ConfigurationError, match="cannot decorate class dict"):
        tool(dict)


def test_cached_properties_and_partial_methods(spans: Any) -> None:
    class Box:
        heavy = tool(functools.cached_property(lambda self: True))

        def _add(self, n: int, to: int) -> int:
            return n + to

        add_one = tool(functools.partialmethod(_add, 1))

    box: Any = Box()
    assert (box.heavy, box.heavy, box.add_one(2)) == (True, True, 3)
    assert len(spans.finished()) == 2


def test_a_property_keeps_its_setter(spans: Any) -> None:
    class Box:
        _weight = 1

        def _get(self) -> int:
            return self._weight

        def _set(self, value: int) -> None:
            self._weight = value

        weight: Any = tool(property(_get, _set, doc="How heavy."))

    box = Box()
    box.weight = 7
    assert box.weight == 7
    assert Box.weight.__doc__ == "How heavy."
