"""A decorated callable keeps its identity, parameters and results.

Rows of the table of decorator behaviour: each test is named as its row. No other package that was
measured in 2026 passes all of them.
"""

from __future__ import annotations

import asyncio
import contextvars
import functools
import inspect
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, cast

import pytest

from agentool_otel.tracing.capture import tool

Decorator = Callable[[Any], Any]


# ------------------------------------------------------------------------------- what it looks like


def test_the_generator_protocol_is_kept(spans: Any, decorator: Decorator) -> None:
    @decorator
    def echo() -> Any:
        got = yield "ready"
        try:
            yield got
        except KeyError as error:
            yield error.args
        return "over"

    talk = echo()
    assert inspect.isgenerator(cast("object", talk))
    assert next(talk) == "ready"
    assert talk.send("hello") == "hello"
    assert talk.throw(KeyError("k")) == ("k",)
    with pytest.raises(StopIteration) as stop:
        next(talk)
    assert stop.value.value == "over"
    assert len(spans.finished()) == 1


async def _coroutine(a: int, *, b: int = 1) -> None: ...
def _generator(a: int, *, b: int = 1) -> Iterator[int]:
    yield a


async def _async_generator(a: int, *, b: int = 1) -> AsyncIterator[int]:
    yield a


def _plain(a: int, *, b: int = 1) -> int:
    return a


@pytest.mark.parametrize("fn", [_plain, _coroutine, _generator, _async_generator])
def test_inspect_sees_no_difference(decorator: Decorator, fn: Any) -> None:
    wrapped = decorator(fn)
    for look in (
        inspect.iscoroutinefunction,
        inspect.isgeneratorfunction,
        inspect.isasyncgenfunction,
        inspect.isfunction,
        inspect.isroutine,
        inspect.signature,
        inspect.getsource,
        inspect.getdoc,
        inspect.getmodule,
        callable,
    ):
        assert look(wrapped) == look(fn), look
    for name in ("__name__", "__qualname__", "__doc__", "__module__", "__annotations__"):
        assert getattr(wrapped, name) == getattr(fn, name)


@pytest.mark.parametrize("above", [True, False], ids=["above", "below"])
def test_decorators_combine_with_classmethod_and_staticmethod(
    spans: Any, decorator: Decorator, above: bool
) -> None:
    def both(builtin: Any) -> Callable[[Any], Any]:
        return lambda fn: decorator(builtin(fn)) if above else builtin(decorator(fn))

    class Box:
        @both(classmethod)
        def made(cls: Any, n: int) -> Any:
            return cls, n

        @both(staticmethod)
        def static(n: Any) -> Any:
            return n

        @both(property)
        def heavy(self) -> int:
            return 3

    class Crate(Box): ...

    assert Box.made(1) == (Box, 1)
    assert Crate().made(1) == (Crate, 1)
    assert (Box.static(2), Box().static(2), Box().heavy) == (2, 2, 3)
    assert len(spans.finished()) == 5


def test_a_decorated_class_stays_a_class(spans: Any, decorator: Decorator) -> None:
    @decorator
    class Search:
        def __init__(self, index: str):
            self.index = index

    class Deep(Search):
        def __init__(self) -> None:
            super().__init__("deep")

    assert isinstance(Search, type)
    assert type(Search) is type
    assert isinstance(Search("web"), Search)
    assert issubclass(Deep, Search)
    assert Deep().index == "deep"
    assert len(spans.finished()) == 1


def test_self_is_kept_out_of_the_recorded_input(spans: Any) -> None:
    class Box:
        @tool
        def lift(self, weight: int) -> None: ...

        @tool
        @classmethod
        def make(cls, weight: int) -> None: ...

        @tool
        async def drop(self, weight: int) -> None: ...

    Box().lift(1)
    Box.make(1)
    asyncio.run(Box().drop(1))
    attributes = {span.attributes["gen_ai.tool.call.arguments"] for span in spans.finished()}
    assert attributes == {'{"weight":1}'}


def test_partials_and_callable_objects_can_be_decorated(spans: Any, decorator: Decorator) -> None:
    class Doubler:
        factor = 2

        def __call__(self, n: int) -> int:
            return self.factor * n

    doubler, partial = Doubler(), functools.partial(_plain, b=2)
    traced_object, traced_partial = decorator(doubler), decorator(partial)
    doubler.factor = 3
    assert (traced_object(2), traced_partial(5)) == (6, 5)
    assert isinstance(traced_object, Doubler)
    assert traced_object.factor == 3
    assert (traced_partial.func, traced_partial.keywords) == (_plain, {"b": 2})
    assert len(spans.finished()) == 2


# -------------------------------------------------------------------------------- hostile arguments


class Hostile:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError(f"no {name}")


def circular() -> list[Any]:
    results: list[Any] = [{}]
    results[0]["again"] = results
    return results


def deep() -> list[Any]:
    results: list[Any] = []
    for _ in range(5000):
        results = [results]
    return results


def passes(spans: Any, decorator: Decorator, value: Any) -> None:
    """The value comes back as the object it is, from one span without error.

    How it is written is the encoder's affair, and has tests of its own.
    """
    assert decorator(lambda value: value)(value) is value
    assert spans.only().status.is_unset
    spans.forget()


def test_an_argument_whose_repr_and_attributes_raise(spans: Any, decorator: Decorator) -> None:
    passes(spans, decorator, Hostile())


def test_a_circular_argument(spans: Any, decorator: Decorator) -> None:
    passes(spans, decorator, circular())


def test_a_dict_with_tuple_keys(spans: Any, decorator: Decorator) -> None:
    passes(spans, decorator, {(1, 2): "tuple"})


def test_a_list_nested_5000_deep(spans: Any, decorator: Decorator) -> None:
    passes(spans, decorator, deep())


def test_a_20_mb_argument(spans: Any, decorator: Decorator) -> None:
    passes(spans, decorator, "x" * 20_000_000)


# ------------------------------------------------------------------------------------------- values


def test_input_is_recorded_as_it_was_before_the_call(spans: Any) -> None:
    @tool
    def clear(items: list[int]) -> None:
        items.clear()

    @tool
    async def clear_later(items: list[int]) -> None:
        await asyncio.sleep(0)
        items.clear()

    clear([1, 2])
    asyncio.run(clear_later([1, 2]))
    attributes = [span.attributes["gen_ai.tool.call.arguments"] for span in spans.finished()]
    assert attributes == ['{"items":[1,2]}'] * 2


def test_a_decorated_call_in_a_fresh_context_leaves_nothing_behind(
    spans: Any, decorator: Decorator
) -> None:
    """The 29th row is its cost: `python -m benchmarks live` measures that."""

    @decorator
    def nothing() -> None: ...

    fresh = contextvars.Context()
    fresh.run(nothing)
    from opentelemetry import trace

    assert not fresh.run(trace.get_current_span).get_span_context().is_valid
