"""Results of tools that look like errors, although nobody has recorded an error.

The commonest loop around a model catches what a tool raises and sends its text as the result. Such
a result is no proof: a search for an error returns texts about errors. So it is marked, and a check
may ask for it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.json_codec import loads

__all__ = ["LOOKS_LIKE_ERRORS", "error_rule"]

LOOKS_LIKE_ERRORS = "looks_like_errors"
"""Member of a trace's metadata: the steps whose results look like errors, each with its rule."""

_PARSED = 65_536
"""Characters of a text that is parsed as JSON."""
_LINES = 6
"""Most lines of a text that begins with the name of an error; a longer one is a page or a log."""

_FLAGS = ("is_error", "isError")
_ERRORS = ("error", "errors", "Error")
_STATUSES = frozenset({"error", "failed", "failure"})
_CODES = ("status_code", "statusCode", "status", "code")
_BESIDE_CODE = ("error", "message", "detail", "title", "reason", "body")
"""Members beside the HTTP status of an error. Source: RFC 9457, AWS Lambda's proxy responses, the
error bodies of Express, Spring and Google's APIs."""

_TRACEBACK = "Traceback (most recent call last):"
_NAMED = re.compile(
    r"(?:[\w.$]{0,100}(?:Error|Exception)|[Ee]rror)(?:\[[^\]\n]{0,80}\])?: (?=\s*(\S[^\n]*))"
)
"""An exception as Python, JavaScript and Java print it: `TimeoutError: text`, `Error: text`."""
_NOTHING = frozenset({"0", "none", "null", "nil", "no", "false", "-", "no error", "no errors"})
_HTTP = re.compile(r"(?:HTTP(?:/[\d.]{1,4})? [45]\d\d\b|[45]\d\d (?:Client|Server) Error\b)")
"""A status line, and the error of the library requests."""
_HINTS = ('rror"', 'rrors"', "tatus", '"code"')
"""One of these is in every object that a rule is about."""
_BLOCK_HINTS = ("rror", "Exception", "Traceback", "HTTP", "status")
"""Likewise of a text in a content block."""


def error_rule(result: Any) -> str | None:
    """Return the rule by which a result looks like an error, in words; None if it does not.

    Args:
        result: JSON, or a text, which may be JSON.
    """
    if isinstance(result, str):
        return _rule_of_text(result)
    return _rule_of_object(result) if isinstance(result, Mapping) else _rule_of_block(result)


def _rule_of_block(result: Any) -> str | None:
    if not isinstance(result, (list, tuple)) or len(result) != 1:
        return None
    only = result[0]
    words = only.get("text") if isinstance(only, Mapping) else None
    return _rule_of_text(words) if isinstance(words, str) else None


def _parsed(words: str, hints: tuple[str, ...]) -> Any:
    """Return the value of a JSON text with one of some hints; None of any other text."""
    if len(words) > _PARSED or not any(hint in words for hint in hints):
        return None
    try:
        return loads(words)
    except ValueError:
        return None


def _rule_of_text(words: str) -> str | None:
    words = words.strip()
    if words.startswith("{"):
        value = _parsed(words, _HINTS)
        return _rule_of_object(value) if isinstance(value, Mapping) else None
    if words.startswith("["):
        return _rule_of_block(_parsed(words, _BLOCK_HINTS))
    if words.startswith(_TRACEBACK):
        return "begins with a traceback"
    if (named := _NAMED.match(words)) is not None:
        is_page = words.count("\n") >= _LINES
        return None if is_page or named[1].strip().lower() in _NOTHING else "begins with an error"
    return "begins with an HTTP status" if _HTTP.match(words) else None


def _rule_of_object(value: Mapping[Any, Any]) -> str | None:
    for flag in _FLAGS:
        if value.get(flag) is True:
            return f"has {flag} true"
    first = next(iter(value), None)
    if first in _ERRORS and _is_something(value[first]):
        return f"has {first} as its first member"
    status = value.get("status")
    if isinstance(status, str) and status.lower() in _STATUSES:
        return f"has the status {status.lower()}"
    for name in _CODES:
        code = value.get(name)
        is_code = isinstance(code, int) and not isinstance(code, bool) and 400 <= code < 600
        if is_code and any(_is_something(value.get(member)) for member in _BESIDE_CODE):
            return f"has the {name} {code}"
    return None


def _is_something(value: Any) -> bool:
    if isinstance(value, str):
        return value.strip().lower() not in _NOTHING and bool(value.strip())
    return value not in (None, False, 0) and (not isinstance(value, (Mapping, list)) or bool(value))
