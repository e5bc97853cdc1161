"""Streams and raw responses of client libraries, watched from outside.

A proxy passes everything on: `isinstance`, attributes, laziness, iteration and context management
are those of the object inside. It only passes the items to an `Ending`. Nothing is attached to the
OTel context here, so nothing can stay attached across a `yield`.
"""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, Any, cast
from weakref import finalize

import wrapt

from agentool_otel.providers.server_sent_events import ServerSentEvents
from agentool_otel.tracing.instrumentation.wrapper_chain import layers
from agentool_otel.tracing.spans.settings import guarded

if TYPE_CHECKING:
    from typing_extensions import Self

    from agentool_otel.tracing.instrumentation.client_calls import Ending
    from agentool_otel.tracing.instrumentation.instrumentor import Wrapper

    class _Proxy:
        """Types of wrapt's proxy for type checkers."""

        __wrapped__: Any

        def __init__(self, wrapped: Any) -> None: ...

elif hasattr(wrapt, "BaseObjectProxy"):
    _Proxy = wrapt.BaseObjectProxy
else:

    class _Proxy(wrapt.ObjectProxy):
        """The proxy of wrapt 1, which would be iterable whatever is inside."""

        __iter__ = None


__all__ = ["is_raw", "is_stream", "manager", "raw", "stream"]


def is_stream(result: Any) -> bool:
    """True for an iterator, sync or async, also inside another tracer's proxy.

    Such a proxy may only be iterable.
    """
    return any(_has(layer, "__next__") or _has(layer, "__anext__") for layer in layers(result))


def is_raw(result: Any) -> bool:
    """Return whether a result is of `with_raw_response` or `with_streaming_response` of a
    client.
    """
    return _has(result, "parse") and hasattr(result, "http_response")


def _has(value: Any, method: str) -> bool:
    return hasattr(cast("type[object]", type(value)), method)


def _generates(result: Any) -> bool:
    """Return whether `__anext__` is itself a generator, as in the streams of aiobotocore."""
    method = getattr(type(result), "__anext__", None)
    return inspect.isasyncgenfunction(method)


def stream(result: Any, ending: Ending) -> Any:
    """Return a proxy of a stream that ends the call when the stream ends.

    Another tracer's proxy may have the methods of both kinds: what is inside it decides. Where
    that has both as well, as LiteLLM's streams do, so has the proxy.
    """
    *_, inner = layers(result)
    if not _has(inner, "__aiter__"):
        return _SyncStream(result, ending)
    return (_EitherStream if _has(inner, "__next__") else _AsyncStream)(result, ending)


def raw(result: Any, ending: Ending) -> Any:
    """Return a raw response that ends the call when its body is read.

    A body that is there already is read from memory at once, and the response is left as it is.
    """
    body = _body(result.http_response)
    if body is None:
        return _RawResponse(result, ending)
    ending.body(body)
    return result


def manager(
    result: Any, enter: Wrapper, enter_async: Wrapper, leave: Callable[[BaseException], None]
) -> Any:
    """Return a proxy of a context manager.

    Args:
        result: the manager.
        enter: wraps its `__enter__`.
        enter_async: wraps its `__aenter__`.
        leave: called with the exception by which its block is left.
    """
    return _Manager(result, enter, enter_async, leave)


def _body(response: Any) -> bytes | None:
    """Return the body of an HTTP response if it has been read, without reading it."""
    try:
        content = response.content
    except RuntimeError:  # httpx and httpx2: ResponseNotRead
        return None
    return content if isinstance(content, bytes) else None


def _watched(method: Callable[..., Any], ending: Ending, then: Callable[[Any], Any]) -> Any:
    """Return a method, sync or async, that hands its result through `then` on success."""

    async def later(awaitable: Awaitable[Any]) -> Any:
        try:
            result = await awaitable
        except BaseException as error:
            ending.finish(error)
            raise
        return then(result)

    @functools.wraps(method)
    def watched(*args: Any, **kwargs: Any) -> Any:
        try:
            result = method(*args, **kwargs)
        except BaseException as error:
            ending.finish(error)
            raise
        return later(result) if inspect.isawaitable(result) else then(result)

    return watched


