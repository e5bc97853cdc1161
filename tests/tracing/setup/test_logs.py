"""`instrument()`: where log records go, in a process of its own for every case."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.reading.sources.opening import open_source
from tests.tracing.export.receiver import HttpReceiver
from tests.tracing.setup.test_setup import run

START = """
import agentool_otel, sys
from opentelemetry import _logs
early = _logs.get_logger("lib.early")
def log(body): _logs.get_logger("lib").emit(_logs.LogRecord(body=body))
"""
THEIRS = """
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs import export
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
newer = hasattr(export, "InMemoryLogRecordExporter")
kept = export.InMemoryLogRecordExporter() if newer else export.InMemoryLogExporter()
mine = LoggerProvider()
mine.add_log_record_processor(SimpleLogRecordProcessor(kept))
_logs.set_logger_provider(mine)
"""
TOLD = "\nprint(__import__('json').dumps(agentool_otel.status()['logs']))"


def told(folder: Path, code: str, **environ: str) -> Any:
    """Run a program and return the log records' part of `status()` at its end."""
    done = run(folder, START + code + TOLD, **environ)
    assert done.stderr == ""
    return json.loads(done.stdout.splitlines()[-1])


def recorded(folder: Path) -> list[str]:
    """Return the lines of the recording, by kind of content."""
    (file,) = (folder / ".agentool").glob("*.jsonl")
    return [next(iter(json.loads(line))) for line in file.read_text().splitlines()]


def test_records_are_in_the_recording_of_the_spans(tmp_path: Path) -> None:
    code = """
agentool_otel.instrument()
@agentool_otel.tool
def work():
    early.emit(_logs.LogRecord(body="early"))
    log("late")
work()
"""
    state = told(tmp_path, code)
    assert recorded(tmp_path) == ["resourceLogs", "resourceLogs", "resourceSpans"]
    assert state["destination"] == "the recording of the spans"
    assert (state["created"], state["exported"]) == (2, 2)


def test_they_are_events_of_their_span_when_it_is_read(tmp_path: Path) -> None:
    from agentool_otel.reading.sources.grouping.by_trace import by_trace

    code = """
agentool_otel.instrument()
@agentool_otel.tool
def work(): log("hi")
work()
"""
    run(tmp_path, START + code)
    ((span,),) = by_trace(open_source(tmp_path / ".agentool").spans())
    assert [(event.attributes["body"], span.name) for event in span.events] == [
        ("hi", "execute_tool work")
    ]


def test_nothing_is_made_or_imported_before_a_record(tmp_path: Path) -> None:
    code = """
import threading
before = threading.active_count()
agentool_otel.instrument()
logger = _logs.get_logger("lib")
assert logger.enabled()
assert threading.active_count() == before
logger.emit(_logs.LogRecord(body="hi"))
assert not [name for name in sys.modules if name.startswith("opentelemetry.sdk._logs")]
"""
    run(tmp_path, START + "agentool_otel.instrument(); _logs.get_logger('lib')")
    assert not (tmp_path / ".agentool").exists()
    told(tmp_path, code)


def test_python_logging_is_left_alone(tmp_path: Path) -> None:
    code = """
import logging
agentool_otel.instrument()
logging.getLogger("app").error("a line")
assert logging.getLogger().handlers == []
"""
    run(tmp_path, START + code)
    assert not (tmp_path / ".agentool").exists()


def test_a_provider_of_the_application_is_left_alone(tmp_path: Path) -> None:
    code = f"""{THEIRS}
agentool_otel.instrument()
log("hi")
assert _logs.get_logger_provider() is mine
assert len(kept.get_finished_logs()) == 1
"""
    state = told(tmp_path, code)
    assert state["destination"].startswith("the application's own logger provider (")
    assert not (tmp_path / ".agentool").exists()


def test_one_that_is_set_later_takes_over(tmp_path: Path) -> None:
    code = f"""
agentool_otel.instrument()
log("before"); early.emit(_logs.LogRecord(body="before"))
{THEIRS}
log("after"); early.emit(_logs.LogRecord(body="after"))
assert _logs.get_logger_provider() is mine
assert [it.log_record.body for it in kept.get_finished_logs()] == ["after", "after"]
"""
    state = told(tmp_path, code)
    assert state["destination"].startswith("the application's own logger provider (")
    assert recorded(tmp_path) == ["resourceLogs"] * 2


def test_the_application_decides_about_logs_of_its_spans(tmp_path: Path) -> None:
    code = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
trace.set_tracer_provider(TracerProvider())
agentool_otel.instrument()
log("hi")
"""
    environ = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9", "AGENTOOL_QUIET": "on"}
    state = told(tmp_path, code, **environ)
    assert state == {
        "destination": "nowhere (spans go to the application's own tracer provider; "
        "hint: set OTEL_EXPORTER_OTLP_LOGS_ENDPOINT)"
    }


def test_an_endpoint_gets_them_without_content(tmp_path: Path) -> None:
    code = """
agentool_otel.instrument(ENDPOINT)
body, name = {"content": "said"}, "gen_ai.user.message"
try:
    early.emit(_logs.LogRecord(body=body, event_name=name))
