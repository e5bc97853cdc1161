"""`instrument()`: where metrics go, in a process of its own for every case."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.tracing.export.receiver import HttpReceiver
from tests.tracing.setup.test_setup import AGENT, run

START = f"{AGENT}agentool_otel.instrument(); clerk('?')\n"
SAID = "print(__import__('json').dumps(agentool_otel.status()['metrics']['destination']))"


def said(folder: Path, code: str = START, **environ: str) -> str:
    """Return the metrics in `status()` at the end of a program that logs nothing."""
    done = run(folder, code + SAID, **environ)
    assert done.stderr == ""
    return str(json.loads(done.stdout.splitlines()[-1]))


def paths(receiver: HttpReceiver) -> set[str]:
    return set(receiver.paths)


def test_a_general_endpoint_is_one_for_every_signal(tmp_path: Path) -> None:
    with HttpReceiver() as receiver:
        where = said(tmp_path, OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint)
        assert paths(receiver) == {"/v1/traces", "/v1/metrics"}
    assert where == f"{receiver.endpoint} (http/protobuf)"


def test_an_endpoint_for_traces_alone_is_asked_for_nothing_else(tmp_path: Path) -> None:
    with HttpReceiver() as receiver:
        endpoint = f"{receiver.endpoint}/v1/traces"
        where = said(tmp_path, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=endpoint)
        code = START.replace("instrument()", f"instrument({endpoint!r})")
        assert said(tmp_path, code) == where
        assert paths(receiver) == {"/v1/traces"}
    assert where == "nowhere (hint: set OTEL_EXPORTER_OTLP_METRICS_ENDPOINT)"


def test_metrics_can_have_an_endpoint_of_their_own_beside_a_recording(tmp_path: Path) -> None:
    with HttpReceiver() as receiver:
        text = f"{receiver.endpoint}/own"
        said(tmp_path, OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=text)
        assert paths(receiver) == {"/own"}
    assert (tmp_path / ".agentool").exists()


@pytest.mark.parametrize(
    ("exporter", "where"),
    [("none", "nowhere (OTEL_METRICS_EXPORTER=none)"),
     ("console", "the console (OTEL_METRICS_EXPORTER=console)"),
     ("otlp", "http://localhost:4318 (http/protobuf)")],
)  # fmt: skip
def test_an_exporter_that_is_asked_for_is_taken(exporter: str, where: str, tmp_path: Path) -> None:
    code = START.replace("clerk('?')", "")
    assert said(tmp_path, code, OTEL_METRICS_EXPORTER=exporter) == where


def test_metrics_can_be_printed(tmp_path: Path) -> None:
    done = run(tmp_path, START, OTEL_METRICS_EXPORTER="console")
    assert "gen_ai.execute_tool.duration" in done.stdout


def test_an_exporter_that_is_not_known_is_refused_by_name(tmp_path: Path) -> None:
    done = run(tmp_path, START, OTEL_METRICS_EXPORTER="prometheus")
    assert "OTEL_METRICS_EXPORTER=prometheus is not supported: use otlp" in done.stderr


def test_a_meter_provider_of_the_application_is_left_alone(tmp_path: Path) -> None:
    code = (
        "from opentelemetry import metrics\n"
        "from opentelemetry.sdk.metrics import MeterProvider\n"
        "metrics.set_meter_provider(MeterProvider())\n"
    )
    where = said(tmp_path, code + START, OTEL_METRICS_EXPORTER="prometheus")
    assert where.startswith("the application's own meter provider (opentelemetry.sdk.metrics")
