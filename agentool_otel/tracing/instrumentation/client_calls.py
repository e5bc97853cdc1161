"""One call of a client library, from its start to the end of its span.

A client library is a table of `ClientCall`s: what the parameters of a method say, and a `Reading`
that knows the shape of its answers. `method`, `async_method` and, where a context manager makes the
call, `entered` make wrappers of them. `Ending` sees to it that the span ends exactly once,
whichever way the call goes: a whole answer, a stream that is read, closed, cut, abandoned or never
looked at, an exception, a raw response.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Awaitable, Callable
from functools import cache
from time import time_ns
from types import FrameType
from typing import Any, NamedTuple

from msgspec.structs import replace
from opentelemetry.context import Context, attach, get_current

from agentool_otel.ground.interruptions import is_interruption
from agentool_otel.ground.json_codec import loads
from agentool_otel.model.operations import Inference, Operation
from agentool_otel.model.statuses import INCOMPLETE_STREAM
from agentool_otel.providers.reading import Reading
from agentool_otel.providers.tools import forces_function
from agentool_otel.tracing.instrumentation.instrumentor import Patch, Wrapper
from agentool_otel.tracing.loops.placement import Place, place
from agentool_otel.tracing.spans.attaching import restore, restore_from
from agentool_otel.tracing.spans.chunks import Chunks
from agentool_otel.tracing.spans.finalizers import when_safe
from agentool_otel.tracing.spans.live import LiveSpan, begin
from agentool_otel.tracing.spans.requested_calls import awaits_results
from agentool_otel.tracing.spans.settings import guarded
from agentool_otel.tracing.spans.step_spans import StepSpan
from agentool_otel.tracing.spans.suppression import note_call, recorded_above

__all__ = [
    "Begin",
    "ClientCall",
    "Ending",
    "async_method",
    "calling",
    "calling_async",
    "entered",
    "method",
    "start",
    "twins",
]


_CALLERS = 10
"""Functions of a client between the end of a `with` block and the stream that it closes."""
_NO_ERRORS = (GeneratorExit, StopIteration, StopAsyncIteration)
"""Exceptions that end a loop over a stream."""


class ClientCall(NamedTuple):
    """One kind of call of a client library."""

    what: str
    """In words, with its article, for the log: `a chat completion`."""
    scope: str
    """Instrumentation scope of its span."""
    request: Callable[[Any, dict[str, Any]], Operation]
    """Returns what is known at the start, without content, from the object whose method is called
    and the keyword arguments."""
    content: Callable[[dict[str, Any]], dict[str, Any]]
    """Returns the fields of the operation that are content, as copies, from the keyword
    arguments."""
    reading: Callable[[Any], Reading]
    """Returns what reads the answer, from the operation as it is known before."""
    stream_in: str = ""
    """Attribute of the result that has the stream, where the result is a helper around one."""
    owner: frozenset[str] | None = None
    """Calls inside it that have no span of their own, as `start_step` has it: those of the clients
    that a client of several providers calls."""
    taken: Callable[[Any, Ending], Any] | None = None
    """Handles the result and returns the caller's, in the place of `Ending.result`."""


