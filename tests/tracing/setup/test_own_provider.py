"""`instrument()` in a program that has a tracer provider of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentool_otel.loading import load
from tests.cli.conftest import agentool
from tests.tracing.export.receiver import HttpReceiver
from tests.tracing.setup.test_setup import AGENT, JOIN, run

START = f"{AGENT}{JOIN}"
CAPTURED = "'gen_ai.input.messages' in kept.get_finished_spans()[1].attributes"
LOG = "import opentelemetry._logs as logs\nlogs.get_logger('app').emit(logs.LogRecord(body='hi'))\n"


@pytest.mark.parametrize("content", [None, True, False])
def test_one_line_shows_destination_and_capture(content: bool | None, tmp_path: Path) -> None:
    code = f"{START}agentool_otel.instrument(content={content})\nclerk('?')\nprint({CAPTURED})\n"
    code += "agentool_otel.instrument(); print(agentool_otel.status().content)"
    done = run(tmp_path, code)
    (line,) = done.stderr.splitlines()
    assert "spans go to the application's own tracer provider" in line
    assert ("with message" in line) is (content is True)
    assert "AGENTOOL_RECORD=on" in line
    assert done.stdout == f"{content is True}\n" * 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("option", "variable"), [("record=True", ""), ("", "on")])
def test_its_spans_are_recorded_as_well_by_option(
    option: str, variable: str, tmp_path: Path
) -> None:
    code = f"""{START}agentool_otel.instrument({option}); clerk('?')
with trace.get_tracer('app').start_as_current_span('own'): pass
assert len(kept.get_finished_spans()) == 3
status = agentool_otel.status()
assert status.spans.exported == 3
print(status.destination)
"""
    done = run(tmp_path, code, AGENTOOL_RECORD=variable)
    assert done.stdout == ".agentool, and the application's own tracer provider\n"
    [trace] = load(tmp_path / ".agentool")
    assert (trace.agent_id, len(trace.steps or ())) == ("clerk", 2)


def test_a_call_overrules_the_variable(tmp_path: Path) -> None:
    run(tmp_path, f"{START}agentool_otel.instrument(record=False); clerk('?')", AGENTOOL_RECORD="1")
    assert list(tmp_path.iterdir()) == []


def test_recording_can_begin_later(tmp_path: Path) -> None:
    code = f"{START}agentool_otel.instrument(); clerk('before')\n"
    code += "agentool_otel.instrument(record=True, content=True); clerk('after')\n"
    run(tmp_path, code)
    assert [trace.input for trace in load(tmp_path / ".agentool")] == ["after"]


def test_show_does_not_claim_that_nothing_was_run(tmp_path: Path) -> None:
    shown = agentool("show", cwd=tmp_path).stderr
    assert "no recording here" in shown
    assert "to the program's own tracer provider" in shown


def test_own_variables_set_destinations_of_logs_and_metrics(tmp_path: Path) -> None:
    with HttpReceiver() as receiver:
        done = run(
            tmp_path,
            f"{START}agentool_otel.instrument(); clerk('?')\n{LOG}"
            "assert len(kept.get_finished_spans()) == 2\n"
            "status = agentool_otel.status()\n"
            "print(status.spans, status.logs.destination, status.metrics.destination)",
            OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=f"{receiver.endpoint}/v1/metrics",
            OTEL_EXPORTER_OTLP_LOGS_ENDPOINT=f"{receiver.endpoint}/v1/logs",
        )
        assert b"gen_ai.execute_tool.duration" in b"".join(receiver.bodies["/v1/metrics"])
        assert b"hi" in b"".join(receiver.bodies["/v1/logs"])
        assert "/v1/traces" not in receiver.bodies
        assert done.stdout.startswith("None ")
        assert done.stdout.count(receiver.endpoint) == 2


def test_general_variables_are_left_to_the_application(tmp_path: Path) -> None:
    with HttpReceiver() as receiver:
        code = f"{START}agentool_otel.instrument(); clerk('?')\n{LOG}"
        run(tmp_path, code, OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint)
        assert not receiver.bodies


def test_spans_can_be_sent_later_where_log_records_are_sent_already(tmp_path: Path) -> None:
    with HttpReceiver() as receiver:
        code = f"{START}agentool_otel.instrument(); clerk('before')\n"
        code += f"agentool_otel.instrument({receiver.endpoint!r}); clerk('after')\n"
        logs = f"{receiver.endpoint}/v1/logs"
        run(tmp_path, code, OTEL_EXPORTER_OTLP_LOGS_ENDPOINT=logs, OTEL_METRICS_EXPORTER="none")
        assert sorted(receiver.names()) == ["execute_tool add", "invoke_agent clerk"]
