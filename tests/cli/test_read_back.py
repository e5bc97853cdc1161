"""The last line of `run` after spans were sent: how to read them back."""

from __future__ import annotations

import sys
from pathlib import Path
from threading import Event

import pytest

from agentool_otel.cli import _read_back
from agentool_otel.cli._read_back import command_to_read_back
from tests.cli.conftest import AGENT, agentool
from tests.reading.sources.loopback import FakeJaeger, Loopback, Reply, Request, as_json
from tests.tracing.export.receiver import HttpReceiver

HELP = "agentool-otel help source    reading spans back from a server"


def at(monkeypatch: pytest.MonkeyPatch, server: Loopback) -> None:
    monkeypatch.setattr(_read_back, "_JAEGER_PORT", int(server.place.partition(":")[2]))


def test_a_jaeger_beside_the_endpoint_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with Loopback(FakeJaeger({}, "pages")) as server:
        at(monkeypatch, server)
        one = command_to_read_back("http://127.0.0.1:4318 (http/protobuf)", {"my bot"})
        many = command_to_read_back("http://127.0.0.1:4317 (grpc)", {"a", "b", "c", "d"})
        assert command_to_read_back("http://collector.example:4318 (grpc)", {"a"}) == HELP
    assert one == f"agentool-otel show 'jaeger://{server.place}?service=my%20bot&since=1h'"
    assert many == f"agentool-otel show 'jaeger://{server.place}?since=1h'"
    assert len(server.requests) == 2


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"data": null}'])
def test_another_server_is_no_jaeger(monkeypatch: pytest.MonkeyPatch, body: bytes) -> None:
    def reply(request: Request) -> Reply:
        return 200, {}, body

    with Loopback(reply) as server:
        at(monkeypatch, server)
        assert command_to_read_back("http://127.0.0.1:4318 (grpc)", ()) == HELP
    assert command_to_read_back("http://127.0.0.1:4318 (grpc)", ()) == HELP  # nobody answers


def test_a_server_that_never_ends_its_answer_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended = Event()

    def reply(request: Request) -> Reply:
        ended.wait(60)
        return as_json({"data": []})

    monkeypatch.setattr(_read_back, "_TIMEOUT_S", 0.05)
    with Loopback(reply) as server:
        at(monkeypatch, server)
        assert command_to_read_back("http://127.0.0.1:4318 (grpc)", ()) == HELP
        ended.set()


def test_a_list_of_services_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    with Loopback(lambda _: as_json({"data": ["a"]})) as server:
        at(monkeypatch, server)
        assert "jaeger://" in command_to_read_back("http://127.0.0.1:4318 (grpc)", ())


def test_an_endpoint_that_is_down_is_reported_once() -> None:
    Path("app.py").write_text(AGENT)
    Path("workers.py").write_text(
        "import app, subprocess, sys\n"
        "subprocess.run([sys.executable, 'app.py'])\n"
        "app.adder('1 and 2?')\n"
    )
    options = ("--endpoint", "http://127.0.0.1:9", "--", sys.executable, "workers.py")
    done = agentool("run", *options)
    first, *others = done.stderr.splitlines()
    assert first == (
        "agentool-otel: 6 of 6 spans could not be delivered to http://127.0.0.1:9 (http/protobuf): "
        "Connection refused"
    )
    assert others[0] == "  6 are kept in .agentool"
    assert others[1].endswith("agentool_otel recover")
    assert len(others) == 3
    quiet = agentool("run", "-q", *options)
    assert quiet.stderr.count("spans could not be delivered to http://127.0.0.1:9") == 2


def test_the_demo_reports_an_endpoint_that_is_down_once() -> None:
    done = agentool("demo", "--endpoint", "http://127.0.0.1:9")
    assert done.returncode == 1
    error, hint = done.stderr.splitlines()
    assert error == "error: http://127.0.0.1:9 did not take 1 trace: Connection refused"
    assert "agentool_otel export .agentool/demo-" in hint


def test_run_ends_with_how_to_read_back() -> None:
    Path("app.py").write_text(AGENT)
    with HttpReceiver() as receiver:
        done = agentool("run", "--endpoint", receiver.endpoint, "--", sys.executable, "app.py")
    sent, last = done.stderr.splitlines()
    assert sent.startswith("agentool-otel: 3 spans sent to ")
    assert last.startswith("  ")
    assert "agentool_otel help source" in last or "?service=app&since=1h'" in last
