"""Attempts at one model call: a call that failed and is made again is one call.

Routers, retries and fallbacks make the same call again in the context in which it failed, and the
program sees the last attempt alone. Each later attempt names the first one, so that a rebuild has
one run of them. Inside a run nothing is needed: its calls are together already.
"""

from __future__ import annotations

from contextvars import ContextVar
from typing import Any, NamedTuple

from opentelemetry import trace

from agentool_otel.ground.json_codec import canonical
from agentool_otel.model.operations import Inference
from agentool_otel.semconv import agentool

__all__ = ["note_attempt", "share_attempts", "stop_sharing"]

_LATEST_NS = 120_000_000_000
"""How long after a failed call the same call is its retry."""


class _Failed(NamedTuple):
    """The last call of a context, which failed."""

    key: int
    """Hash of its input."""
    parent_id: int
    first: str
    """Span id of the first attempt, as hexadecimal digits."""
    end_ns: int

    def is_repeated(self, key: int, parent_id: int, start_ns: int) -> bool:
        """Return whether a call makes this one again."""
        is_same = (self.key, self.parent_id) == (key, parent_id)
        return is_same and 0 <= start_ns - self.end_ns <= _LATEST_NS


class _Shared:
    """The last model call of several contexts, if it failed."""

    __slots__ = ("failed", "owner")

    def __init__(self, owner: object):
        self.owner = owner
        self.failed: _Failed | None = None


_last: ContextVar[_Failed | _Shared | None] = ContextVar("agentool-otel-attempt", default=None)


def share_attempts(owner: object) -> None:
    """Count the calls in all copies of the present context as made one after the other, until
    `stop_sharing` of the same owner: of a framework that makes each attempt in a copy."""
    _last.set(_Shared(owner))


def stop_sharing(owner: object) -> None:
    shared = _last.get()
    if isinstance(shared, _Shared) and shared.owner == owner:
        _last.set(None)


def note_attempt(
    operation: Inference,
    attributes: dict[str, Any],
    span: trace.Span,
    parent_id: int,
    times: tuple[int, int],
    input_key: int | None = None,
) -> None:
    """Note a model call outside any run that ends, and mark it if it repeats a failed one.

    Args:
        operation: the call.
        attributes: of its span; the mark is added.
        span: its span.
        parent_id: span id of the parent, 0 for none.
        times: when it began and ended, in nanoseconds.
        input_key: hash of its input, by default that of its content.
    """
    last = _last.get()
    before = last.failed if isinstance(last, _Shared) else last
    has_failed = operation.error_type is not None
    if before is None and not has_failed:
        return
    failed: _Failed | None = None
    if input_key is None and operation.input:
        input_key = hash(canonical(operation.input))
    if input_key is not None:
        start_ns, end_ns = times
        first = trace.format_span_id(span.get_span_context().span_id)
        if before is not None and before.is_repeated(input_key, parent_id, start_ns):
            first = attributes[agentool.ATTEMPT_OF] = before.first
        if has_failed:
            failed = _Failed(input_key, parent_id, first, end_ns)
    if isinstance(last, _Shared):
        last.failed = failed
    else:
        _last.set(failed)
