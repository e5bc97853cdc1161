"""Next steps after spans were sent: the page of the server, and the SOURCE that reads them back.

The programs that have such a page declare it (`Integration.page`). A server on this machine is
recognised by its answer to a request, within a second; another one by its endpoint alone.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import suppress
from shlex import quote
from threading import Thread
from typing import NamedTuple
from urllib.parse import SplitResult, urlsplit
from urllib.parse import quote as quoted_in_url

from agentool_otel.cli._output import say
from agentool_otel.ground.integrations import Page, integrations

__all__ = ["next_steps", "say_next_steps"]

_LOOPBACK = ("localhost", "127.0.0.1", "::1")
_RECEIVERS = (4317, 4318)
"""Ports of OTLP, which have no page."""
_TIMEOUT_S = 1.0
_LONGEST = 1 << 20
_MOST_SERVICES = 3
_HELP = "agentool-otel help source    which servers spans are read back from"


class _Place(NamedTuple):
    """A page, and the address that it has here."""

    page: Page
    address: str


def say_next_steps(destination: str, services: Collection[str] = ()) -> None:
    """Print `next_steps` as messages."""
    for line in next_steps(destination, services):
        say(f"  {line}", bold=True)


def next_steps(destination: str, services: Collection[str] = ()) -> list[str]:
    """Return lines that show the sent spans: the page of the server, and a command where one reads
    them back.

    Args:
        destination: an OTLP endpoint.
        services: names of the services that sent there.
    """
    endpoint = _parts(destination.partition(" ")[0])
    place = None if endpoint is None else _place(endpoint)
    if place is None:
        return [_HELP]
    page, address = place
    names = sorted(services)
    path = ""
    if page.of_service and len(names) == 1:
        path = page.of_service.format(service=_in_url(names[0]))
    lines = [f"{address}{path}    {page.title} shows them"]
    if page.scheme is not None:
        parameters = [f"service={_in_url(name)}" for name in names]
        parameters = [*(parameters if len(names) <= _MOST_SERVICES else ()), "since=1h"]
        source = f"{page.scheme}://{urlsplit(address).netloc}?{'&'.join(parameters)}"
        lines.append(f"agentool-otel show {quote(source)}")
    return lines


def _parts(url: str) -> SplitResult | None:
    with suppress(ValueError):
        parts = urlsplit(url)
        if parts.hostname and (parts.port is None or parts.port):  # reading the port may raise
            return parts
    return None


def _in_url(name: str) -> str:
    return quoted_in_url(name, safe="")


def _place(endpoint: SplitResult) -> _Place | None:
    pages = [item.page for item in integrations().values() if item.page is not None]
    origin = f"{endpoint.scheme}://{endpoint.netloc}"
    for page in pages:
        if page.below is not None and page.below in endpoint.path:
            return _Place(page, origin + endpoint.path.partition(page.below)[0])
    receiving = [page for page in pages if page.takes_spans and page.below is None]
    if endpoint.hostname not in _LOOPBACK:
        named = (page for page in receiving if page.port == endpoint.port)
        return next((_Place(page, origin) for page in named), None)
    return next(_answering(endpoint, origin, receiving, pages), None)


def _answering(
    endpoint: SplitResult, origin: str, receiving: list[Page], pages: list[Page]
) -> Iterator[_Place]:
    """Request the endpoint itself, then the usual ports of pages beside a receiver."""
    host = endpoint.hostname or ""
    if endpoint.port is not None and endpoint.port not in _RECEIVERS:
        answers: dict[str, str] = {}
        for page in receiving:
            if page.probe not in answers:
                answers[page.probe] = _answer(host, endpoint.port, page.probe)
            if page.answer in answers[page.probe]:
                yield _Place(page, origin)
    for page in pages:
        if not page.takes_spans and page.answer in _answer(host, page.port, page.probe):
            place = f"[{host}]" if ":" in host else host
            yield _Place(page, f"http://{place}:{page.port}")


def _answer(host: str, port: int, path: str) -> str:
    """Return an answer without its blanks, as far as it comes in time; "" without one."""
    answers: list[bytes] = []
    # The thread may wait for a server that sends a byte now and then; nobody waits for the thread.
    thread = Thread(target=_ask, args=(host, port, path, answers), daemon=True)
    thread.start()
    thread.join(_TIMEOUT_S)
    return "".join(answers[0].decode("utf-8", "replace").split()) if answers else ""


def _ask(host: str, port: int, path: str, answers: list[bytes]) -> None:
    from http.client import HTTPConnection, HTTPException

    connection = HTTPConnection(host, port, timeout=_TIMEOUT_S)
    with suppress(OSError, HTTPException, ValueError):
        try:
            connection.request("GET", path)
            answers.append(connection.getresponse().read(_LONGEST))
        finally:
            connection.close()
