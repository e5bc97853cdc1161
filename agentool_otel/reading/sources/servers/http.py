"""Requests to a server over `httpx` (extra `servers`), bounded in time, size and retries.

A response is complete before any of it is used, so that a retry after a broken connection repeats
nothing. Proxies and certificates are those of the environment, as httpx reads them.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from http.cookiejar import CookieJar
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

from agentool_otel.errors import (
    ConfigurationError,
    SourceDenied,
    SourceError,
    SourceUnreachable,
)
from agentool_otel.ground.environment import CERTIFICATES, PROXIES
from agentool_otel.ground.optional import library
from agentool_otel.ground.retry_after import retry_after_s
from agentool_otel.ground.urls import without_credentials
from agentool_otel.reading.sources.servers.answer import Answer, Cut, whole_answer
from agentool_otel.reading.sources.servers.credentials import Credentials
from agentool_otel.reading.sources.servers.deadline import RequestDeadline, Sockets
from agentool_otel.reading.sources.servers.limits import Limits, Reading

__all__ = ["Http"]

_WAITS_S = (0.5, 1.0, 2.0)
"""Waits before a retry, where the server does not name one."""
_LONGEST_WAIT_S = 30.0
"""Longest accepted wait of a server's `Retry-After`."""
_CONNECT_S = 10.0
_BODY_S = 900.0
"""From the first byte of a body to the last: a server may drip."""
_WORDS = 200
_REDIRECTS = 5
_BUSY = (429, 502, 503, 504)
_REDIRECTED = (301, 302, 303, 307, 308)

Query = Sequence[tuple[str, str]]


