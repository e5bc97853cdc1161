"""Whoever reads a server waits for a time that is known before, however the server spends it.

Steps of the servers are counted, not seconds: a script takes twenty seconds to its end, and each
deadline here is half of one.
"""

from __future__ import annotations

import ssl

import pytest
import trustme

from agentool_otel.errors import SourceUnreachable
from agentool_otel.ground.environment import CERTIFICATES
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.reading.sources.servers import http
from tests.security.slow_receivers import DRIPS, HANDSHAKE, SCRIPTS, SlowReceiver

pytestmark = pytest.mark.thorough  # each waits until a real deadline

IN_TIME = DRIPS // 4
SERVERS = ("jaeger", "tempo")


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "_BODY_S", 0.5)
    monkeypatch.setattr(http, "_WAITS_S", ())


def ends_in_time(url: str, server: SlowReceiver, why: str) -> None:
    with pytest.raises(SourceUnreachable, match=why):
        list(open_source(f"{url}?trace=1&timeout=500ms").spans())
    assert sum(server.steps) < IN_TIME


@pytest.mark.parametrize("scheme", SERVERS)
@pytest.mark.parametrize("description", SCRIPTS)
def test_a_request_ends_however_slowly_it_is_answered(description: str, scheme: str) -> None:
    begun = "body" in description or description == "chunks"
    why = "has not ended its answer after" if begun else "has not begun its answer|gives no answer"
    with SlowReceiver(SCRIPTS[description]) as server:
        ends_in_time(f"{scheme}://{server.endpoint}", server, why)


@pytest.mark.parametrize("description", ["a body", "a body until the end", "headers", "chunks"])
def test_a_request_over_tls_ends_too(description: str, monkeypatch: pytest.MonkeyPatch) -> None:
    authority = trustme.CA()
    with authority.cert_pem.tempfile() as path:
        monkeypatch.setenv(CERTIFICATES, path)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("127.0.0.1").configure_cert(context)
        with SlowReceiver(SCRIPTS[description], context) as server:
            ends_in_time(f"tempo+https://{server.endpoint}", server, "its answer after")


def test_a_slow_tls_handshake_ends_the_request() -> None:
    with SlowReceiver(HANDSHAKE) as server:
        ends_in_time(
            f"tempo+https://{server.endpoint}", server, "gives no answer|has not begun its answer"
        )


def test_a_slow_proxy_ends_the_request(monkeypatch: pytest.MonkeyPatch) -> None:
    with SlowReceiver(SCRIPTS["answers to wait for"]) as proxy:
        monkeypatch.setenv("HTTPS_PROXY", f"http://{proxy.endpoint}")
        ends_in_time("tempo+https://tempo.example", proxy, "has not begun its answer")