class _Closing(_Proxy):
    """Anything whose `close` or `aclose` ends the call."""

    _self_ending: Ending

    def __init__(self, wrapped: Any, ending: Ending):
        super().__init__(wrapped)
        self._self_ending = ending

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.__wrapped__, name)
        if name in ("close", "aclose"):
            return _watched(value, self._self_ending, self._self_closed)
        return value

    def _self_closed(self, result: Any) -> Any:
        self._self_ending.closed()
        return result

    def __copy__(self) -> Any:
        return type(self)(copy.copy(self.__wrapped__), self._self_ending)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return copy.deepcopy(self.__wrapped__, memo)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.__wrapped__.__reduce_ex__(protocol)


class _Stream(_Closing):
    def __init__(self, wrapped: Any, ending: Ending):
        super().__init__(wrapped, ending)
        self._self_response: _Closing | None = None
        self._self_iterator: Any = None
        finalize(self, ending.collected)

    def __getattr__(self, name: str) -> Any:
        value = super().__getattr__(name)
        if name != "response" or value is None:
            return value
        # The client's own helpers (`stream()`) close the HTTP response, not the stream.
        if self._self_response is None:
            self._self_response = _Closing(value, self._self_ending)
        return self._self_response


class _SyncStream(_Stream):
    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        try:
            if self._self_iterator is None:
                wrapped = self.__wrapped__
                self._self_iterator = wrapped if _has(wrapped, "__next__") else iter(wrapped)
            chunk = next(self._self_iterator)
        except StopIteration:
            self._self_ending.exhausted()
            raise
        except BaseException as error:
            self._self_ending.finish(error)
            raise
        self._self_ending.add(chunk)
        return chunk

    def __enter__(self) -> Any:
        entered = self.__wrapped__.__enter__()
        return self if entered is self.__wrapped__ else entered

    def __exit__(self, *raised: Any) -> Any:
        try:
            return self.__wrapped__.__exit__(*raised)
        finally:
            self._self_ending.closed(raised[1])


class _AsyncStream(_Stream):
    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Any:
        try:
            if self._self_iterator is None:
                wrapped = self.__wrapped__
                is_iterator = _has(wrapped, "__anext__") and not _generates(wrapped)
                self._self_iterator = wrapped if is_iterator else wrapped.__aiter__()
            chunk = await self._self_iterator.__anext__()
        except StopAsyncIteration:
            self._self_ending.exhausted()
            raise
        except BaseException as error:
            self._self_ending.finish(error)
            raise
        self._self_ending.add(chunk)
        return chunk

    async def __aenter__(self) -> Any:
        entered = await self.__wrapped__.__aenter__()
        return self if entered is self.__wrapped__ else entered

    async def __aexit__(self, *raised: Any) -> Any:
        try:
            return await self.__wrapped__.__aexit__(*raised)
        finally:
            self._self_ending.closed(raised[1])


class _EitherStream(_SyncStream, _AsyncStream):
    """A stream that is read in either way, in one of them only."""


class _Manager(_Proxy):
    def __init__(
        self,
        wrapped: Any,
        enter: Wrapper,
        enter_async: Wrapper,
        leave: Callable[[BaseException], None],
    ):
        super().__init__(wrapped)
        self._self_enter = enter
        self._self_enter_async = enter_async
        self._self_leave = leave

    def __enter__(self) -> Any:
        return self._self_enter(self.__wrapped__.__enter__, self.__wrapped__, (), {})

    def __exit__(self, *raised: Any) -> Any:
        self._self_left(raised[1])
        return self.__wrapped__.__exit__(*raised)

    async def __aenter__(self) -> Any:
        entry = self.__wrapped__.__aenter__
        return await self._self_enter_async(entry, self.__wrapped__, (), {})

    async def __aexit__(self, *raised: Any) -> Any:
        self._self_left(raised[1])
        return await self.__wrapped__.__aexit__(*raised)

    def _self_left(self, error: BaseException | None) -> None:
        """Note an exception before the manager closes its stream."""
        if error is not None:
            self._self_leave(error)


