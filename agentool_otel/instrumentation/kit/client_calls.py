"""One call of a client library, from its start to the end of its span.

An instrumentor gives a `Reading`, which knows the shape of the library's answers; `Ending` sees to
it that the span ends exactly once, whichever way the call goes: a whole answer, a stream that is
read, closed, cut, abandoned or never looked at, an exception, a raw response.
"""

from __future__ import annotations

from collections.abc import Callable
from time import time_ns
from typing import Any

from msgspec.structs import replace
from opentelemetry.context import Context, attach

from agentool_otel.capture.context import restore
from agentool_otel.capture.finalizers import when_safe
from agentool_otel.emit.chunks import Chunks
from agentool_otel.emit.live import LiveSpan
from agentool_otel.emit.session import guarded
from agentool_otel.ground.json_codec import loads
from agentool_otel.model.operations import Inference, Operation
from agentool_otel.providers.reading import Reading
from agentool_otel.semconv import agentool

__all__ = ["Ending", "observe", "observe_async"]


class Ending:
    """Ends the span of one call, once; whoever comes later is ignored."""

    __slots__ = ("_chunks", "_done", "_guard", "_last_ns", "_live", "_reading")

    def __init__(self, live: LiveSpan, reading: Reading, what: str):
        self._live = live
        self._reading = reading
        self._guard = guarded(f"recording {what}")
        self._chunks = Chunks()
        self._last_ns: int | None = None
        self._done = False

    @property
    def context(self) -> Context:
        return self._live.context

    def returned(self, result: Any) -> Any:
        """Take the result of the call; return what the caller gets: the result, or a proxy of it
        that looks the same, where more is still to come."""
        self._last_ns = time_ns()
        if not self._live.recording:
            self.finish()
            return result
        with self._guard:
            from agentool_otel.instrumentation.kit import streams

            if streams.is_raw(result):
                return streams.raw(result, self)
            if streams.is_stream(result):
                return streams.stream(result, self)
        self.whole(result)
        return result

    def add(self, chunk: Any) -> None:
        """Take one chunk of a stream."""
        if self._done:
            return
        self._last_ns = time_ns()
        with self._guard:
            self._chunks.came(self._known, self._live.context)
            self._reading.add(chunk)

    def _known(self) -> Operation:
        return self._reading.operation(False)

    def whole(self, response: Any) -> None:
        """Take the whole answer, and end."""
        if not self._done:
            with self._guard:
                self._reading.whole(response)
            self.finish()

    def body(self, content: bytes) -> None:
        """Take the whole answer as it came over the wire, and end."""
        try:
            response = loads(content)
        except ValueError as error:
            self.finish(error)
        else:
            self.whole(response)

    def closed(self) -> None:
        """End a stream that its consumer has closed, perhaps before it was read to its end."""
        self.finish(interrupted="closed")

    def collected(self, content: bytes | None = None) -> None:
        """End what nobody holds any more, at the time something last came."""
        if not self._done:
            when_safe(self._abandon, content)

    def _abandon(self, content: bytes | None) -> None:
        if content is not None:
            self.body(content)
        self.finish(end_ns=self._last_ns, interrupted="abandoned")

    def finish(
        self,
        error: BaseException | None = None,
        *,
        end_ns: int | None = None,
        interrupted: str | None = None,
    ) -> None:
        """End the span with what is known now."""
        if self._done:
            return
        self._done = True
        with self._guard:
            operation = self._reading.operation(error is not None)
            first_s = self._chunks.first_s
            if first_s is not None and isinstance(operation, Inference):
                operation = replace(operation, time_to_first_chunk_s=first_s)
            extra = None
            if interrupted is not None and not self._reading.complete:
                extra = {agentool.INTERRUPTED: interrupted}
            self._live.end(operation, error, end_ns, extra)


def observe(
    wrapped: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], ending: Ending
) -> Any:
    """Make a call inside its span, and return what the caller gets."""
    token = attach(ending.context)
    try:
        result = wrapped(*args, **kwargs)
    except BaseException as error:
        restore(token)
        ending.finish(error)
        raise
    restore(token)
    return ending.returned(result)


async def observe_async(
    wrapped: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], ending: Ending
) -> Any:
    """`observe` for a coroutine function, or a function that returns an awaitable."""
    token = attach(ending.context)
    try:
        result = await wrapped(*args, **kwargs)
    except GeneratorExit:  # forgotten while it waited, and closed by the garbage collector
        restore(token)
        ending.collected()
        raise
    except BaseException as error:
        restore(token)
        ending.finish(error)
        raise
    restore(token)
    return ending.returned(result)
