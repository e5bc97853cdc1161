"""Failures of model calls: their messages, and whether to try again.

Source: openai-python `_exceptions.py` at 1.40, 2.54 and 3.52; RFC 9110, 10.2.3 (`Retry-After`).
The words of a server and of exceptions are masked as a whole, before they are cut.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, cast
from urllib.parse import urljoin, urlsplit

from agentool_otel.content.masking.credentials import mask_text
from agentool_otel.evaluation.judges.questions import JudgeUnavailable, NoVerdict
from agentool_otel.ground.retry_after import retry_after_s
from agentool_otel.ground.urls import without_credentials

__all__ = ["Failure", "failure_of", "late", "refused_form"]

_SHOWN = 200
_DENIED = {401: "refuses the key", 403: "does not let this key in", 402: "wants to be paid"}
_BUSY = (408, 409, 425, 429)
_MANY = 100
"""Most tries that a server may request; the judge's own limit applies as well."""
_AFTER_FAULT = 3
"""Tries after a fault of the server: seconds pass in them, not minutes."""
_AFTER_BROKEN = 2
"""Tries after a connection that failed, which seldom changes soon."""


class Failure(NamedTuple):
    """A call without an answer."""

    reason: str
    retries: int = 0
    """Most further tries that may help."""
    wait_s: float | None = None
    """Seconds to wait before it, from the server's response; None without one."""
    for_good: bool = False
    """Whether every other call will fail the same way."""
    silent: bool = False
    """Whether there was no response at all, not even an error."""

    def error(self) -> NoVerdict:
        """Return the exception that carries the failure to the assertion."""
        if self.retries or self.for_good or self.silent:
            return JudgeUnavailable(self.reason, for_good=self.for_good, silent=self.silent)
        return NoVerdict(self.reason)


def late(place: str, timeout_s: float) -> Failure:
    """Return the failure of a server that timed out. Another try would take as long.

    Args:
        place: the server, without credentials.
        timeout_s: seconds that it had.
    """
    return Failure(f"{place} gave no answer in {timeout_s:g} s", silent=True)


def failure_of(
    error: Exception, model: str, place: str, clean: Callable[[str], str] = mask_text
) -> Failure:
    """Return the failure that an exception of the client means.

    Args:
        error: the exception.
        model: the name of the model.
        place: the server, without credentials.
        clean: removes credentials from a text of a server or an exception.
    """
    status = getattr(error, "status_code", None)
    if isinstance(status, int) and 300 <= status < 400:
        return Failure(_elsewhere(error, place, status, clean), for_good=True)
    if not isinstance(status, int) or status < 400:  # a body that cannot be read has one too
        why = str(error.__cause__ or error) or type(error).__name__
        reason = f"{place} gave no answer: {clean(why)[:_SHOWN]}"
        return (
            Failure(reason, _AFTER_BROKEN, silent=True) if _of_transport(error) else Failure(reason)
        )
    if status in _DENIED:
        return Failure(f"{place} {_DENIED[status]} (HTTP {status})", for_good=True)
    if status == 404:
        return Failure(f"{place} knows no model {model!r} (HTTP 404)", for_good=True)
    message = f"{place} answers HTTP {status}: {_message(error, clean)}"
    code = getattr(error, "code", None)
    if code == "insufficient_quota":
        return Failure(message, for_good=True)
    if code == "content_filter":
        return Failure(f"the judge refuses: its content filter stopped the question ({message})")
    wait_s = _requested_wait_s(error)
    if status in _BUSY or (status >= 500 and wait_s is not None):
        return Failure(message, _MANY, wait_s)
    return Failure(message, _AFTER_FAULT) if status >= 500 else Failure(message)


def refused_form(error: Exception) -> str | None:
    """Return the part of a request's form that a server refuses: `temperature`, `format`, or
    `unknown` if its message names none; None if the form is not the problem.
    """
    if getattr(error, "status_code", None) not in (400, 422):
        return None
    if getattr(error, "code", None) in ("content_filter", "context_length_exceeded"):
        return None
    message = f"{getattr(error, 'param', None) or ''} {error}".lower()
    if "temperature" in message:
        return "temperature"
    if any(word in message for word in ("response_format", "json", "schema", "structured")):
        return "format"
    return "unknown"


def _elsewhere(error: Exception, place: str, status: int, clean: Callable[[str], str]) -> str:
    """Return the message about a redirect, with the host that it names: whoever is there is not the
    judge that the user named."""
    location = str(_headers(error).get("location") or "")
    try:
        target = urlsplit(without_credentials(urljoin(f"{place}/", location))) if location else None
    except ValueError:
        target = None
    host = f" to {clean(target.netloc)[:_SHOWN]}" if target is not None and target.netloc else ""
    return (
        f"{place} redirects{host} (HTTP {status}), and nothing was sent there; "
        "hint: name that address as the judge's if it is the right one"
    )


def _headers(error: Exception) -> Mapping[str, str]:
    return getattr(getattr(error, "response", None), "headers", None) or {}


def _of_transport(error: Exception) -> bool:
    """Return whether the connection or the response body failed, rather than the program."""
    return any(base.__name__ == "OpenAIError" for base in type(error).__mro__) or isinstance(
        error, (OSError, ValueError)
    )


def _message(error: Exception, clean: Callable[[str], str]) -> str:
    body = getattr(error, "body", None)
    message = cast("Mapping[str, Any]", body).get("message") if isinstance(body, Mapping) else None
    text = clean(message if isinstance(message, str) else str(error))
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"


def _requested_wait_s(error: Exception) -> float | None:
    headers = _headers(error)
    milliseconds = headers.get("retry-after-ms")
    try:
        if milliseconds is not None:
            return max(0.0, float(milliseconds) / 1000)
    except ValueError:
        pass
    wait_s = retry_after_s(headers.get("retry-after"))
    return None if wait_s is None else max(0.0, wait_s)