class _RawResponse(_Proxy):
    """A response whose body is yet to be read: parsed, read as bytes, or not at all."""

    _self_ending: Ending

    def __init__(self, wrapped: Any, ending: Ending):
        super().__init__(wrapped)
        self._self_ending = ending
        self._self_stream: Any = None
        self._self_finalize: Any = finalize(self, _forgotten, wrapped.http_response, ending)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self.__wrapped__, name)
        if name == "parse":
            return _watched(value, self._self_ending, self._self_parsed)
        if name in ("read", "text", "json") and callable(value):
            return _watched(value, self._self_ending, self._self_read)
        if name in ("iter_bytes", "iter_text", "iter_lines") and callable(value):
            return self._self_iterated(value, lines=name == "iter_lines")
        if name == "close":
            return _watched(value, self._self_ending, self._self_closed)
        return value

    def _self_iterated(self, method: Callable[..., Any], lines: bool) -> Any:
        body = _Body(self.__wrapped__.http_response, self._self_ending, lines)

        @functools.wraps(method)
        def iterated(*args: Any, **kwargs: Any) -> Any:
            pieces = method(*args, **kwargs)
            return body.passed_async(pieces) if _has(pieces, "__anext__") else body.passed(pieces)

        return iterated

    def _self_parsed(self, result: Any) -> Any:
        if not is_stream(result):
            self._self_ending.whole(result)
            return result
        self._self_finalize.detach()  # the stream ends the call from here on
        chunks = self._self_stream
        if chunks is None or chunks.__wrapped__ is not result:
            self._self_stream = chunks = stream(result, self._self_ending)
        return chunks

    def _self_read(self, result: Any) -> Any:
        body = _body(self.__wrapped__.http_response)
        if body is not None:
            self._self_ending.body(body)
        return result

    def _self_closed(self, result: Any) -> Any:
        self._self_read(None)
        self._self_ending.closed()
        return result


class _Body:
    """The body of a response that its consumer reads piece by piece: events, or one document."""

    def __init__(self, response: Any, ending: Ending, lines: bool):
        self._ending = ending
        self._lines = lines
        self._events: ServerSentEvents | None = None
        self._document: list[bytes] = []
        with guarded("reading the kind of a response"):
            if response.headers.get("content-type", "").startswith("text/event-stream"):
                self._events = ServerSentEvents()

    def passed(self, pieces: Iterator[Any]) -> Iterator[Any]:
        try:
            for piece in pieces:
                self._add(piece)
                yield piece
        except BaseException as error:
            if not isinstance(error, GeneratorExit):  # `close` of the response ends the call then
                self._ending.finish(error)
            raise
        self._end()

    async def passed_async(self, pieces: AsyncIterator[Any]) -> AsyncIterator[Any]:
        try:
            async for piece in pieces:
                self._add(piece)
                yield piece
        except BaseException as error:
            if not isinstance(error, GeneratorExit):
                self._ending.finish(error)
            raise
        self._end()

    def _add(self, piece: Any) -> None:
        with guarded("reading the body of a response"):
            if self._events is None:
                self._document.append(piece if isinstance(piece, bytes) else piece.encode())
                return
            events = self._events.line(piece) if self._lines else self._events.add(piece)
            for event in events:
                self._ending.add(event)

    def _end(self) -> None:
        if self._events is not None:
            self._ending.exhausted()
        else:
            self._ending.body((b"\n" if self._lines else b"").join(self._document))


def _forgotten(response: Any, ending: Ending) -> None:
    ending.collected(_body(response))
