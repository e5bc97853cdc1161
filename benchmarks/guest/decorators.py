"""The decorator table: a decorated tool as the program around it sees it.

A program runs in the SDK's own environment, in a process of its own; what it returns and what
arrived at the receiver are judged afterwards, elsewhere.
"""

# The programs are untyped on purpose: they are what a user might write under any SDK.
# mypy: disable-error-code="no-untyped-def,no-untyped-call,no-any-return"
# pyright: basic
from __future__ import annotations

import asyncio
import contextvars
import functools
import gc
import inspect
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from benchmarks.guest._judging import (
    HUGE,
    PAUSE_S,
    as_cancelled,
    as_it_was,
    bounded,
    covered,
    ended,
    exported,
    harmless,
    no_context_error,
    not_swallowed,
    nothing_lost,
    parent_kept,
    stays_a_class,
    two_spans,
    unchanged,
    without_self,
    yielded,
)
from benchmarks.guest._table import Row

__all__ = ["ROWS"]

# ------------------------------------------------------------------------ coroutines, generators


def coroutine(sdk: Any) -> None:
    @sdk.tool
    async def waiting():
        await asyncio.sleep(PAUSE_S)

    asyncio.run(waiting())


def parallel(sdk: Any) -> None:
    @sdk.tool
    async def inner(n):
        await asyncio.sleep(0.001 * n)

    @sdk.tool
    async def outer():
        await asyncio.gather(*(inner(n) for n in range(4)))

    asyncio.run(outer())


def generator(sdk: Any) -> list[str]:
    @sdk.tool
    def rows():
        yield "alpha-7391"
        time.sleep(PAUSE_S)
        yield "beta-7391"

    return list(rows())


def async_generator(sdk: Any) -> list[str]:
    @sdk.tool
    async def rows():
        yield "alpha-7391"
        await asyncio.sleep(PAUSE_S)
        yield "beta-7391"

    async def read():
        return [row async for row in rows()]

    return asyncio.run(read())


def dropped_generator(sdk: Any) -> None:
    @sdk.tool
    def rows():
        yield 1
        yield 2

    reading = rows()
    next(reading)
    del reading
    gc.collect()


def left_async_generator(sdk: Any) -> None:
    @sdk.tool
    async def rows():
        yield 1
        yield 2

    async def read():
        async for _ in rows():
            break

    asyncio.run(read())


def consumer(sdk: Any) -> None:
    @sdk.tool
    def inner():
        return 1

    @sdk.tool
    def outer():
        yield 1
        yield 2

    for _ in outer():
        inner()


def protocol(sdk: Any) -> list[str]:
    @sdk.tool
    def echo():
        got = yield "ready"
        try:
            yield got
        except KeyError:
            yield "caught"
        return "over"

    lost = []
    talk = echo()
    next(talk)
    for name, argument, expected in (("send", "hello", "hello"), ("throw", KeyError(), "caught")):
        try:
            if getattr(talk, name)(argument) != expected:
                lost.append(name)
        except BaseException:
            lost.append(name)
    try:
        next(talk)
        lost.append("return value")
    except StopIteration as stop:
        if stop.value != "over":
            lost.append("return value")
    except BaseException:
        lost.append("return value")
    return lost


# ------------------------------------------------------------------------------ what it looks like


def kinds(sdk: Any) -> list[str]:
    def plain(a: int, *, b: str = "x") -> int:
        """Do it."""
        return a

    async def waits(a: int) -> int:
        return a

    def yields(a: int):
        yield a

    async def both(a: int):
        yield a

    questions: tuple[Callable[[Any], Any], ...] = (
        inspect.iscoroutinefunction,
        inspect.isgeneratorfunction,
        inspect.isasyncgenfunction,
        inspect.signature,
    )
    changed = {
        getattr(question, "__name__", "")
        for fn in (plain, waits, yields, both)
        for question in questions
        if question(fn) != question(sdk.tool(fn))
    }
    named = sdk.tool(plain)
    if (named.__name__, named.__doc__) != ("plain", "Do it."):
        changed.add("name")
    return sorted(changed)


def above_classmethod(sdk: Any) -> int:
    class Box:
        @sdk.tool
        @classmethod
        def made(cls, n):
            return n + 1

    return Box.made(1) + Box().made(1)


def above_staticmethod(sdk: Any) -> int:
    class Box:
        @sdk.tool
        @staticmethod
        def made(n):
            return n + 1

    return Box.made(1) + Box().made(1)


def decorated_class(sdk: Any) -> list[str]:
    class Doubler:
        def __call__(self, n):
            return 2 * n

    decorated = sdk.tool(Doubler)
    wrong = []
    if not isinstance(decorated, type):
        wrong.append("no longer a class")
    elif not isinstance(decorated(), decorated):
        wrong.append("instances are not its own")
    if decorated()(2) != 4:
        wrong.append("calls give something else")
    return wrong


def method(sdk: Any) -> None:
    class Box:
        def __repr__(self):
            return "myself-7391"

        @sdk.tool
        def opened(self, how):
            return None

    Box().opened("argument-7391")


def partial_and_object(sdk: Any) -> list[int]:
    class Doubler:
        def __call__(self, n):
            return 2 * n

    return [sdk.tool(functools.partial(pow, exp=5))(2), sdk.tool(Doubler())(4)]


