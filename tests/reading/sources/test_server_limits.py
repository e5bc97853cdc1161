"""The limits of one reading: a server that always has more comes to an end, and what was read until
then is there."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable

import pytest

from agentool_otel.errors import SourceError
from agentool_otel.integrations.tempo.server import Tempo
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.reading.sources.servers import http
from agentool_otel.reading.sources.servers.limits import ReadingLimit
from tests.reading.sources.encoders.otlp import otlp
from tests.reading.sources.loopback import FakeTempo, Loopback, Reply, Request, as_json

WINDOW = "since=2026-01-01T00:00:00Z&until=2026-01-02T00:00:00Z"


def span(trace_id: str) -> SpanRecord:
    return SpanRecord(trace_id, "6b" * 8, name="s", start_ns=1, end_ns=2)


def endless_tempo() -> Callable[[Request], Reply]:
    """Return a server whose every search is full, of traces that nobody has seen before."""
    numbers = itertools.count(1)

    def reply(request: Request) -> Reply:
        if request.path == "/api/search":
            results = [{"traceID": f"{next(numbers):032x}"} for _ in range(1000)]
            return as_json({"traces": results})
        trace_id = request.path.rpartition("/")[2]
        return FakeTempo({trace_id: [span(trace_id)]})(request)

    return reply


def endless_jaeger(services: int = 1) -> Callable[[Request], Reply]:
    """Return a server of many services, in each of which every search is full of new traces."""
    numbers = itertools.count(1)

    def reply(request: Request) -> Reply:
        if request.path.endswith("/services"):
            return as_json({"services": [f"s{index}" for index in range(services)]})
        spans = [span(f"{next(numbers):032x}") for _ in range(100 if services == 1 else 1)]
        return as_json({"result": otlp(spans)})

    return reply


SERVERS = {"tempo": endless_tempo, "jaeger": endless_jaeger}


def read(url: str) -> tuple[int, list[str]]:
    source = open_source(url)
    count = len({item.trace_id for item in source.spans()})
    return count, [problem.message for problem in source.problems]


@pytest.mark.parametrize("scheme", SERVERS)
def test_a_reading_ends_at_its_number_of_traces(scheme: str) -> None:
    with Loopback(SERVERS[scheme]()) as server:
        count, problems = read(f"{scheme}://{server.place}?{WINDOW}&max_traces=250")
    assert count == 250
    assert "one reading takes 250 traces, and there is more" in problems[-1]
    assert "250 traces by" in problems[-1]
    assert "hint: max_traces=500 raises the limit" in problems[-1]


@pytest.mark.parametrize("scheme", SERVERS)
def test_a_reading_ends_at_its_number_of_requests(scheme: str) -> None:
    with Loopback(SERVERS[scheme]()) as server:
        count, problems = read(f"{scheme}://{server.place}?{WINDOW}&max_requests=20")
    assert len(server.requests) == 20
    assert count > 0
    assert "one reading takes 20 requests" in problems[-1]
    assert "hint: max_requests=40 raises" in problems[-1]


@pytest.mark.parametrize("scheme", SERVERS)
def test_a_reading_ends_when_its_time_is_over(scheme: str) -> None:
    with Loopback(SERVERS[scheme]()) as server:
        count, problems = read(f"{scheme}://{server.place}?{WINDOW}&within=300ms")
    assert count > 0
    assert "one reading takes 0.3 s of waiting for the server" in problems[-1]
    assert "hint: within=0.6s raises" in problems[-1]


def test_a_reading_asks_for_a_limited_number_of_services() -> None:
    with Loopback(endless_jaeger(services=30)) as server:
        count, problems = read(f"jaeger://{server.place}?{WINDOW}&max_services=7")
    assert count == 7
    assert "one reading takes 7 of 30 services" in problems[-1]


def test_a_reading_that_exactly_fits_its_limits_is_whole() -> None:
    traces = {f"{index:032x}": [span(f"{index:032x}")] for index in range(1, 6)}
    with Loopback(FakeTempo(traces)) as server:
        url = f"tempo://{server.place}?since=1970-01-01T00:00:00Z&until=1970-01-01T01:00:00Z"
        assert read(f"{url}&max_traces=5&max_requests=6") == (5, [])


def test_a_limit_that_leaves_nothing_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "_WAITS_S", (0.0, 0.0, 0.0))
    with (
        Loopback(lambda _: (503, {}, b"")) as server,
        pytest.raises(ReadingLimit, match="2 requests"),
    ):
        read(f"tempo://{server.place}?{WINDOW}&max_requests=2")


def test_each_reading_has_its_limits_to_itself() -> None:
    traces = {f"{index:032x}": [span(f"{index:032x}")] for index in range(1, 6)}
    with Loopback(FakeTempo(traces)) as server:
        source = open_source(
            f"tempo://{server.place}?since=1970-01-01T00:00:00Z&until=1970-01-01T01:00:00Z"
            "&max_traces=5"
        )
        assert [len(list(source.spans())) for _ in range(3)] == [5, 5, 5]


HOSTILE = [
    "Mon, 01 Jan 99999999999999999999 00:00:00 GMT", "Mon, 01 Jan 0000 00:00:00 GMT", "-inf",
    "Mon, 01 Jan 2026 00:00:00 +99999999999", "9" * 5000, "1e999", "nan", "\xff", "", ",", "[", "%",
    "http://[", "http://h:99999999/", "//\x01", "http://" + "a" * 70_000, "\u2028", "gzip, gzip",
]  # fmt: skip
HEADERS = [
    "retry-after", "location", "content-encoding", "content-type", "content-length", "set-cookie",
    "date", "transfer-encoding", "connection", "keep-alive", "expires", "www-authenticate",
]  # fmt: skip


@pytest.mark.parametrize("status", [200, 302, 401, 429])
@pytest.mark.parametrize("header", HEADERS)
def test_no_header_of_a_server_is_an_exception(
    header: str, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http, "_WAITS_S", (0.0,))
    monkeypatch.setattr(http, "_LONGEST_WAIT_S", 0.0)
    replies: list[Reply] = []
    with Loopback(lambda _: replies[-1]) as server:
        source = Tempo(f"tempo://{server.place}?timeout=5s")
        for value in [*HOSTILE, *(f"a=b; expires={item}; max-age={item}" for item in HOSTILE)]:
            replies.append((status, {header: value.encode().decode("latin-1")}, b"{}"))
            with contextlib.suppress(SourceError):
                source.http.get("/").close()
        source.http.close()
    assert len(server.requests) >= len(replies)
