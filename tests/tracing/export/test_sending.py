"""One attempt: the request, and the meaning of the receiver's answer."""

from __future__ import annotations

from typing import Any

import pytest

from agentool_otel.ground import environment
from agentool_otel.otlp.protobuf_encoder import encode_span
from agentool_otel.tracing.export.otlp_variables import timeout_s
from agentool_otel.tracing.export.send.attempt import Answer, GrpcSender, HttpSender
from agentool_otel.tracing.export.send.otlp import OtlpTarget
from tests.tracing.export.receiver import GrpcReceiver, HttpReceiver
from tests.tracing.export.samples import span_with

REQUEST = encode_span(span_with({"text": "x"}))


def to(endpoint: str) -> HttpSender:
    return HttpSender(OtlpTarget.at(endpoint, {}))


@pytest.mark.parametrize("compression", ["none", "gzip"])
def test_a_request_arrives_unchanged(compression: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_COMPRESSION", compression)
    with HttpReceiver() as receiver:
        assert to(receiver.endpoint).send(REQUEST, 30) == Answer("accepted")
        assert receiver.bodies == {"/v1/traces": [REQUEST]}


def test_headers_from_the_environment_and_the_user_in_the_url_are_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "x-team=blue%20one")
    with HttpReceiver() as receiver:
        sender = to(receiver.endpoint.replace("://", "://ada:se%20cret@"))
        assert sender.send(REQUEST, 30).verdict == "accepted"
        assert receiver.headers[-1]["x-team"] == "blue one"
        assert receiver.headers[-1]["authorization"] == "Basic YWRhOnNlIGNyZXQ="


def test_a_user_and_password_are_not_shown() -> None:
    assert str(OtlpTarget.at("http://ada:secret@host:4318", {})) == "http://host:4318"


def test_a_connection_closed_meanwhile_is_opened_again() -> None:
    with HttpReceiver() as receiver:
        sender = to(receiver.endpoint)
        for _ in range(3):  # this receiver closes after every reply
            assert sender.send(REQUEST, 30).verdict == "accepted"


@pytest.mark.parametrize(
    ("status", "verdict"),
    [(200, "accepted"), (202, "accepted"), (400, "invalid"), (413, "too_large"), (429, "later"),
     (401, "later"), (404, "later"), (500, "later"), (503, "later"), (301, "later")],
)  # fmt: skip
def test_the_http_status_decides_about_retries(status: int, verdict: str) -> None:
    with HttpReceiver(reply=lambda _: (status, {}, b"")) as receiver:
        assert to(receiver.endpoint).send(REQUEST, 30).verdict == verdict


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("7", 7),
        ("soon", None),
        ("-7", 0),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0),
        ("Wed, 21 Oct 2099 07:28:00 GMT", 3600),
        ("1e300", 3600),
        ("inf", 3600),
    ],
)
def test_retry_after_may_be_seconds_or_a_date_and_is_capped_at_an_hour(
    value: str, seconds: float | None
) -> None:
    with HttpReceiver(reply=lambda _: (429, {"retry-after": value}, b"")) as receiver:
        assert to(receiver.endpoint).send(REQUEST, 30).retry_after_s == seconds


def test_a_success_that_is_not_otlp_still_counts_as_accepted() -> None:
    with HttpReceiver(reply=lambda _: (200, {}, b"\xff thanks")) as receiver:
        assert to(receiver.endpoint).send(REQUEST, 30) == Answer("accepted")


def test_a_grpc_failure_comes_with_its_reason() -> None:
    sender = GrpcSender(OtlpTarget.at("grpc://127.0.0.1:9", {}))
    answer = sender.send(REQUEST, 30)
    sender.close()
    assert answer.verdict == "later"
    assert answer.reason.startswith("UNAVAILABLE: ")


def test_grpc_recognises_a_request_that_is_too_large() -> None:
    with GrpcReceiver() as receiver:
        sender = GrpcSender(OtlpTarget.at(receiver.endpoint, {}))
        answer = sender.send(encode_span(span_with({"text": "x" * 5_000_000})), 30)
        sender.close()
    assert answer.verdict == "too_large"


def test_grpc_reads_how_long_to_wait() -> None:
    info = b"\x0a\x02\x08\x07"  # RetryInfo with a Duration of 7 s
    name = b"type.googleapis.com/google.rpc.RetryInfo"
    details = b"\x0a" + bytes([len(name)]) + name + b"\x12" + bytes([len(info)]) + info

    class Refused:
        def trailing_metadata(self) -> list[tuple[str, Any]]:
            return [("other", "x"), ("grpc-status-details-bin", b"\x1a\x30" + details)]

    from agentool_otel.tracing.export.send.attempt import _grpc_retry_after

    assert _grpc_retry_after(Refused()) == 7


def test_a_timeout_that_is_not_a_number_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "soon")
    assert timeout_s() == 5
    refused = environment.refused()["OTEL_EXPORTER_OTLP_TIMEOUT"]
    assert refused.startswith("OTEL_EXPORTER_OTLP_TIMEOUT=soon is not a number")