except TypeError:  # an older API
    early.emit(_logs.LogRecord(body=body, attributes={"event.name": name}))
log("a line")
"""
    with HttpReceiver() as receiver:
        run(tmp_path, START + code.replace("ENDPOINT", repr(receiver.endpoint)))
        string_values = [record.body.string_value for record in receiver.logs()]
    assert string_values == ["", "a line"]
    assert b"said" not in b"".join(receiver.bodies["/v1/logs"])
    assert not (tmp_path / ".agentool").exists()


def test_they_can_have_an_endpoint_of_their_own(tmp_path: Path) -> None:
    code = """
agentool_otel.instrument()
log("hi")
assert agentool_otel.status()["content"] is False
"""
    with HttpReceiver() as receiver:
        text = f"{receiver.endpoint}/v1/logs"
        state = told(tmp_path, code, OTEL_EXPORTER_OTLP_LOGS_ENDPOINT=text)
        assert [record.body.string_value for record in receiver.logs()] == ["hi"]
    assert state["destination"] == f"{text} (http/protobuf)"


@pytest.mark.parametrize(
    ("environ", "destination"),
    [
        ({"OTEL_LOGS_EXPORTER": "none"}, "nowhere (OTEL_LOGS_EXPORTER=none)"),
        (
            {"OTEL_TRACES_EXPORTER": "none"},
            "nowhere (spans are neither recorded nor sent)",
        ),
        (
            {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:9/v1/traces"},
            "nowhere (hint: set OTEL_EXPORTER_OTLP_LOGS_ENDPOINT)",
        ),
    ],
)
def test_where_they_go_nowhere_no_provider_is_set(
    tmp_path: Path, environ: dict[str, str], destination: str
) -> None:
    code = """
before = type(_logs.get_logger_provider())
agentool_otel.instrument()
log("hi")
assert type(_logs.get_logger_provider()) is before
"""
    assert told(tmp_path, code, **environ)["destination"] == destination
    assert not (tmp_path / ".agentool").exists()


def test_they_can_be_printed(tmp_path: Path) -> None:
    code = START + "agentool_otel.instrument(); log('hi')"
    done = run(tmp_path, code, OTEL_LOGS_EXPORTER="console")
    assert '"body":{"stringValue":"hi"}' in done.stdout


def test_an_exporter_that_is_not_known_counts_as_unset(tmp_path: Path) -> None:
    code = "agentool_otel.instrument()\nprint(agentool_otel.status().logs.destination)\n"
    done = run(tmp_path, START + code, OTEL_LOGS_EXPORTER="zipkin")
    assert "OTEL_LOGS_EXPORTER=zipkin is not supported: use otlp" in done.stderr
    assert done.stdout == "the recording of the spans\n"


def test_calling_it_again_changes_where_they_go(tmp_path: Path) -> None:
    code = """
agentool_otel.instrument()
log("recorded")
agentool_otel.instrument(ENDPOINT)
log("sent")
"""
    with HttpReceiver() as receiver:
        state = told(tmp_path, code.replace("ENDPOINT", repr(receiver.endpoint)))
        assert [record.body.string_value for record in receiver.logs()] == ["sent"]
    assert recorded(tmp_path) == ["resourceLogs"]
    assert state["created"] == 2


def test_with_the_journal_off_they_are_recorded_as_well(tmp_path: Path) -> None:
    told(tmp_path, "agentool_otel.instrument(); log('hi')", AGENTOOL_JOURNAL="off")
    assert recorded(tmp_path) == ["resourceLogs"]


def test_uninstrument_brings_them_where_they_belong(tmp_path: Path) -> None:
    code = """
agentool_otel.instrument(ENDPOINT)
log("hi")
agentool_otel.uninstrument()
assert agentool_otel.status()["logs"]["exported"] == 1
"""
    with HttpReceiver() as receiver:
        run(tmp_path, START + code.replace("ENDPOINT", repr(receiver.endpoint)))


def test_after_uninstrument_none_is_recorded(tmp_path: Path) -> None:
    code = "agentool_otel.instrument(); log('a'); agentool_otel.uninstrument(); log('b')"
    assert told(tmp_path, code)["created"] == 1


@pytest.mark.thorough
def test_what_an_endpoint_that_never_answers_is_owed_is_kept(tmp_path: Path) -> None:
    """It accepts the connection and never answers, for longer than a program waits at its end."""
    code = """
import socket
silent = socket.create_server(("127.0.0.1", 0))
agentool_otel.instrument(f"http://127.0.0.1:{silent.getsockname()[1]}")
@agentool_otel.tool
def work(): log("hi")
work()
"""
    done = run(tmp_path, START + code, OTEL_METRICS_EXPORTER="none")
    assert "log records could not be delivered" in done.stderr
    assert len(list(tmp_path.glob(".agentool/*.logs.spool"))) == 1


def test_an_unwritable_folder_is_reported_without_an_exception(tmp_path: Path) -> None:
    code = "agentool_otel.instrument(); log('one'); log('two')"
    done = run(tmp_path, START + code, AGENTOOL_DIR="/proc/agentool")
    assert done.stderr.splitlines()[-1] == (
        "2 log records were lost: /proc/agentool could not be written"
    )
