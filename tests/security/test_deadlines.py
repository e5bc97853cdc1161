"""A promise about time needs a deadline: however a receiver spends it, an attempt ends in time, and
so does the program.

Steps of the receivers are counted, not seconds: those that are said at the end of a script would
take twenty seconds, and an attempt has half of one.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import cast

import pytest
import trustme

from agentool_otel.ground import otlp_settings
from agentool_otel.otlp.protobuf_encoder import encode_span
from agentool_otel.tracing.export.send.attempt import GrpcSender, HttpSender, Sender
from agentool_otel.tracing.export.send.otlp import Destination, OtlpTarget, Senders, attempts
from tests.security.slow_receivers import DRIPS, HANDSHAKE, HTTP2, SCRIPTS, SlowReceiver
from tests.tracing.export.samples import span_with

pytestmark = pytest.mark.thorough  # each waits until a real deadline

REQUEST = encode_span(span_with({"text": "x"}))
ATTEMPT_S = 0.5
IN_TIME = DRIPS // 4
"""Steps: ten times those of an attempt, a quarter of what there are."""


def to(endpoint: str) -> Sender:
    target = OtlpTarget.at(endpoint, {})
    return GrpcSender(target) if target.protocol == "grpc" else HttpSender(target)


def hangs_up_in_time(sender: Sender, receiver: SlowReceiver) -> None:
    answer = sender.send(REQUEST, ATTEMPT_S)
    steps = receiver.longest
    assert answer.verdict == "later"
    assert steps < IN_TIME
    sender.close()
    assert receiver.longest < IN_TIME


@pytest.mark.parametrize("description", SCRIPTS)
def test_an_attempt_ends_however_slowly_it_is_answered(description: str) -> None:
    with SlowReceiver(SCRIPTS[description]) as receiver:
        hangs_up_in_time(to(f"http://{receiver.endpoint}"), receiver)


def test_an_attempt_ends_if_the_request_is_not_read() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        sender = to(f"http://127.0.0.1:{silent.getsockname()[1]}")
        done = threading.Thread(target=sender.send, args=(b"x" * (64 << 20), ATTEMPT_S))
        done.start()
        done.join(20)
        assert not done.is_alive()


@pytest.mark.parametrize("description", ["a body", "headers", "chunks", "nothing"])
def test_an_attempt_over_tls_ends_too(description: str, monkeypatch: pytest.MonkeyPatch) -> None:
    authority = trustme.CA()
    with authority.cert_pem.tempfile() as path:
        monkeypatch.setenv(otlp_settings.variable("CERTIFICATE"), path)
        import ssl

        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("127.0.0.1").configure_cert(context)
        with SlowReceiver(SCRIPTS[description], context) as receiver:
            hangs_up_in_time(to(f"https://{receiver.endpoint}"), receiver)


def test_a_slow_tls_handshake_ends_the_attempt() -> None:
    with SlowReceiver(HANDSHAKE) as receiver:
        hangs_up_in_time(to(f"https://{receiver.endpoint}"), receiver)


@pytest.mark.parametrize("description", ["a status line", "headers", "nothing"])
def test_a_slow_proxy_ends_the_attempt(description: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with SlowReceiver(SCRIPTS[description]) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://{proxy.endpoint}")
        hangs_up_in_time(to("https://collector.example:4318"), proxy)


@pytest.mark.parametrize("scheme", ["grpc", "grpcs"])
@pytest.mark.parametrize("script", [HTTP2, HANDSHAKE, SCRIPTS["nothing"]])
def test_an_attempt_over_grpc_ends_too(scheme: str, script: object) -> None:
    with SlowReceiver(cast("tuple[object, bytes]", script)) as receiver:  # type: ignore[arg-type]
        hangs_up_in_time(to(f"{scheme}://{receiver.endpoint}"), receiver)


def test_addresses_of_a_host_share_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that does not answer leaves time for the next."""
    tried: list[tuple[str, float]] = []

    def connecting(address: tuple[str, int], timeout_s: float) -> socket.socket:
        tried.append((address[0], timeout_s))
        raise TimeoutError

    results = [
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", (f"192.0.2.{n}", 4318)) for n in range(3)
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_: results)
    monkeypatch.setattr(socket, "create_connection", connecting)
    assert to("http://collector.example:4318").send(REQUEST, 30).verdict == "later"
    assert [host for host, _ in tried] == ["192.0.2.0", "192.0.2.1", "192.0.2.2"]
    assert 9 < tried[0][1] <= 10


