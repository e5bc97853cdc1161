"""Things with a state of their own, which looking at them may change."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import io
import itertools
import queue
import socket
import sys
import threading
import weakref
from collections.abc import AsyncGenerator, Generator, Iterator
from typing import Any

from tests.guest.hostile.making import TOUCHED, Kinds
from tests.guest.hostile.standard_library import Order

__all__ = ["KINDS"]

KINDS = Kinds()


def _counting() -> Generator[int, None, None]:
    for number in range(3):
        TOUCHED.append("next")
        yield number


async def _counting_async() -> AsyncGenerator[int, None]:
    TOUCHED.append("anext")
    yield 1


class Reader:
    """An iterator that is used up by looking."""

    def __iter__(self) -> Iterator[int]:
        TOUCHED.append("__iter__")
        return self

    def __next__(self) -> int:
        TOUCHED.append("__next__")
        return 1


@KINDS.named("queue with an item")
def _queue() -> Any:
    result: queue.Queue[int] = queue.Queue()
    result.put(1)
    return result


@KINDS.named("simple queue with an item")
def _simple_queue() -> Any:
    simple_queue: queue.SimpleQueue[int] = queue.SimpleQueue()
    simple_queue.put(1)
    return simple_queue


@KINDS.named("held lock")
def _held() -> Any:
    lock = threading.Lock()
    lock.acquire()
    return lock


class Target:
    """Something weak references can point to."""


_alive = Target()


@KINDS.named("proxy of an object that is gone")
def _dead_proxy() -> Any:
    return weakref.proxy(Target())


@KINDS.named("closed file")
def _closed_file() -> Any:
    file = io.StringIO("text")
    file.close()
    return file


@KINDS.named("closed socket")
def _closed_socket() -> Any:
    with socket.socket() as result:
        return result


@KINDS.named("exception with a cause")
def _caused() -> Any:
    try:
        try:
            raise ValueError("inner")
        except ValueError as error:
            raise KeyError("outer") from error
    except KeyError as error:
        return error


@KINDS.named("traceback and frame")
def _traceback() -> Any:
    try:
        raise ValueError
    except ValueError as error:
        return [error.__traceback__, sys._getframe()]


KINDS.add(
    generator=_counting,
    iterator=lambda: iter([1, 2, 3]),
    iterator_used_up_by_looking=Reader,
    endless_iterator=itertools.count,
    endless_map=lambda: map(abs, itertools.count()),
    async_generator=_counting_async,
    asyncio_queue=asyncio.Queue,
    lock=threading.Lock,
    recursive_lock=threading.RLock,
    event=threading.Event,
    thread=lambda: threading.Thread(target=print),
    thread_local=threading.local,
    text_stream=lambda: io.StringIO("text"),
    byte_stream=lambda: io.BytesIO(b"bytes"),
    weak_reference=lambda: weakref.ref(_alive),
    dead_weak_reference=lambda: weakref.ref(Target()),
    proxy=lambda: weakref.proxy(_alive),
    weak_dictionary=lambda: weakref.WeakValueDictionary({"a": _alive}),
    context=contextvars.copy_context,
    context_variable=lambda: contextvars.ContextVar("v"),
    class_itself=lambda: Order,
    builtin_type=lambda: [int, type, type(None)],
    generic_alias=lambda: [list[int], dict[str, Any]],
    function=lambda: _counting,
    anonymous_function=lambda: lambda: None,
    method=lambda: Order(1).__eq__,
    builtin_function=lambda: print,
    partial=lambda: functools.partial(print, "a"),
    module=lambda: sys,
    exception=lambda: ValueError("bad", 1),
    plain_object=object,
)
