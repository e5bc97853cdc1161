"""Beyond the table: every question about a callable has the same answer as without the
decorator.
"""

from __future__ import annotations

import asyncio
import copy
import functools
import inspect
import pickle
import pydoc
import typing
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from tests.guest.decorated import async_generator, coroutine, generator, plain, tool

KINDS: tuple[Any, ...] = (plain, coroutine, generator, async_generator)
kinds = pytest.mark.parametrize("fn", KINDS, ids=lambda fn: fn.__name__)


# --------------------------------------------------------------------------------------- arguments


@kinds
@pytest.mark.parametrize(
    ("args", "kwargs"),
    [((), {}), ((1, 2, 3), {}), ((1,), {"c": 3}), ((1,), {"a": 1})],
    ids=["missing", "too many", "unknown", "twice"],
)
def test_wrong_arguments_are_refused_by_the_call_itself(
    spans: Any, fn: Any, args: Any, kwargs: Any
) -> None:
    with pytest.raises(TypeError) as theirs:
        fn.__wrapped__(*args, **kwargs)
    with pytest.raises(TypeError) as ours:
        fn(*args, **kwargs)
    assert str(ours.value) == str(theirs.value)
    assert ours.value.__context__ is None


def test_the_real_arguments_of_a_wrapper_win_over_its_signature(spans: Any) -> None:
    def with_session(fn: Callable[..., Any]) -> Any:
        @functools.wraps(fn)
        async def given(*args: Any) -> Any:
            return await fn("session", *args)

        return given

    @tool
    @with_session
    async def query(session: str, text: str) -> str:
        return session + text

    assert asyncio.run(query(" asks")) == "session asks"


# ------------------------------------------------------------------------------------------- looks


@kinds
def test_a_decorated_function_is_pickled_by_its_name(fn: Any) -> None:
    assert pickle.loads(pickle.dumps(fn)) is fn
    assert copy.deepcopy(fn) is fn


def test_a_pickled_callable_object_is_still_recorded(spans: Any) -> None:
    again = pickle.loads(pickle.dumps(tool(functools.partial(pow, exp=3))))
    assert again(2) == 8
    assert spans.only().name == "execute_tool pow"


@kinds
def test_a_decorated_function_can_be_weakly_referenced(fn: Any) -> None:
    assert weakref.ref(fn)() is fn


@kinds
def test_help_types_and_full_argument_lists_are_those_of_the_original(fn: Any) -> None:
    original = fn.__wrapped__
    assert pydoc.render_doc(fn) == pydoc.render_doc(original)
    assert typing.get_type_hints(fn) == typing.get_type_hints(original)
    assert inspect.signature(fn) == inspect.signature(original)


@pytest.mark.parametrize("fn", KINDS[1:], ids=lambda fn: fn.__name__)
def test_code_and_defaults_of_a_suspended_function_are_the_originals(fn: Any) -> None:
    original = fn.__wrapped__
    assert inspect.getfullargspec(fn) == inspect.getfullargspec(original)
    assert fn.__code__ is original.__code__
    assert fn.__defaults__ == (2,)
    assert repr(fn) == repr(original)


def test_a_coroutine_or_generator_is_named_after_its_function(spans: Any) -> None:
    result: Any = coroutine(1)
    assert result.__qualname__ == "coroutine"
    assert inspect.iscoroutine(result)
    result.close()
    assert repr(generator(1)).startswith("<generator object generator at")


def test_attributes_of_a_callable_stay_within_reach(spans: Any) -> None:
    @tool
    @functools.lru_cache
    def cached(n: int) -> int:
        return n

    assert (cached(1), cached(1)) == (1, 1)
    assert cached.cache_info().hits == 1
    cached.cache_clear()
    assert cached.cache_info().currsize == 0


def test_a_callable_object_keeps_its_state_to_itself(spans: Any) -> None:
    class Counter:
        calls = 0

        async def __call__(self) -> int:
            self.calls += 1
            return self.calls

    counter = Counter()
    traced = tool(counter)
    traced.calls = 5
    assert asyncio.run(traced()) == 6
    assert counter.calls == traced.calls == 6
    assert inspect.iscoroutinefunction(traced.__call__)
    assert spans.only().name == "execute_tool Counter"


def test_a_callable_object_in_a_class_is_not_bound(spans: Any) -> None:
    class Double:
        def __call__(self, n: int) -> int:
            return 2 * n

    class Box:
        double = tool(Double())

    assert Box().double(2) == 4


def test_a_partial_in_a_class_is_bound_where_python_binds_it(spans: Any) -> None:
    def plain(*args: Any) -> tuple[Any, ...]:
        return args

    class Box:
        bare = functools.partial(plain, 1)
        double = tool(functools.partial(plain, 1))

    box = Box()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of Python 3.13: 3.14 binds it
        assert box.double(2) == box.bare(2)
