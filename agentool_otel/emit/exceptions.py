"""What is said of an exception, and whether on its span, in a log record or on both.

Spec: semantic conventions, "Exceptions on spans" and "Exceptions in logs": the same attributes.
"""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from typing import NamedTuple

from agentool_otel.emit.content import mask_text
from agentool_otel.semconv import core

__all__ = [
    "SIGNAL_VARIABLE",
    "Signals",
    "error_type_of",
    "exception_attributes",
    "signals",
    "str_of",
]

SIGNAL_VARIABLE = "OTEL_SEMCONV_EXCEPTION_SIGNAL_OPT_IN"


class Signals(NamedTuple):
    """Where exceptions are recorded."""

    spans: bool = True
    logs: bool = False


def signals(environ: Mapping[str, str]) -> Signals:
    """Return what the environment opts into: `logs`, `logs/dup`, or spans alone."""
    asked = {part.strip().lower() for part in environ.get(SIGNAL_VARIABLE, "").split(",")}
    return Signals(spans="logs" not in asked or "logs/dup" in asked, logs=not asked.isdisjoint(_IN))


_IN = frozenset({"logs", "logs/dup"})


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