# --------------------------------------------------------------------------------- hard arguments


def _called_with(make: Callable[[], Any]) -> Callable[[Any], bool]:
    def run(sdk: Any) -> bool:
        @sdk.tool
        def taking(value):
            return 42

        return taking(make()) == 42

    return run


class _Hostile:
    def __repr__(self):
        raise RuntimeError("no repr")

    def __getattr__(self, name):
        raise RuntimeError("no attributes")


def _circular() -> Any:
    value: Any = {"list": []}
    value["list"].append(value)
    return value


def _deep() -> Any:
    value: list[Any] = []
    for _ in range(5000):
        value = [value]
    return value


def mutated(sdk: Any) -> None:
    @sdk.tool
    def taking(value):
        value["it"] = "after-7391"

    taking({"it": "before-7391"})


def huge(sdk: Any) -> float:
    @sdk.tool
    def taking(value):
        return None

    value = "huge-7391 " * (HUGE // 10)
    began = time.thread_time()
    taking(value)
    return time.thread_time() - began


# --------------------------------------------------------------------- ends that are no exceptions


def interrupted(sdk: Any) -> list[str]:
    @sdk.tool
    def pressed():
        raise KeyboardInterrupt

    @sdk.tool
    def leaving():
        raise SystemExit(3)

    @sdk.tool
    def later():
        return None

    raised = []
    for call in (pressed, leaving):
        try:
            call()
        except BaseException as error:
            raised.append(type(error).__name__)
    later()
    return raised


def cancelled(sdk: Any) -> bool:
    @sdk.tool
    async def waiting():
        await asyncio.sleep(60)

    async def cancel():
        task = asyncio.create_task(waiting())
        await asyncio.sleep(0.01)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            return task.cancelled()
        return False

    return asyncio.run(cancel())


# --------------------------------------------------------------------------------------- threads


def _elsewhere(start: Callable[[Callable[[], Any]], object]) -> Callable[[Any], None]:
    def run(sdk: Any) -> None:
        @sdk.tool
        def inner():
            return None

        @sdk.tool
        def outer():
            start(inner)

        contextvars.Context().run(outer)

    return run


def _thread(fn: Callable[[], Any]) -> None:
    thread = threading.Thread(target=fn)
    thread.start()
    thread.join()


def _timer(fn: Callable[[], Any]) -> None:
    timer = threading.Timer(0.001, fn)
    timer.start()
    timer.join()


def _submit(fn: Callable[[], Any]) -> None:
    with ThreadPoolExecutor(1) as pool:
        pool.submit(fn).result()


def _run_in_executor(sdk: Any) -> None:
    @sdk.tool
    def inner():
        return None

    @sdk.tool
    async def outer():
        await asyncio.get_running_loop().run_in_executor(None, inner)

    asyncio.run(outer())


def _to_thread(sdk: Any) -> None:
    @sdk.tool
    def inner():
        return None

    @sdk.tool
    async def outer():
        await asyncio.to_thread(inner)

    asyncio.run(outer())


ROWS = (
    Row("`async def` covered for its whole run", coroutine, covered("waiting")),
    Row("children of parallel coroutines keep their parent", parallel, parent_kept),
    Row("generator: span covers the iteration", generator, covered("rows")),
    Row("async generator: span covers the iteration", async_generator, covered("rows")),
    Row("yielded values recorded", generator, yielded),
    Row("generator dropped after one item: span exported", dropped_generator, exported),
    Row("async generator left with `break`: span exported", left_async_generator, exported),
    Row('... without a "different Context" error', left_async_generator, no_context_error),
    Row("consumer's own spans are not the generator's children", consumer, not_swallowed),
    Row("generator protocol: send, throw, return value", protocol, nothing_lost, decorates=True),
    Row("kind, signature, name and doc unchanged", kinds, unchanged, decorates=True),
    Row("above `@classmethod`", above_classmethod, two_spans(4), decorates=True),
    Row("above `@staticmethod`", above_staticmethod, two_spans(4), decorates=True),
    Row("a decorated class stays a class", decorated_class, stays_a_class, decorates=True),
    Row("`self` kept out of the recorded input", method, without_self, decorates=True),
    Row(
        "partial and callable object, bare decorator",
        partial_and_object,
        two_spans([32, 8]),
        decorates=True,
    ),
    Row("argument whose repr and attributes raise", _called_with(_Hostile), harmless),
    Row("circular argument", _called_with(_circular), harmless),
    Row("dict with tuple keys", _called_with(lambda: {(1, 2): 3}), harmless),
    Row("list nested 5,000 deep", _called_with(_deep), harmless),
    Row("KeyboardInterrupt and SystemExit end the span", interrupted, ended),
    Row("status of a cancelled tool", cancelled, as_cancelled),
    Row("parent kept in `threading.Thread`", _elsewhere(_thread), parent_kept),
    Row("parent kept in `threading.Timer`", _elsewhere(_timer), parent_kept),
    Row("parent kept in `ThreadPoolExecutor.submit`", _elsewhere(_submit), parent_kept),
    Row("parent kept in `run_in_executor`", _run_in_executor, parent_kept),
    Row("parent kept in `asyncio.to_thread`", _to_thread, parent_kept),
    Row("input recorded as it was before the call", mutated, as_it_was),
    Row("argument of 20 MB", huge, bounded),
)