def test_a_kept_connection_gives_no_second_time() -> None:
    """If a kept connection fails, a new one is tried within the remaining time."""
    with SlowReceiver(SCRIPTS["a body"]) as receiver:
        sender = to(f"http://{receiver.endpoint}")
        hangs_up_in_time(sender, receiver)
        hangs_up_in_time(sender, receiver)


def test_attempts_at_parts_of_a_batch_end_by_one_deadline() -> None:
    """A batch that is halved makes many attempts."""
    import time

    class Refusing:
        limit = 1 << 20
        timeouts: list[float] = []  # noqa: RUF012

        def send(self, request: bytes, timeout_s: float) -> object:
            from agentool_otel.tracing.export.send.attempt import Answer

            self.timeouts.append(timeout_s)
            return Answer("invalid")

        def close(self) -> None: ...

    sender = Refusing()
    deadline = time.monotonic() + 3
    list(attempts(cast("Sender", sender), [REQUEST] * 16, 5.0, None, deadline))
    assert len(sender.timeouts) > 16
    assert sender.timeouts == sorted(sender.timeouts, reverse=True)
    assert max(sender.timeouts) <= 3


PROGRAM = """
import sys, agentool_otel
agentool_otel.instrument(endpoint=sys.argv[1])
@agentool_otel.tool
def work(): ...
work()
"""


@pytest.mark.parametrize(
    ("scheme", "script"),
    [("http", SCRIPTS["a body"]), ("http", SCRIPTS["headers"]), ("grpc", HTTP2)],
    ids=["body", "headers", "grpc"],
)
def test_a_program_ends_however_slowly_its_receiver_answers(
    scheme: str, script: object, tmp_path: Path
) -> None:
    with SlowReceiver(cast("tuple[object, bytes]", script)) as receiver:  # type: ignore[arg-type]
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, f"{scheme}://{receiver.endpoint}"],
            cwd=tmp_path,
            env={**os.environ, "AGENTOOL_OTEL_STRICT": "0"},
            capture_output=True,
            timeout=60,
            check=True,
        )
        # Spans and metrics are sent at the same time; five seconds are a quarter of the steps.
        assert receiver.longest < DRIPS / 2, receiver.steps
    assert b" kept in " in done.stderr
    assert list((tmp_path / ".agentool").glob("*.spool"))


LOOKING_UP = f"""
import socket, threading, time
socket.getaddrinfo = lambda *_: time.sleep(60)
{PROGRAM}"""


def test_a_program_ends_during_a_slow_name_lookup(
    tmp_path: Path,
) -> None:
    """The system's look-up has no deadline: the threads that wait for it are left behind."""
    command = [sys.executable, "-c", LOOKING_UP, "http://collector.example:4318"]
    subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=25, check=True)
    assert list((tmp_path / ".agentool").glob("*.spool"))


def test_recover_ends_however_slowly_the_receiver_answers(tmp_path: Path) -> None:
    from agentool_otel.tracing.export.disk.leftovers import RecoveryReport
    from agentool_otel.tracing.export.disk.resending import send_remains

    with SlowReceiver(SCRIPTS["headers"]) as receiver:
        url = f"http://{receiver.endpoint}"
        subprocess.run(
            [sys.executable, "-c", PROGRAM, url], cwd=tmp_path, capture_output=True, check=True
        )
        before = len(receiver.steps)
        where = Destination(url, "http/protobuf")
        senders = Senders(OtlpTarget.noted(where))
        folder = tmp_path / ".agentool"
        sent = send_remains(folder, where, senders, ATTEMPT_S, RecoveryReport(folder))
        senders.close()
        assert sent.remaining == 1
        assert max(receiver.steps[before:]) < IN_TIME
