"""TLS and proxies, with real servers: a certificate authority made for the test, a small proxy."""

from __future__ import annotations

import os
import ssl
from pathlib import Path
from typing import Any

import pytest
import trustme

from agentool_otel.errors import ConfigurationError
from agentool_otel.otlp.protobuf_encoder import encode_span
from agentool_otel.tracing.export.send.attempt import Answer, GrpcSender, HttpSender
from agentool_otel.tracing.export.send.otlp import OtlpTarget, target_from_environment
from tests.tracing.export.proxy import Proxy
from tests.tracing.export.receiver import GrpcReceiver, HttpReceiver
from tests.tracing.export.samples import span_with

REQUEST = encode_span(span_with({"text": "x"}))
ACCEPTED = Answer("accepted")
NAMES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "REQUESTS_CA_BUNDLE",
         "CURL_CA_BUNDLE")  # fmt: skip


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxy and the authorities of whoever runs the tests are none of theirs."""
    for name in NAMES:
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


class Authority:
    """A certificate authority, with the files it has signed."""

    def __init__(self, folder: Path):
        self._made = trustme.CA()
        self.file = str(folder / "ca.pem")
        self._made.cert_pem.write_to_path(self.file)
        client = self._made.issue_cert("client")
        self.client, self.key = str(folder / "client.pem"), str(folder / "client.key")
        client.cert_chain_pems[0].write_to_path(self.client)
        client.private_key_pem.write_to_path(self.key)

    def server(self, asks_back: bool = False) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._made.issue_cert("localhost").configure_cert(context)
        if asks_back:
            self._made.configure_trust(context)
            context.verify_mode = ssl.CERT_REQUIRED
        return context

    def grpc_server(self, asks_back: bool = False) -> Any:
        import grpc

        issued = self._made.issue_cert("localhost")
        pair = issued.private_key_pem.bytes(), issued.cert_chain_pems[0].bytes()
        root = self._made.cert_pem.bytes() if asks_back else None
        return grpc.ssl_server_credentials([pair], root, asks_back)


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def trusted(authority: Authority, monkeypatch: pytest.MonkeyPatch) -> Authority:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", authority.file)
    return authority


def sent_to(endpoint: str) -> Answer:
    target = OtlpTarget.at(endpoint, {})
    sender = GrpcSender(target) if target.protocol == "grpc" else HttpSender(target)
    try:
        return sender.send(REQUEST, 30)
    finally:
        sender.close()


# --------------------------------------------------------------------------------------- TLS


def test_a_private_authority_is_trusted_when_configured(trusted: Authority) -> None:
    with HttpReceiver(tls=trusted.server()) as receiver:
        assert sent_to(receiver.endpoint) == ACCEPTED
        assert receiver.bodies == {"/v1/traces": [REQUEST]}


def test_a_bundle_for_requests_is_trusted_as_the_official_exporter_does(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", authority.file)
    with HttpReceiver(tls=authority.server()) as receiver:
        assert sent_to(receiver.endpoint) == ACCEPTED


def test_an_untrusted_certificate_is_refused_and_the_spans_are_kept(authority: Authority) -> None:
    with HttpReceiver(tls=authority.server()) as receiver:
        answer = sent_to(receiver.endpoint)
        assert receiver.bodies == {}
    assert answer.verdict == "later"
    assert "certificate" in answer.reason.lower()


def test_a_certificate_for_another_host_is_refused(trusted: Authority) -> None:
    with HttpReceiver(tls=trusted.server()) as receiver:
        answer = sent_to(receiver.endpoint.replace("localhost", "127.0.0.1"))
    assert answer.verdict == "later"


def test_a_client_certificate_is_presented_on_request(
    trusted: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    with HttpReceiver(tls=trusted.server(asks_back=True)) as receiver:
        assert sent_to(receiver.endpoint).verdict == "later"
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", trusted.client)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_CLIENT_KEY", trusted.key)
        assert sent_to(receiver.endpoint) == ACCEPTED


@pytest.mark.parametrize("endpoint", ["https://localhost:4318", "grpcs://localhost:4317"])
def test_an_unreadable_certificate_is_a_configuration_error(
    endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", "nowhere.pem")
    with pytest.raises(ConfigurationError, match=r"nowhere\.pem cannot be used for TLS \(No such"):
        sent_to(endpoint)


def test_an_unusable_bundle_makes_the_sender_try_later(
    authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", authority.key)
    with HttpReceiver(tls=authority.server()) as receiver:
        answer = sent_to(receiver.endpoint)
    assert answer.verdict == "later"
    assert "client.key cannot be used for TLS" in answer.reason


@pytest.mark.parametrize("endpoint", ["http://host:4318x", "http://:4318", "grpc://h:99999"])
def test_an_invalid_port_is_a_configuration_error(endpoint: str) -> None:
    with pytest.raises(ConfigurationError, match="is not a URL"):
        OtlpTarget.at(endpoint, {})


def test_certifi_is_the_fallback_where_the_system_has_no_authorities(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from agentool_otel.tracing.export.send.connection import Tls

    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("SSL_CERT_DIR", str(tmp_path))
    assert Tls("traces").context.cert_store_stats()["x509_ca"] > 0


@pytest.mark.parametrize("asks_back", [False, True])
def test_grpc_uses_tls_too(
    asks_back: bool, trusted: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    if asks_back:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", trusted.client)
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_CLIENT_KEY", trusted.key)
    with GrpcReceiver(tls=trusted.grpc_server(asks_back)) as receiver:
        assert sent_to(receiver.endpoint) == ACCEPTED
        assert receiver.requests == [REQUEST]


def test_grpc_without_a_scheme_uses_tls_unless_insecure_is_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")
    with GrpcReceiver() as receiver:
        bare = receiver.endpoint.removeprefix("grpc://")
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", bare)
        target = target_from_environment(os.environ)
        assert target is not None
        assert GrpcSender(target).send(REQUEST, 30).verdict == "later"
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_INSECURE", "true")
        sender = GrpcSender(target)
        assert sender.send(REQUEST, 30) == ACCEPTED
        sender.close()


# ------------------------------------------------------------------------------------- proxies


def test_a_proxy_tunnels_to_a_receiver_behind_tls(
    trusted: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Proxy() as proxy, HttpReceiver(tls=trusted.server()) as receiver:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url.replace("://", "://ada:se%20cret@"))
        assert sent_to(receiver.endpoint) == ACCEPTED
        host = receiver.endpoint.removeprefix("https://")
        assert proxy.asked == [f"CONNECT {host}"]
        assert proxy.logins == ["Basic YWRhOnNlIGNyZXQ="]


def test_without_tls_the_whole_url_is_requested_from_the_proxy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with Proxy() as proxy, HttpReceiver() as receiver:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        assert sent_to(receiver.endpoint) == ACCEPTED
        assert proxy.asked == [f"POST {receiver.endpoint}/v1/traces"]
        assert receiver.headers[-1]["host"] == receiver.endpoint.removeprefix("http://")


def test_all_proxy_applies_to_http_and_https(monkeypatch: pytest.MonkeyPatch) -> None:
    with Proxy() as proxy, HttpReceiver() as receiver:
        monkeypatch.setenv("ALL_PROXY", proxy.url)
        assert sent_to(receiver.endpoint) == ACCEPTED
        assert len(proxy.asked) == 1


@pytest.mark.parametrize("exempt", ["127.0.0.1", "{host}", "*", "example.com, 127.0.0.1"])
def test_no_proxy_bypasses_the_proxy(exempt: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Proxy() as proxy, HttpReceiver() as receiver:
        host = receiver.endpoint.removeprefix("http://")
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("NO_PROXY", exempt.format(host=host))
        assert sent_to(receiver.endpoint) == ACCEPTED
        assert proxy.asked == []


def test_a_refusing_proxy_makes_the_sender_try_later(
    trusted: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Proxy(refuses=407) as proxy, HttpReceiver(tls=trusted.server()) as receiver:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        answer = sent_to(receiver.endpoint)
        assert receiver.bodies == {}
    assert answer.verdict == "later"
    assert "407" in answer.reason


def test_an_unsupported_kind_of_proxy_is_never_bypassed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with HttpReceiver() as receiver:
        monkeypatch.setenv("ALL_PROXY", "socks5://127.0.0.1:9")
        answer = sent_to(receiver.endpoint)
        assert receiver.bodies == {}
    assert answer.verdict == "later"
    assert answer.reason.startswith("a socks5 proxy is not supported: name")


def test_grpc_uses_the_proxy_of_the_environment_by_itself(
    trusted: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Proxy() as proxy, GrpcReceiver(tls=trusted.grpc_server()) as receiver:
        monkeypatch.setenv("grpc_proxy", proxy.url)
        assert sent_to(receiver.endpoint) == ACCEPTED
        assert proxy.asked == [f"CONNECT {receiver.endpoint.removeprefix('grpcs://')}"]


def test_ipv6_addresses_work() -> None:
    try:
        receiver = HttpReceiver(host="::1")
    except OSError:
        pytest.skip("there is no IPv6 here")
    with receiver:
        assert sent_to(receiver.endpoint) == ACCEPTED


def test_the_connection_is_reused(monkeypatch: pytest.MonkeyPatch) -> None:
    with Proxy() as proxy, HttpReceiver(keeps=True) as receiver:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        sender = HttpSender(OtlpTarget.at(receiver.endpoint, {}))
        for _ in range(3):
            assert sender.send(REQUEST, 30) == ACCEPTED
        sender.close()
        assert len(proxy.asked) == 3
