"""Misbehaving servers: reading is bounded, errors are clear, and no credential is leaked."""

from __future__ import annotations

import gzip
import socket
import sys

import pytest

from agentool_otel.errors import (
    MissingDependencyError,
    SourceDenied,
    SourceError,
    SourceUnreachable,
)
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.reading.sources.servers import answer, http
from tests.reading.sources.loopback import FakeTempo, Loopback, Reply, Request, gzipped

TOKEN = "s3cret-t0ken"
TRACE = {"0" * 31 + "1": [SpanRecord("0" * 31 + "1", "6b" * 8, name="s")]}
tempo = FakeTempo(TRACE)


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "_WAITS_S", (0.0, 0.0, 0.0))
    monkeypatch.setenv("AGENTOOL_TEMPO_TOKEN", TOKEN)


def read(server: Loopback, more: str = "") -> list[SpanRecord]:
    return list(open_source(f"tempo://{server.place}?trace=1{more}").spans())


def refusal(reply: Reply, more: str = "") -> SourceError:
    with Loopback(lambda _: reply) as server, pytest.raises(SourceError) as refused:
        read(server, more)
    assert TOKEN not in str(refused.value)
    return refused.value


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_busy_server_is_retried(status: int) -> None:
    replies = [(status, {"retry-after": "0"}, b"busy")] * 3
    with Loopback(lambda request: replies.pop() if replies else tempo(request)) as server:
        assert read(server) == TRACE["0" * 31 + "1"]
    assert len(server.requests) == 4


def test_a_server_that_stays_busy_is_given_up() -> None:
    refused = refusal((503, {}, b"starting up"))
    assert isinstance(refused, SourceUnreachable)
    assert "gives no answer: it answers 503 (starting up); hint: " in str(refused)


@pytest.mark.parametrize(
    ("header", "wait_s"),
    [(None, 1.5), ("2", 2.0), ("-1", 0.0), ("nan", 0.0), ("86400", 30.0), ("soon", 1.5),
     ("Mon, 01 Jan 99999999999999999999 00:00:00 GMT", 1.5),
     ("Fri, 31 Dec 9999 23:59:59 GMT", 30.0), ("Thu, 01 Jan 1970 00:00:00 GMT", 0.0)],
)  # fmt: skip
def test_retry_after_is_honoured_within_bounds(header: str | None, wait_s: float) -> None:
    assert http._wait_s(header, 1.5) == wait_s


def test_a_final_refusal_is_not_retried() -> None:
    with Loopback(lambda _: (500, {}, b"broken")) as server, pytest.raises(SourceError):
        read(server)
    assert len(server.requests) == 1


def test_a_closed_port_is_unreachable() -> None:
    with Loopback(tempo) as server:
        place = server.place
    with pytest.raises(SourceUnreachable, match=r"gives no answer: .*refused"):
        list(open_source(f"tempo://{place}?trace=1").spans())


def test_a_silent_server_is_given_up() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"tempo://127.0.0.1:{silent.getsockname()[1]}?trace=1&timeout=100ms"
        with pytest.raises(SourceUnreachable, match=r"not begun its answer after 0\.1 s; hint: "):
            list(open_source(url).spans())


def test_incomplete_response_is_retried_and_never_used() -> None:
    half = [True, True]

    def reply(request: Request) -> Reply:
        status, headers, body = tempo(request)
        if half:
            half.pop()
            return status, {**headers, "content-length": str(len(body))}, body[:-5]
        return status, headers, body

    with Loopback(reply) as server:
        assert read(server) == TRACE["0" * 31 + "1"]
    assert len(server.requests) == 3


def test_responses_may_be_compressed() -> None:
    with Loopback(lambda request: gzipped(tempo(request))) as server:
        assert read(server) == TRACE["0" * 31 + "1"]


@pytest.mark.parametrize(
    ("body", "words"),
    [(b"no gzip", "its gzip is damaged"), (gzip.compress(b"x" * 999)[:-9], "ends in the middle")],
    ids=["no gzip", "half of it"],  # the time stands in its header
)
def test_a_damaged_compressed_response_is_given_up(body: bytes, words: str) -> None:
    assert words in str(refusal((200, {"content-encoding": "gzip"}, body)))