class Ending:
    """Ends the span of one call, once; whoever comes later is ignored."""

    __slots__ = (
        "_call",
        "_chunks",
        "_done",
        "_guard",
        "_handled_before",
        "_last_ns",
        "_place",
        "_step",
        "on_end",
        "reading",
    )

    def __init__(
        self, step: StepSpan, reading: Reading, call: ClientCall, place: Place | None = None
    ):
        self._step = step
        self._place = place
        self.reading = reading
        """Reads the answer as it arrives."""
        self.on_end: Callable[[], None] | None = None
        """Called before the span ends, to end the steps inside it."""
        self._call = call
        self._guard = guarded(f"recording {call.what}")
        self._chunks = Chunks()
        self._last_ns: int | None = None
        self._done = False
        self._handled_before: int | None = None

    @property
    def context(self) -> Context:
        return self._step.context

    @property
    def _reads(self) -> bool:
        """Return whether the answer is to be read: what a loop requests counts even where it is
        not sampled."""
        return self._step.recording or (self._place is not None and self._place.in_loop)

    def stream(self, result: Any) -> Any:
        """Return a proxy of a stream that adds its items here and ends the call with it; the stream
        itself where nothing is recorded.
        """
        self._last_ns = time_ns()
        self._handled_before = id(sys.exc_info()[1])
        if self._reads:
            with self._guard:
                from agentool_otel.tracing.instrumentation import streams

                return streams.stream(result, self)
        self.finish()
        return result

    def returned(self, result: Any) -> Any:
        """Handle the result of the call; return the caller's result."""
        if self._call.taken is None:
            return self.result(result)
        with self._guard:
            return self._call.taken(result, self)
        self.finish()  # of another form than is known
        return result

    def result(self, result: Any) -> Any:
        """Handle a result; return the same object, or a proxy of it that looks the same, where more
        is still to come.
        """
        self._last_ns = time_ns()
        if not self._reads:
            self.finish()
            return result
        self._handled_before = id(sys.exc_info()[1])
        with self._guard:
            from agentool_otel.tracing.instrumentation import streams

            if stream_in := self._call.stream_in:
                stream = streams.stream(getattr(result, stream_in), self)
                setattr(result, stream_in, stream)
                return result
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
            self._chunks.record(self._known, self._step.context)
            self.reading.add(chunk)

    def _known(self) -> Operation:
        return self.reading.operation()

    def whole(self, response: Any) -> None:
        """Take the whole answer, and end."""
        if not self._done:
            with self._guard:
                self.reading.whole(response)
            self.finish()

    def body(self, content: bytes) -> None:
        """Take the whole answer as it came over the wire, and end."""
        try:
            response = loads(content)
        except ValueError as error:
            self.finish(error)
        else:
            self.whole(response)

    def exhausted(self) -> None:
        """End a stream that has no more items: it broke off if its last event is missing."""
        broke_off = self.reading.has_last_event and not self.reading.complete
        self.finish(error_type=INCOMPLETE_STREAM if broke_off else None)

    def closed(self, error: BaseException | None = None) -> None:
        """End a stream that its consumer has closed, perhaps before it was read to its end.

        Args:
            error: the exception of the consumer that left the stream by it. By default that of a
                `with` block around it, whose manager closes the stream.
        """
        if error is None and _is_in_exit():
            error = sys.exc_info()[1]
            if id(error) == self._handled_before:
                error = None
        if error is None or isinstance(error, _NO_ERRORS) or self.reading.complete:
            self.finish(interrupted="closed")
        else:
            self.finish(error)

    def collected(self, content: bytes | None = None) -> None:
        """End a call whose result nobody holds any more, at the time of its last item."""
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
        error_type: str | None = None,
        end_ns: int | None = None,
        interrupted: str | None = None,
    ) -> None:
        """End the span with the data known now.

        Args:
            error: what ended the call, if not its answer.
            error_type: the type of an error without an exception.
            end_ns: when the call ended, if not now.
            interrupted: why it ended early without having failed.
        """
        if self._done:
            return
        self._done = True
        operation = self._step.operation
        with self._guard:
            if self.on_end is not None:
                self.on_end()
            operation = self.reading.operation()
            first_s = self._chunks.first_s
            if first_s is not None and isinstance(operation, Inference):
                operation = replace(operation, time_to_first_chunk_s=first_s)
            if self.reading.complete:
                interrupted = None
            if error_type is not None and operation.error_type is None:
                operation = replace(operation, error_type=error_type)
            self._step.fields.clear()
            self._step.operation = operation
        if self._place is not None and end_ns is None:
            end_ns = time_ns()
        self._step.end(error, interrupted=interrupted, end_ns=end_ns)
        if self._place is not None and isinstance(operation, Inference):
            with self._guard:
                self._place.ended(operation, error, interrupted, end_ns)


def _is_in_exit() -> bool:
    """Return whether the end of a `with` block is calling."""
    frame: FrameType | None = sys._getframe(2)
    for _ in range(_CALLERS):
        if frame is None:
            break
        if frame.f_code.co_name in ("__exit__", "__aexit__"):
            return True
        frame = frame.f_back
    return False


def start(call: ClientCall, owner: Any, parameters: dict[str, Any]) -> Ending | None:
    """Start the span of a call; None if it is recorded further up, or not at all.

    Args:
        call: the kind of call.
        owner: the object whose method is called.
        parameters: the keyword arguments.
    """
    with guarded(f"starting the span of {call.what}"):
        if recorded_above():
            return None
        operation = call.request(owner, parameters)
        # Read now: the caller may change the list while the call is under way.
        content = cache(lambda: call.content(parameters))
        where = _place(call, operation, content, parameters)
        live: LiveSpan | None = None
        try:
            live = begin(
                operation,
                scope=call.scope,
                parent=None if where is None else where.context,
                owner=call.owner,
                content_follows=True,
            )
            return None if live is None else _started(call, live, operation, content, where)
        except Exception as error:
            if live is not None and is_interruption(error):
                live.cut_off(error)
            if where is not None:
                where.failed(error)
            raise
    return None


