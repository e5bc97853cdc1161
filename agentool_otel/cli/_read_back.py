"""The SOURCE of spans that were sent: that of a Jaeger on this machine, if there is one."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress
from shlex import quote
from threading import Thread
from urllib.parse import quote as quoted_in_url
from urllib.parse import urlsplit

from agentool_otel.ground import json_codec

__all__ = ["command_to_read_back"]

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_JAEGER_PORT = 16686
_TIMEOUT_S = 1.0
_LONGEST = 1 << 20
_MOST_SERVICES = 3


def command_to_read_back(destination: str, services: Collection[str]) -> str:
    """Return the command that shows the sent spans, or that explains how to.

    Args:
        destination: an OTLP endpoint. Where it is on this machine, a Jaeger is looked for here.
        services: names of the services that sent there.
    """
    host = _host(destination)
    if host not in _LOOPBACK or not _is_jaeger(host):
        return "agentool-otel help source    reading spans back from a server"
    names = [f"service={quoted_in_url(service, safe='')}" for service in sorted(services)]
    parameters = [*(names if len(names) <= _MOST_SERVICES else ()), "since=1h"]
    place = f"[{host}]" if ":" in host else host
    source = f"jaeger://{place}:{_JAEGER_PORT}?{'&'.join(parameters)}"
    return f"agentool-otel show {quote(source)}"


def _host(destination: str) -> str:
    url = destination.partition(" ")[0]
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _is_jaeger(host: str) -> bool:
    """Return whether a Jaeger answers in time at the usual port of its query service."""
    answers: list[bytes] = []
    # The thread may wait for a server that sends a byte now and then; nobody waits for the thread.
    thread = Thread(target=_ask, args=(host, answers), daemon=True)
    thread.start()
    thread.join(_TIMEOUT_S)
    with suppress(ValueError):
        services = json_codec.loads(answers[0]) if answers else None
        return isinstance(services, dict) and isinstance(services.get("data"), list)
    return False


def _ask(host: str, answers: list[bytes]) -> None:
    from http.client import HTTPConnection, HTTPException

    connection = HTTPConnection(host, _JAEGER_PORT, timeout=_TIMEOUT_S)
    with suppress(OSError, HTTPException, ValueError):
        try:
            connection.request("GET", "/api/services")
            answers.append(connection.getresponse().read(_LONGEST))
        finally:
            connection.close()
