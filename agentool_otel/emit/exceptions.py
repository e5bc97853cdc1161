"""Exceptions on spans: named, without credentials, and recorded by the innermost span only."""

from __future__ import annotations

import traceback
from collections import OrderedDict

from opentelemetry import trace

from agentool_otel.emit.masking import mask_text
from agentool_otel.semconv import core

__all__ = ["error_type_of", "forget", "record", "str_of"]


def error_type_of(error: BaseException) -> str:
    """Return the low-cardinality name of an exception: its class, qualified unless built in."""
    cls = type(error)
    if cls.__module__ == "builtins":
        return cls.__qualname__
    return f"{cls.__module__}.{cls.__qualname__}"


def str_of(error: BaseException) -> str:
    """Return an exception's text; its class where the text cannot be made."""
    try:
        return str(error)
    except Exception:  # a user's __str__
        return type(error).__qualname__


def record(span: trace.Span, parent_id: int, error: BaseException) -> None:
    """Add the exception event to a span, unless a child of it has recorded the same exception.

    Credentials in message and stack trace are masked.
    Spec: semantic conventions, "Exceptions on spans".

    Args:
        span: the span that ends with it.
        parent_id: id of the span that the exception may pass through next; 0 for none.
        error: the exception.
    """
    text = str_of(error)
    # The memory of an exception that was dealt with is the next one's: the id alone says little.
    seen = id(error), hash(text)
    if _seen.pop(span.get_span_context().span_id, None) != seen:
        stack = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        attributes = {
            core.EXCEPTION_TYPE: error_type_of(error),
            core.EXCEPTION_MESSAGE: mask_text(text),
            core.EXCEPTION_STACKTRACE: mask_text(stack),
        }
        span.add_event(core.EXCEPTION_EVENT, attributes)
    if parent_id:
        _seen[parent_id] = seen
        if len(_seen) > _PARENTS:
            _seen.popitem(last=False)


def forget(span: trace.Span) -> None:
    """Let go of what children of a span have recorded: it ends without an exception."""
    if _seen:
        _seen.pop(span.get_span_context().span_id, None)


_seen: OrderedDict[int, tuple[int, int]] = OrderedDict()
"""By the id of an open span, the exception that a child of it has recorded last: the id of its
object and the hash of its text. The exception itself would keep every frame of its traceback."""
_PARENTS = 256
"""Of these at most, because the end of spans that are not ours is not seen here."""