def _place(
    call: ClientCall,
    operation: Operation,
    content: Callable[[], dict[str, Any]],
    parameters: dict[str, Any],
) -> Place | None:
    if isinstance(operation, Inference):
        with guarded(f"finding the loop of {call.what}"):
            return place(operation, content, is_forced=forces_function(parameters))
    return None


def _started(
    call: ClientCall,
    live: LiveSpan,
    operation: Operation,
    content: Callable[[], dict[str, Any]],
    where: Place | None,
) -> Ending:
    step = StepSpan(live, operation, call.what)
    live.input_key = None if where is None else where.input_key
    note_call(type(operation))
    answers = isinstance(operation, Inference) and not step.wants_content
    if answers and step.recording and awaits_results():
        with guarded(f"reading the input of {call.what}"):
            live.answers_calls(content().get("input"))
    step.open(content)
    return Ending(step, call.reading(replace(operation, **step.fields)), call, where)


Begin = Callable[[Any, "tuple[Any, ...]", "dict[str, Any]"], "Ending | None"]
"""Starts the span of a call, from the object whose method is called and the arguments; None where
there is none."""


def calling(begin: Begin) -> Wrapper:
    """Return the wrapper of a function that makes a call. Its result may be a stream, or raw."""
    return functools.partial(_observe, begin)


def calling_async(begin: Begin) -> Wrapper:
    """`calling` for a coroutine function, or a function that returns an awaitable."""
    return functools.partial(_observe_async, begin)


def _observe(
    begin: Begin, wrapped: Callable[..., Any], instance: Any, args: Any, kwargs: Any
) -> Any:
    """Make a call inside its span, and return the caller's result.

    One function, for a traceback through a call has a frame of ours for each.
    """
    ending = begin(instance, args, kwargs)
    if ending is None:
        return wrapped(*args, **kwargs)
    outer, token = get_current(), None
    try:
        token = attach(ending.context)
        result = wrapped(*args, **kwargs)
        restore(token)
        return ending.returned(result)
    except BaseException as error:
        restore_from(token, ending.context, outer)
        ending.finish(error)
        raise


async def _observe_async(
    begin: Begin, wrapped: Callable[..., Awaitable[Any]], instance: Any, args: Any, kwargs: Any
) -> Any:
    """`_observe` for a coroutine function, or a function that returns an awaitable."""
    ending = begin(instance, args, kwargs)
    if ending is None:
        return await wrapped(*args, **kwargs)
    outer, token = get_current(), None
    try:
        token = attach(ending.context)
        result = await wrapped(*args, **kwargs)
        restore(token)
        return ending.returned(result)
    except GeneratorExit:  # forgotten while it waited, and closed by the garbage collector
        restore(token)
        ending.collected()
        raise
    except BaseException as error:
        restore_from(token, ending.context, outer)
        ending.finish(error)
        raise


def method(call: ClientCall) -> Wrapper:
    """Return the wrapper of a method whose parameters have names."""
    return calling(lambda instance, _, kwargs: start(call, instance, kwargs))


def async_method(call: ClientCall) -> Wrapper:
    """`method` for a coroutine function, or a function that returns an awaitable."""
    return calling_async(lambda instance, _, kwargs: start(call, instance, kwargs))


def entered(call: ClientCall) -> Wrapper:
    """Return the wrapper of a method that returns a context manager, sync or async, which makes the
    call when it is entered: there the span begins."""

    def wrapper(
        wrapped: Callable[..., Any], instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        from agentool_otel.tracing.instrumentation import streams

        ending: Ending | None = None

        def begin(*_: Any) -> Ending | None:
            nonlocal ending
            ending = start(call, instance, kwargs | {"stream": True})
            return ending

        def leave(error: BaseException) -> None:
            if ending is not None:
                ending.closed(error)

        return streams.manager(
            wrapped(*args, **kwargs), calling(begin), calling_async(begin), leave
        )

    return wrapper


def twins(
    module: str, owner: str, name: str, call: ClientCall, *, optional: bool = False
) -> tuple[Patch, Patch]:
    """Return patches of a method of a class, and of its asynchronous twin `Async...`."""
    return (
        Patch(module, f"{owner}.{name}", method(call), optional),
        Patch(module, f"Async{owner}.{name}", async_method(call), optional),
    )