class Http:
    """A server's API.

    Args:
        name: what to call the server in messages.
        base: the URL that paths are appended to.
        credentials: sent to this server alone.
        timeout_s: how long it may take to begin its answer, and be silent within it.

    Raises:
        MissingDependencyError: httpx is not installed.
        ConfigurationError: the environment names a proxy or certificates that cannot be used.
    """

    def __init__(self, name: str, base: str, credentials: Credentials, timeout_s: float):
        self.name = name
        self.bytes_read = 0
        """Bytes of bodies that came so far."""
        self.reading = Reading(name, Limits())
        """Totals of the current reading, which the requests belong to."""
        self._base = base
        self._credentials = credentials
        self._timeout_s = timeout_s
        self._httpx: Any = library("httpx", f"reading {name}", extra="servers")
        self._client: Any = self._new_client()
        self._sockets = Sockets()

    def close(self) -> None:
        """Close the connections; another request opens new ones."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def get(
        self, path: str, query: Query = (), accept: str = "application/json", more: str = ""
    ) -> Answer:
        """Return the answer to a request, whose status is 200, 400 or 404.

        Args:
            path: behind the base.
            query: its parameters.
            accept: the media type to ask for.
            more: what the request is about, for messages.

        Raises:
            SourceUnreachable: the server does not answer in time, or stays busy.
            ReadingLimit: the reading has taken all that it may.
            SourceDenied: it wants credentials, or refuses them.
            AnswerTooLarge: the response exceeds the limit.
            SourceError: any other refusal.
        """
        name = f"{self.name} {more}".rstrip()
        headers = {"accept": accept, "accept-encoding": "gzip", **self._credentials.headers}
        url = f"{self._base}{path}" + (f"?{urlencode(query)}" if query else "")
        if self._client is None:
            self._client = self._new_client()
        why = ""
        for wait in (*_WAITS_S, None):
            self.reading.count_request()
            try:
                with self.reading.waiting():
                    answer, retry_after = self._answer(url, headers, name)
            except (self._httpx.TransportError, Cut) as error:
                why = self._clean(str(error) or type(error).__name__)[:_WORDS]
            except (self._httpx.InvalidURL, UnicodeError):
                raise SourceError(f"{name}: this is no URL of a server") from None
            else:
                if answer.status not in _BUSY:
                    return self._check(answer)
                why = f"it answers {answer.status}{self.explanation(answer)}"
                answer.close()
                wait = wait and _wait_s(retry_after, wait)
            if wait is not None:
                with self.reading.waiting():
                    time.sleep(min(wait, self.reading.seconds_left()))
        raise SourceUnreachable(f"{name} gives no answer: {why}; hint: does the server run there?")

    def _answer(self, url: str, headers: dict[str, str], name: str) -> tuple[Answer, str | None]:
        """Return the answer of one attempt and its `Retry-After`, within the deadlines."""
        deadline = RequestDeadline(min(self._timeout_s, self.reading.seconds_left()), self._sockets)
        begun_at: int | None = None
        try:
            with deadline.watch(), self._send(url, headers, name) as response:
                begun_at = self.bytes_read
                deadline.postpone(min(_BODY_S, self.reading.seconds_left()))
                answer = self._answer_of(response, name)
                retry_after = response.headers.get("retry-after")
        except (self._httpx.TransportError, Cut) as error:
            slow = (self._httpx.ReadTimeout, self._httpx.WriteTimeout)
            if not deadline.passed and not isinstance(error, slow):
                raise
        else:
            if not deadline.passed:
                return answer, retry_after
            answer.close()  # a body without a length ends where the connection does
        self.reading.seconds_left()
        # Asking a slow server once more makes it slower: this error ends the reading.
        if begun_at is None:
            raise SourceUnreachable(
                f"{name} has not begun its answer after {self._timeout_s:g} s; hint: timeout=300s "
                "waits longer, and less of the time is found sooner"
            )
        read = f"{self.bytes_read - begun_at:,} bytes of it came"
        if deadline.passed:
            raise SourceUnreachable(
                f"{name} has not ended its answer after {_BODY_S:.0f} s, {read}; hint: ask for less"
            )
        raise SourceUnreachable(
            f"{name} is silent for {self._timeout_s:g} s within its answer, {read}; hint: "
            "timeout=300s waits longer"
        )

    @contextmanager
    def _send(self, url: str, headers: dict[str, str], name: str) -> Generator[Any]:
        """Send a request, following redirects on the same server."""
        for _ in range(_REDIRECTS):
            extensions = {"trace": self._sockets.on_event}
            request = self._client.build_request("GET", url, headers=headers, extensions=extensions)
            response = self._client.send(request, stream=True)
            try:
                if response.status_code not in _REDIRECTED:
                    yield response
                    return
                target = _join_url(url, response.headers.get("location", ""))
            finally:
                response.close()
            if target is None:
                raise SourceError(f"{name} redirects to an invalid URL")
            if not _same_server(url, target):  # it is to know nothing of who we are
                shown = without_credentials(target)[:_WORDS]
                raise SourceDenied(
                    f"{name} sends elsewhere, to {self._clean(shown)}, as for a log-in; "
                    f"hint: {self._hint()}, or name that address if it is the server's"
                )
            url = target
        raise SourceError(f"{name} sends from one address to the next, without end")

    def _answer_of(self, response: Any, name: str) -> Answer:
        encoding = response.headers.get("content-encoding", "identity").lower()
        if encoding not in ("identity", "gzip"):
            raise SourceError(f"{name} answers in {self._clean(encoding)!r}, not gzip as asked")
        chunks = self._count_bytes(response)
        return whole_answer(name, response.status_code, chunks, encoding == "gzip")

    def _count_bytes(self, response: Any) -> Iterator[bytes]:
        for data in response.iter_raw():
            self.bytes_read += len(data)
            yield data

    def _check(self, answer: Answer) -> Answer:
        status = answer.status
        if status in (200, 400, 404):
            return answer
        words = self.explanation(answer)
        answer.close()
        if status in (401, 403, 407):
            raise SourceDenied(f"{answer.name} refuses, {status}{words}; hint: {self._hint()}")
        raise SourceError(f"{answer.name} answers {status}{words}")

    def refusal(self, answer: Answer) -> SourceError:
        """Return an error for an unexpected answer, and close it."""
        error: SourceError
        if answer.is_page():
            error = SourceDenied(
                f"{answer.name} answers with a web page, as of a log-in, instead of traces; "
                f"hint: is it the address of the server's API? {self._hint()}{self.path_note()}"
            )
        else:
            error = SourceError(f"{answer.name} answers {answer.status}{self.explanation(answer)}")
            if answer.status == 404 and (note := self.path_note()):
                error = SourceError(f"{error}; hint: is it the address of the server's API?{note}")
        answer.close()
        return error

    def _hint(self) -> str:
        token, tenant = self._credentials.variables
        return f"set {token} if it needs a token, {tenant} if it has tenants"

    def path_note(self) -> str:
        """Return how to name a service, for a hint, where the path may be the name of one."""
        path = urlsplit(self._base).path
        if path.count("/") != 1:
            return ""
        return f" ({path} is a base path; ?service={path[1:]} names a service)"

    def explanation(self, answer: Answer) -> str:
        """Return the server's explanation, in one line and without our credentials."""
        if answer.is_page():
            return ""
        text = answer.head(4 * _WORDS).decode("utf-8", "replace")
        words = self._clean(" ".join(text.split()))[:_WORDS]
        return f" ({words})" if words else ""

    def _clean(self, text: str) -> str:
        printable = "".join(item if item.isprintable() else " " for item in text)
        return self._credentials.hidden_in(printable)

    def _new_client(self) -> Any:
        timeout = self._httpx.Timeout(self._timeout_s, connect=min(_CONNECT_S, self._timeout_s))
        try:
            return self._httpx.Client(timeout=timeout, follow_redirects=False, cookies=_NoCookies())
        except (ImportError, OSError, ValueError, self._httpx.InvalidURL) as error:
            raise ConfigurationError(
                f"{self.name} cannot be asked over HTTP ({type(error).__name__}); hint: "
                f"{', '.join(PROXIES[:-1])} and {PROXIES[-1]} name proxies, {CERTIFICATES} a file "
                "of certificates"
            ) from None


class _NoCookies(CookieJar):
    """Keeps none: one with odd characters would spoil every later request."""

    def extract_cookies(self, response: object, request: object) -> None:
        """Do nothing."""


def _wait_s(retry_after: str | None, usual: float) -> float:
    """Return how long to wait by a `Retry-After`."""
    wait = retry_after_s(retry_after)
    if wait is None:
        return usual
    return min(max(0.0, wait), _LONGEST_WAIT_S)  # in this order, no wait for NaN


def _join_url(url: str, location: str) -> str | None:
    """Return the URL of a `Location`; None if it is none."""
    try:
        return urljoin(url, location)
    except ValueError:
        return None


def _same_server(one: str, other: str) -> bool:
    """Return whether credentials for one URL may be sent to the other: same host, no less
    protected.
    """
    try:
        a, b = urlsplit(one), urlsplit(other)
        if b.username is not None or a.hostname != b.hostname:
            return False
        if (a.scheme, b.scheme) == ("http", "https"):
            return (a.port or 80, b.port or 443) in ((80, 443), (a.port, a.port))
        return a.scheme == b.scheme and _port(a) == _port(b)
    except ValueError:
        return False


def _port(parts: Any) -> int:
    port: int | None = parts.port
    return port if port is not None else (443 if parts.scheme == "https" else 80)
