"""The query in the URL of a server.

    tempo+https://user:password@grafana.example/base/path?service=bot&since=2h
    scheme transport           host             base path  parameters

`+` stands for itself, as in the offset of a time; a character that has a meaning in URLs is written
as `%26` for `&`, `%23` for `#`.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple
from urllib.parse import SplitResult, unquote, urlsplit

from agentool_otel.errors import SourceError
from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.durations import parse_duration
from agentool_otel.ground.urls import without_credentials
from agentool_otel.model.times import from_ns, parse_time
from agentool_otel.reading.sources.servers.limits import Limits

__all__ = ["SECOND_NS", "Attribute", "ServerQuery", "parse_query", "window_text"]

SECOND_NS = 1_000_000_000
_HOUR_NS = 3600 * SECOND_NS
_TIMEOUT_S = 60.0
_TRACE_ID = re.compile(r"[0-9a-f]{1,32}")
_COUNT = re.compile(r"[0-9]{1,15}")
_COUNTS = ("max_traces", "max_requests", "max_services")
_BESIDE_TRACE = ("trace", "timeout", "within", *_COUNTS)
_PARAMETERS = ("trace", "service", "attribute", "since", "until", "timeout", "within", *_COUNTS)
_REPEATED = ("trace", "service", "attribute")


class Attribute(NamedTuple):
    """An attribute that a span of the trace has to have."""

    key: str
    value: str


class ServerQuery(NamedTuple):
    """Location and selection of the traces to read from a server."""

    name: str
    """The URL as it may be shown: without credentials and parameters."""
    base: str
    """The address of the API: scheme, host, port and path, without a trailing slash."""
    userinfo: str
    """User and password as in the URL; a secret."""
    traces: tuple[str, ...]
    """Ids, 32 hex digits each; nothing else restricts the query then."""
    services: tuple[str, ...]
    """Any of them; none for all."""
    attributes: tuple[Attribute, ...]
    """All of them, on one span."""
    since_ns: int
    until_ns: int
    usual: bool
    """Whether the URL has no start time, which is then an hour before the end."""
    until_now: bool
    """Whether the URL has no end time."""
    timeout_s: float
    """Longest wait for the beginning of an answer, and for each further part."""
    limits: Limits

    def __repr__(self) -> str:
        return f"<{self.name}>"


def parse_query(where: str, port: int, now_ns: Callable[[], int] = time.time_ns) -> ServerQuery:
    """Return the query of a URL.

    Args:
        where: the URL, which may hold credentials; no error repeats them.
        port: of the server's API over plain HTTP, where the URL names none.
        now_ns: the time that durations count from.

    Raises:
        SourceError: it cannot be understood.
    """
    name = without_credentials(where).rstrip("/")
    place, _, query = where.partition("?")
    base, userinfo = _server(place, name, port)
    values = _values(query, name)

    def one(parameter: str) -> str | None:
        return next(iter(values.get(parameter, ())), None)

    traces = tuple(dict.fromkeys(_trace_id(item, name) for item in values.get("trace", ())))
    extra = [value for value in values if value not in _BESIDE_TRACE]
    if traces and extra:
        raise SourceError(
            f"{name}: trace= names whole traces, and {extra[0]}= cannot be asked for beside it"
            f"; hint: leave out one of the two"
        )
    now = now_ns()
    until_text = one("until")
    until = _time(until_text or "now", "until", name, now)
    since_text = one("since")
    since = until - _HOUR_NS if since_text is None else _time(since_text, "since", name, now)
    if since >= until:
        raise SourceError(
            f"{name}: since= ({from_ns(since)}) is not before until= ({from_ns(until)})"
        )
    return ServerQuery(
        name,
        base,
        userinfo,
        traces,
        tuple(dict.fromkeys(values.get("service", ()))),
        tuple(_attribute(item, name) for item in values.get("attribute", ())),
        since,
        until,
        since_text is None and not traces,
        not until_text,
        _seconds(one("timeout"), "timeout", name) or _TIMEOUT_S,
        _limits(one, name),
    )


def window_text(since_ns: int, until_ns: int) -> str:
    """Return a window of time in words."""
    return f"{from_ns(since_ns)} to {from_ns(until_ns)}"


def _server(place: str, name: str, port: int) -> tuple[str, str]:
    """Return the address of the API, and user and password."""
    scheme, _, transport = place.partition("://")[0].lower().partition("+")
    transport = transport or "http"
    if transport not in ("http", "https"):
        raise SourceError(
            f"{scheme}:// goes over http or https, not {transport!r}; hint: {scheme}+https://HOST"
        )
    parts = _parts(place)
    if parts is None or not parts.hostname or parts.fragment:
        raise SourceError(
            f"{name}: expected {scheme}://HOST:PORT/PATH?PARAMETERS; hint: characters that have a "
            "meaning in URLs are written as %2F for /, %3F for ?, %23 for #, %40 for @"
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    number = parts.port if parts.port is not None or transport == "https" else port
    address = f"{transport}://{host}" + (f":{number}" if number is not None else "")
    return address + parts.path.rstrip("/"), parts.netloc.rpartition("@")[0]


def _parts(place: str) -> SplitResult | None:
    """Return the parts of a URL; None for none. The error itself may quote a password."""
    try:
        parts = urlsplit(place)
        return parts if parts.port != 0 else None
    except ValueError:
        return None


def _values(query: str, name: str) -> dict[str, list[str]]:
    """Return the values of each parameter."""
    values: dict[str, list[str]] = {}
    for part in filter(None, query.split("&")):
        key, sign, value = part.partition("=")
        key = unquote(key)
        if key not in _PARAMETERS:
            names = ", ".join(f"{parameter}=" for parameter in _PARAMETERS)
            raise SourceError(f"{name} does not know {key + '='!r}; it takes {names}")
        if not sign or not value or "#" in value:
            raise SourceError(
                f"{name}: {key}= has no value, or a # in it; hint: # is written as %23"
            )
        values.setdefault(key, []).append(unquote(value))
        if len(values[key]) > 1 and key not in _REPEATED:
            raise SourceError(f"{name}: {key}= is given twice")
    return values


def _trace_id(text: str, name: str) -> str:
    if not _TRACE_ID.fullmatch(lower := text.lower()) or not lower.strip("0"):
        raise SourceError(f"{name}: expected trace= to be an id of 32 hex digits, got {text!r}")
    return lower.zfill(32)


def _attribute(text: str, name: str) -> Attribute:
    key, sign, value = text.partition("=")
    if not key or not sign:
        raise SourceError(f"{name}: expected attribute=KEY=VALUE, got {text!r}")
    return Attribute(key, value)


def _time(text: str, parameter: str, name: str, now: int) -> int:
    at = parse_time(text, now)
    if at is None:
        raise SourceError(
            f"{name}: expected {parameter}= to be how long ago, as 2h or 30m, or a time, as "
            f"2026-11-22T10:00:00Z, got {text!r}"
        )
    return at


def _limits(one: Callable[[str], str | None], name: str) -> Limits:
    counts = {
        count: _count(text, count, name) for count in _COUNTS if (text := one(count)) is not None
    }
    limits = Limits(**counts)
    within_s = _seconds(one("within"), "within", name)
    return limits if within_s is None else limits._replace(within_s=within_s)


def _count(text: str, parameter: str, name: str) -> int:
    if not _COUNT.fullmatch(text) or not int(text):
        raise SourceError(f"{name}: expected {parameter}= to be a number from 1 on, got {text!r}")
    return int(text)


def _seconds(text: str | None, parameter: str, name: str) -> float | None:
    if text is None:
        return None
    duration = parse_duration(text)
    if not duration:
        raise SourceError(f"{name}: expected a duration such as 90s as {parameter}=, got {text!r}")
    return duration / SECOND_NS
