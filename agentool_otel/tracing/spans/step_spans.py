"""The span of one step of a framework: an agent, a model call, a tool, a retrieval.

Where a framework lets us stand around the work, a `StepSpan` is a context manager:

    with start_step(
        ToolExecution(name="search"),
        what="a tool of Foo",
        scope="foo_tracing",
        content=lambda: {"arguments": arguments},
    ) as step:
        result = work()
        step.add(result=result)

When start and end arrive in separate callbacks, `OpenSpans` holds the span.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping
from threading import Lock
from time import monotonic, perf_counter
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from msgspec.structs import replace
from opentelemetry.context import Context, attach, get_current

from agentool_otel.ground.interruptions import is_interruption
from agentool_otel.model.operations import Inference, Operation
from agentool_otel.semconv import agentool
from agentool_otel.tracing.spans.attaching import restore, restore_from
from agentool_otel.tracing.spans.exceptions import failed_status
from agentool_otel.tracing.spans.finalizers import when_safe
from agentool_otel.tracing.spans.live import LiveSpan, begin
from agentool_otel.tracing.spans.settings import guarded

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["OpenSpans", "StepSpan", "incomplete", "start_step"]

Content = Callable[[], Mapping[str, Any]]
"""Returns fields of an operation that are messages, arguments, results: what users may not want
recorded. It is called only where they are."""


def start_step(
    operation: Operation,
    *,
    description: str,
    scope: str,
    content: Content | None = None,
    parent: Context | None = None,
    owner: frozenset[str] | None = None,
    start_ns: int | None = None,
) -> StepSpan:
    """Start the span of a step; where telemetry is off the result records nothing.

    Args:
        operation: what is known of it, without content.
        description: what it is in words, with its article, for the log.
        scope: instrumentation scope.
        content: returns what is known before the work begins. It is written at once: an open span
            is found with it after a kill.
        parent: context of the parent, the current one by default.
        owner: what this step records already, such as `tracing.spans.suppression.CLIENTS`: their
            calls inside it have no span.
        start_ns: when it began, if not now.
    """
    live = None
    with guarded(f"starting the span of {description}"):
        live = begin(
            operation,
            scope=scope,
            parent=parent,
            start_ns=start_ns,
            owner=owner,
            content_follows=True,
        )
    step = StepSpan(live, operation, description, parent)
    step.open(content)
    return step


class StepSpan:
    """A step that has begun. Its methods never raise, and do nothing once it has ended."""

    __slots__ = (
        "_ended",
        "_outer",
        "_token",
        "_what",
        "context",
        "fields",
        "first_chunk_s",
        "live",
        "operation",
        "started_s",
    )

    def __init__(
        self,
        live: LiveSpan | None,
        operation: Operation,
        description: str,
        parent: Context | None = None,
    ):
        self.live = live
        self.operation = operation
        """Operation as known at its beginning."""
        context = get_current() if parent is None else parent
        self.context: Context = context if live is None else live.context
        """The context its work belongs in."""
        self.fields: dict[str, Any] = {}
        """Fields of the operation that have become known since."""
        self.started_s = perf_counter()
        self.first_chunk_s: float | None = None
        self._what = description
        self._ended = False
        self._token: Any = None
        self._outer = self.context

    @property
    def recording(self) -> bool:
        """False where nothing of it is kept: off, suppressed, not sampled, or ended."""
        return self.live is not None and self.live.recording and not self._ended

    @property
    def wants_content(self) -> bool:
        """Return whether messages, arguments and results are to be read at all."""
        return self.recording and self.live is not None and self.live.policy.capture

    def open(self, content: Content | None = None) -> None:
        """Write the attributes known before the work begins. `start_step` has done so."""
        if self.recording and self.live is not None:
            self.add(content)
            with guarded(f"recording {self._what}"):
                self.live.opened(replace(self.operation, **self.fields))

    def add(self, content: Content | None = None, /, **fields: Any) -> None:
        """Add content that is known by now; it is left out where content is not captured.

        Args:
            content: returns fields of the operation, where reading them costs something or may
                fail.
            fields: fields of the operation.
        """
        if self.wants_content:
            with guarded(f"reading the content of {self._what}"):
                self.fields.update(fields)
                if content is not None:
                    self.fields.update(content())

    def set(self, **fields: Any) -> None:
        """Set fields that are no content: usage, models, ids, finish reasons, error types."""
        if self.recording:
            self.fields.update(fields)

    def mark(self, attributes: Mapping[str, Any]) -> None:
        """Set attributes that no field of the operation stands for."""
        if self.recording and self.live is not None:
            self.live.essentials.update(attributes)

    def rename(self, **fields: Any) -> None:
        """Set fields that the span is named by, where they have become known since it began."""
        if self.recording and self.live is not None:
            self.fields.update(fields)
            with guarded(f"naming {self._what}"):
                self.live.rename(replace(self.operation, **fields))

    def hand_over(self, target: str) -> None:
        """Turn a tool call into a handoff: one step, which names the agent that goes on."""
        if self.recording and self.live is not None:
            self.fields["transfer_target"] = target
            with guarded(f"recording {self._what}"):
                self.live.became_handoff(target)

    def leave_unanswered(self) -> None:
        """Note that a tool call ends without a result, because it is made again later."""
        if self.recording and self.live is not None:
            self.live.answers = False
            self.live.essentials[agentool.TOOL_INCOMPLETE] = "call_only"

    def forget(self) -> None:
        """Do nothing from here on: the span has ended."""
        self._ended = True

    def chunk(self) -> None:
        """Note that a piece of a stream has come."""
        if self.first_chunk_s is None:
            self.first_chunk_s = perf_counter() - self.started_s

    def end(
        self,
        error: BaseException | None = None,
        *,
        interrupted: str | None = None,
        extra: Mapping[str, Any] | None = None,
        end_ns: int | None = None,
    ) -> None:
        """End the span, once.

        Args:
            error: what ended it, if not a result.
            interrupted: why it ended early without having failed, e.g. `closed`.
            extra: further attributes.
            end_ns: when it ended, if not now.
        """
        if self._ended:
            return
        self._ended = True
        if self.live is None:
            return
        try:
            with guarded(f"finishing {self._what}"):
                if self.first_chunk_s is not None and isinstance(self.operation, Inference):
                    self.fields |= {"stream": True, "time_to_first_chunk_s": self.first_chunk_s}
                attributes = dict(extra or {})
                if interrupted is not None:
                    attributes[agentool.INTERRUPTED] = interrupted
                self.live.end(replace(self.operation, **self.fields), error, end_ns, attributes)
        except BaseException as interruption:
            if is_interruption(interruption):
                self.live.cut_off(interruption)
            raise

    def end_run(
        self,
        error: BaseException | None = None,
        *,
        interrupted: str | None = None,
        end_ns: int | None = None,
    ) -> None:
        """End the span of a run with its status: `in_progress` if it was interrupted."""
        error_type = self.fields.get("error_type")
        if error is not None or error_type is not None:
            status = failed_status(error, error_type)
        else:
            status = "success" if interrupted is None else "in_progress"
        extra = {agentool.STATUS: status}
        self.end(error, interrupted=interrupted, extra=extra, end_ns=end_ns)

    def __enter__(self) -> Self:
        self._outer = outer = get_current()
        try:
            self._token = attach(self.context)
        except BaseException:  # of a signal handler, perhaps when it was attached
            restore_from(None, self.context, outer)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.leave()
        if isinstance(error, GeneratorExit):  # perhaps of the garbage collector
            when_safe(self._close)
        else:
            self.end(error)

    def leave(self) -> None:
        """Make the context current again that was so before the block."""
        token = self._token
        if token is None:
            return
        try:
            restore(token)
        except BaseException:
            restore_from(token, self.context, self._outer)
            raise
        finally:
            self._token = None

    def _close(self) -> None:
        self.end(interrupted="closed")


S = TypeVar("S")


class OpenSpans(Generic[S]):
    """Open spans, by the id that a framework's callbacks share.

    Bounded by number and age: of what is abandoned `drop` is called, outside the lock.
    """

    def __init__(self, drop: Callable[[S], None], limit: int = 10_000, age_s: float = 86_400.0):
        self._drop = drop
        self._limit = limit
        self._age_s = age_s
        self._lock = Lock()
        self._open: OrderedDict[Hashable, tuple[S, float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._open)

    def add(self, key: Hashable, span: S) -> None:
        now = monotonic()
        dropped: list[S] = []
        with self._lock:
            self._open[key] = (span, now)
            while self._open:
                oldest, (step, since) = next(iter(self._open.items()))
                if len(self._open) <= self._limit and now - since <= self._age_s:
                    break
                del self._open[oldest]
                dropped.append(step)
        for each in dropped:
            self._drop(each)

    def get(self, key: Hashable | None) -> S | None:
        """Return the open span of a key, None if there is none."""
        entry = None if key is None else self._open.get(key)
        return None if entry is None else entry[0]

    def touch(self, *keys: Hashable) -> None:
        """Count some as in use: they are the last to be dropped."""
        now = monotonic()
        with self._lock:
            for key in keys:
                if key in self._open:
                    self._open[key] = (self._open[key][0], now)
                    self._open.move_to_end(key)

    def take(self, key: Hashable) -> S | None:
        """Return and remove the span of a key."""
        with self._lock:
            entry = self._open.pop(key, None)
        return None if entry is None else entry[0]


def incomplete() -> dict[str, Any]:
    """Return the attributes of a step whose end was not reported."""
    return {agentool.INCOMPLETE: True, agentool.STATUS: "incomplete"}
