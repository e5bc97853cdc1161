"""Record an exception on its span, in a log record or both, on the innermost span only.

Spec: semantic conventions, "Exceptions on spans" and "Exceptions in logs": the same attributes.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import NamedTuple

from opentelemetry import trace

from agentool_otel.content.encoding.exception_texts import cause_of, stack_of, str_of
from agentool_otel.content.encoding.introspection import class_name, mro, type_name
from agentool_otel.content.policy import mask_text
from agentool_otel.ground import environment
from agentool_otel.ground import lazy_re as re
from agentool_otel.ground import variable_values as values
from agentool_otel.semconv import core

__all__ = [
    "Signals",
    "cause_of",
    "error_type_of",
    "exception_attributes",
    "failed_status",
    "forget",
    "is_new",
    "signals",
    "str_of",
]


class Signals(NamedTuple):
    """Signals on which exceptions are recorded."""

    spans: bool = True
    logs: bool = False


def signals(environ: Mapping[str, str]) -> Signals:
    """Return the choice of the environment: `logs`, `logs/dup`, or spans alone."""
    read = values.options("logs", "logs/dup")
    none: frozenset[str] = frozenset()
    options = environment.usable(environment.EXCEPTIONS, read, none, environ)
    return Signals(spans="logs" not in options or "logs/dup" in options, logs=bool(options))


def error_type_of(error: BaseException) -> str:
    """Return the low-cardinality name of an exception: its class, qualified unless built in."""
    return type_name(type(error))


def failed_status(error: BaseException | None, error_type: str | None = None) -> str:
    """Return the status of a run that failed: `timeout` if a time limit ended it, else `error`.

    Args:
        error: what ended it; None if only its type is known.
        error_type: that type.
    """
    names = [] if error is None else [class_name(each) for each in mro(type(error))]
    names.append(error_type or "")
    return "timeout" if any(map(_TIME_LIMIT.search, names)) else "error"


_TIME_LIMIT = re.compile(r"time_?out|timed_?out|time_?limit|deadline", re.IGNORECASE)
"""In the names of exceptions: Python's, httpx's, botocore's, gRPC's, Celery's, LlamaIndex's."""


def exception_attributes(error: BaseException) -> dict[str, str]:
    """Return `exception.*` of an exception, credentials in message and stack trace masked."""
    stack = stack_of(error)
    return {
        core.EXCEPTION_TYPE: error_type_of(error),
        core.EXCEPTION_MESSAGE: mask_text(str_of(error)),
        core.EXCEPTION_STACKTRACE: mask_text(stack),
    }


def is_new(span: trace.Span, parent_id: int, error: BaseException) -> bool:
    """Return whether an exception is to be recorded on a span: not if a child of it has done so.

    Args:
        span: the span that ends with it.
        parent_id: id of the span that the exception may pass through next; 0 for none.
        error: the exception.
    """
    # The memory of an exception that was dealt with is the next one's: the id alone is not enough.
    key = id(error), hash(str_of(error))
    before = recorded.pop(span.get_span_context().span_id, None)
    if parent_id:
        recorded[parent_id] = key
        if len(recorded) > _PARENTS:
            recorded.popitem(last=False)
    return before != key


def forget(span: trace.Span) -> None:
    """Forget the exceptions that children of a span have recorded: it ends without one."""
    if recorded:
        recorded.pop(span.get_span_context().span_id, None)


recorded: OrderedDict[int, tuple[int, int]] = OrderedDict()
"""By the id of an open span, the exception that a child of it has recorded last: the id of its
object and the hash of its text. The exception itself would keep every frame of its traceback."""
_PARENTS = 256
"""Of these at most, because the end of spans that are not ours is not seen here."""
