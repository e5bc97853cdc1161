"""The variables of OTLP's form are honoured, or refused by name."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest

from agentool_otel.ground import environment
from agentool_otel.ground.environment import Signal
from agentool_otel.tracing.export import otlp_variables
from agentool_otel.tracing.export.send.otlp import OtlpTarget, sender_of, target_from_environment
from agentool_otel.tracing.export.send.outbox import Outbox
from tests.tracing.export.receiver import HttpReceiver, names_in
from tests.tracing.export.samples import span_with

DOWN = "http://127.0.0.1:9"


def outbox(endpoint: str = DOWN) -> Outbox:
    return Outbox(OtlpTarget.at(endpoint, {}), None)


def grpc() -> Any:
    return sender_of(OtlpTarget.at("grpc://127.0.0.1:9", {}))


@pytest.mark.parametrize(
    ("variable", "value", "message", "make"),
    [
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon", "is not a number of seconds above 0", outbox),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "inf", "is not a number of seconds above 0", outbox),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "zstd",
         "is not supported: use none, gzip or deflate", outbox),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "deflate",
         "is not supported with grpc: use none or gzip", grpc),
        ("OTEL_BSP_SCHEDULE_DELAY", "soon", "is not a number of milliseconds above 0", outbox),
        ("OTEL_BSP_EXPORT_TIMEOUT", "-1", "is not a number of milliseconds above 0", outbox),
        ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "0", "is not a number of spans above 0", outbox),
    ],
)  # fmt: skip
def test_a_meaningless_value_is_refused_by_name(
    variable: str,
    value: str,
    message: str,
    make: Callable[[], Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(variable, value)
    make()
    assert environment.refused()[variable].startswith(f"{variable}={value} {message}")


def test_a_setting_for_one_signal_applies_to_that_signal_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "7")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_LOGS_TIMEOUT", "3")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "a=1")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_LOGS_HEADERS", "b=2")
    assert (otlp_variables.timeout_s("traces"), otlp_variables.timeout_s("logs")) == (7, 3)
    assert otlp_variables.headers("traces") == {"a": "1"}
    assert otlp_variables.headers("logs") == {"b": "2"}


def test_the_shorter_of_two_timeouts_applies(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_BSP_EXPORT_TIMEOUT", "1500")
    assert (otlp_variables.timeout_s("traces"), otlp_variables.timeout_s("logs")) == (1.5, 5)


def test_a_request_has_no_more_spans_than_the_batch_size(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "2")
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "60000")
    with HttpReceiver() as receiver:
        store = outbox(receiver.endpoint)
        for _ in range(5):
            store.put(span_with({}))
        store.close(10)
        assert [len(names_in(body)) for body in receiver.bodies["/v1/traces"]] == [2, 2, 1]
    assert (store.delivered, store.spooled) == (5, 0)


@pytest.mark.parametrize("signal", ["traces", "logs", "metrics"])
@pytest.mark.parametrize("exporter", ["none", "console"])
def test_an_endpoint_does_not_overrule_an_exporter(exporter: str, signal: Signal) -> None:
    environ = {
        "OTEL_EXPORTER_OTLP_ENDPOINT": DOWN,
        f"OTEL_{signal.upper()}_EXPORTER": exporter,
    }
    assert target_from_environment(environ, signal) is None


@pytest.mark.parametrize(
    ("exporter", "protocol"),
    [("otlp", "http/protobuf"), ("otlp_proto_http", "http/protobuf"), ("otlp_proto_grpc", "grpc")],
)
def test_an_otlp_exporter_needs_no_endpoint(exporter: str, protocol: str) -> None:
    target = target_from_environment({"OTEL_TRACES_EXPORTER": exporter})
    assert target is not None
    assert target.protocol == protocol


@pytest.mark.parametrize("exporter", ["zipkin", "otlp,console"])
def test_an_unknown_exporter_counts_as_unset(
    exporter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", exporter)
    assert target_from_environment(os.environ) is None
    refused = environment.refused()["OTEL_TRACES_EXPORTER"]
    assert refused.startswith(f"OTEL_TRACES_EXPORTER={exporter} is not supported: use otlp")


@pytest.mark.parametrize("signal", ["traces", "logs", "metrics"])
def test_an_unsupported_signal_protocol_falls_back_to_the_general(
    signal: Signal, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"OTEL_EXPORTER_OTLP_{signal.upper()}_PROTOCOL"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", DOWN)
    monkeypatch.setenv(text, "http/json")
    for general, wanted in (("grpc", "grpc"), ("http/json", "http/protobuf")):
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_PROTOCOL", general)
        target = target_from_environment(os.environ, signal)
        assert target is not None
        assert target.protocol == wanted
    assert text in environment.refused()


def test_entries_that_are_no_headers_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "a=1,nonsense, b=2, hunter2 x=3")
    assert otlp_variables.headers("traces") == {"a": "1", "b": "2"}
    refused = environment.refused()["OTEL_EXPORTER_OTLP_HEADERS"]
    assert "no key=value pairs" in refused
    assert "hunter2" not in refused
