"""A method is wrapped for one object: for copies of it and all others nothing changes."""

from __future__ import annotations

import copy
import gc
from typing import Any

import pytest

from agentool_otel.integrations.amplifier.hook import methods
from agentool_otel.integrations.amplifier.hook.methods import wrap


class Tool:
    def __init__(self, city: str):
        self.city = city

    def execute(self, greeting: str = "Hello") -> str:
        return f"{greeting}, {self.city}"


class Child(Tool):
    def execute(self, greeting: str = "Hello") -> str:
        return super().execute(greeting) + "!"


@pytest.fixture
def told() -> list[Any]:
    return []


@pytest.fixture
def around(told: list[Any]) -> methods.Around:
    def note(method: Any, args: Any, kwargs: Any) -> Any:
        told.append((args, kwargs))
        return method(*args, **kwargs)

    return note


@pytest.fixture(autouse=True)
def _nothing_stays() -> Any:
    before = [vars(cls)["execute"] for cls in (Tool, Child)]
    yield
    for cls, method in zip((Tool, Child), before, strict=True):
        assert vars(cls)["execute"] is method  # a wrapper would be equal to it
    assert methods._wrapped == {}


def test_a_copy_runs_as_itself(told: list[Any], around: methods.Around) -> None:
    rome = Tool("Rome")
    undo = wrap(rome, "execute", around)
    assert undo is not None
    for copied in (copy.copy(rome), copy.deepcopy(rome), Tool("Rome")):
        copied.city = "Oslo"
        assert copied.execute() == "Hello, Oslo"
        assert vars(copied) == {"city": "Oslo"}
        with_method: Any = copied
        assert with_method.execute.__self__ is copied
    assert told == []
    assert rome.execute("Ave") == "Ave, Rome"
    assert told == [(("Ave",), {})]
    undo()
    assert rome.execute() == "Hello, Rome"
    assert len(told) == 1


def test_a_class_and_the_one_below_it_are_each_wrapped_once(
    told: list[Any], around: methods.Around
) -> None:
    above, below = Tool("Rome"), Child("Oslo")
    undone = [wrap(above, "execute", around), wrap(below, "execute", around)]
    assert below.execute() == "Hello, Oslo!"
    assert len(told) == 1
    assert above.execute() == "Hello, Rome"
    assert len(told) == 2
    for undo in undone:
        assert undo is not None
        undo()


def test_the_wrapper_stays_while_another_object_needs_it(
    told: list[Any], around: methods.Around
) -> None:
    rome, oslo = Tool("Rome"), Tool("Oslo")
    first, second = wrap(rome, "execute", around), wrap(oslo, "execute", around)
    assert first is not None
    assert second is not None
    assert wrap(rome, "execute", around) is None
    first()
    rome.execute()
    assert told == []
    oslo.execute()
    assert len(told) == 1
    second()


def test_a_method_that_an_object_has_of_its_own_is_wrapped_there(
    told: list[Any], around: methods.Around
) -> None:
    def give(value: int) -> int:
        return value

    tool: Any = Tool("Rome")
    tool.execute = give
    undo = wrap(tool, "execute", around)
    assert undo is not None
    assert tool.execute(1) == 1
    assert told == [((1,), {})]
    undo()
    assert tool.execute is give


def test_a_method_that_was_replaced_may_be_wrapped_again(
    told: list[Any], around: methods.Around
) -> None:
    tool: Any = Tool("Rome")
    first = wrap(tool, "execute", around)
    tool.execute = lambda: "other"
    second = wrap(tool, "execute", around)
    assert first is not None
    assert second is not None
    assert tool.execute() == "other"
    assert len(told) == 1
    first()
    assert tool.execute() == "other"
    assert len(told) == 2
    second()


def test_what_takes_no_wrapper_stays_as_it_is(around: methods.Around) -> None:
    class Closed:
        __slots__ = ()

        def execute(self) -> int:
            return 1

    assert wrap(Closed(), "execute", around) is None
    assert wrap(Tool("Rome"), "missing", around) is None
    assert wrap([], "append", around) is None


def test_an_object_that_is_gone_is_forgotten(around: methods.Around) -> None:
    tool, own = Tool("Rome"), Tool("Oslo")
    vars(own)["execute"] = len
    undo = wrap(tool, "execute", around)
    assert wrap(own, "execute", around) is not None
    del tool, own
    gc.collect()
    assert methods._wrapped == {}
    assert undo is not None
    undo()