def test_an_unrequested_compression_is_refused() -> None:
    assert "answers in 'br', not gzip" in str(refusal((200, {"content-encoding": "br"}, b"x")))


@pytest.mark.parametrize("packed", [False, True])
def test_an_endless_response_is_refused(packed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer, "_LARGEST", 1 << 22)
    body = b"\n" * ((1 << 22) + 1)
    reply = (200, {"content-encoding": "gzip"}, gzip.compress(body, 1))
    refused = refusal(reply if packed else (200, {}, body))
    assert "answers with more than 4 MiB; hint: ask for less" in str(refused)


def test_a_response_that_drips_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "_BODY_S", -1.0)
    assert "has not ended its answer after" in str(refusal((200, {}, b"\n")))


def test_a_compressed_body_inside_a_response_is_not_unpacked() -> None:
    refused = refusal((200, {}, gzip.compress(b'{"resourceSpans": []}')))
    assert "answers with something else than traces" in str(refused)


@pytest.mark.parametrize("status", [401, 403])
def test_a_refusal_names_variables_and_hides_echoed_secrets(status: int) -> None:
    refused = refusal((status, {}, f"no such token: {TOKEN}".encode()))
    assert isinstance(refused, SourceDenied)
    assert f"refuses, {status} (no such token: ***); hint: set AGENTOOL_TEMPO_TOKEN" in str(refused)


def test_a_login_page_is_not_mistaken_for_traces() -> None:
    page = b"<!DOCTYPE html><title>Grafana</title>"
    assert "answers with a web page, as of a log-in" in str(refusal((200, {}, page)))


def test_credentials_are_not_sent_to_another_server() -> None:
    with Loopback(tempo) as loopback:
        refused = refusal((302, {"location": f"http://{loopback.place}/login?next=1"}, b""))
    assert isinstance(refused, SourceDenied)
    assert f"sends elsewhere, to http://{loopback.place}/login, as for a log-in" in str(refused)
    assert loopback.requests == []


def test_redirects_on_the_same_server_are_followed_up_to_a_limit() -> None:
    def reply(request: Request) -> Reply:
        if request.path.startswith("/moved"):
            return tempo(request._replace(path=request.path.removeprefix("/moved")))
        return 307, {"location": f"/moved{request.path}"}, b""

    with Loopback(reply) as server:
        assert read(server) == TRACE["0" * 31 + "1"]
    assert "from one address to the next, without end" in str(
        refusal((302, {"location": "/"}, b""))
    )


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("http://h/a", "http://h/b", True),
        ("http://h/a", "https://h/a", True),
        ("http://h:80/a", "http://h/a", True),
        ("https://h/a", "http://h/a", False),
        ("http://h/a", "http://h:81/a", False),
        ("http://h/a", "http://h.evil/a", False),
        ("http://h/a", "http://u:p@h/a", False),
        ("http://h/a", "http://[/a", False),
        ("http://h/a", "file:///etc/passwd", False),
    ],
)
def test_the_same_server_means_the_same_host_and_no_weaker_transport(
    one: str, other: str, same: bool
) -> None:
    assert http._same_server(one, other) is same


def test_the_proxy_of_the_environment_is_used_and_not_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Loopback(tempo) as proxy:
        monkeypatch.setenv("HTTP_PROXY", f"http://user:s3cret@{proxy.place}")
        spans = list(open_source("tempo://tempo.example?trace=1").spans())
    assert spans == TRACE["0" * 31 + "1"]
    monkeypatch.setenv("HTTP_PROXY", "gopher://user:s3cret@h")
    with pytest.raises(Exception, match="HTTP_PROXY") as refused:
        open_source("tempo://h?trace=1")
    assert "s3cret" not in str(refused.value)


def test_without_httpx_the_error_has_the_install_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "httpx", None)
    with pytest.raises(MissingDependencyError, match=r"pip install .*\[servers\]"):
        open_source("tempo://h")
