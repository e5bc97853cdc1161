"""What is said of an exception, on spans and in log records alike.

Spec: semantic conventions, "Exceptions on spans" and "Exceptions in logs": the same attributes.
"""

from __future__ import annotations

import traceback

from agentool_otel.emit.content import mask_text
from agentool_otel.semconv import core

__all__ = ["error_type_of", "exception_attributes", "str_of"]


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


def exception_attributes(error: BaseException) -> dict[str, str]:
    """Return `exception.*` of an exception, credentials in message and stack trace masked."""
    stack = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    return {
        core.EXCEPTION_TYPE: error_type_of(error),
        core.EXCEPTION_MESSAGE: mask_text(str_of(error)),
        core.EXCEPTION_STACKTRACE: mask_text(stack),
    }
