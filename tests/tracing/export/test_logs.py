"""The logger provider of a process without one, and its records."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import pytest
from opentelemetry import _logs, trace
from opentelemetry.sdk._logs import LoggerProvider as OfTheSdk
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider

from agentool_otel.tracing.export.log_records import log_record_of
from tests.tracing.export.logged import RESOURCE, SCOPE, Provided, record

insides: Any = import_module("opentelemetry._logs._internal")


@pytest.fixture
def theirs(provided: Provided, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """Make a provider of the application the global one, and yield its exporter."""
    result: Any = InMemoryLogRecordExporter  # untyped
    exporter = result()
    provider = OfTheSdk(shutdown_on_exit=False)
    provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))

    def take_over() -> Any:
        monkeypatch.setattr(insides, "_LOGGER_PROVIDER", provider)
        return exporter

    return take_over


def test_a_record_belongs_to_the_span_it_was_emitted_in(provided: Provided) -> None:
    tracer = TracerProvider(shutdown_on_exit=False).get_tracer("t")
    with tracer.start_as_current_span("s") as span:
        _logs.get_logger("lib", "1", None, "url", {"a": 1}).emit(body="hi", event_name="e")
    (result,) = provided.records
    about = span.get_span_context()
    assert (result.trace_id, result.span_id) == (about.trace_id, about.span_id)
    assert (result.scope.name, result.scope.version, result.scope.schema_url) == ("lib", "1", "url")
    assert (result.body, result.event_name) == ("hi", "e")


def test_a_whole_record_may_be_emitted(provided: Provided) -> None:
    _logs.get_logger("lib").emit(_logs.LogRecord(body="hi"))
    assert [result.body for result in provided.records] == ["hi"]


def test_an_exception_is_recorded_as_the_sdk_does(provided: Provided) -> None:
    _logs.get_logger("lib").emit(exception=ValueError("no luck"))
    attributes = provided.records[0].attributes
    assert (attributes["exception.type"], attributes["exception.message"]) == (
        "ValueError",
        "no luck",
    )
    assert "ValueError: no luck" in attributes["exception.stacktrace"]


def test_loggers_are_disabled_where_records_go_nowhere(provided: Provided) -> None:
    provided.wanted = False
    logger = _logs.get_logger("lib")
    logger.emit(body="hi")
    assert (logger.enabled(), provided.records) == (False, [])


def test_loggers_forward_to_a_provider_set_later(
    provided: Provided, theirs: Callable[[], Any]
) -> None:
    logger = _logs.get_logger("lib")
    logger.emit(body="before")
    exported = theirs()
    logger.emit(body="after")
    logger.emit(_logs.LogRecord(body="after", event_name="e"))
    assert [result.body for result in provided.records] == ["before"]
    assert [log.log_record.body for log in exported.get_finished_logs()] == ["after", "after"]
    assert logger.enabled()


def test_later_changes_to_an_emitted_record_have_no_effect() -> None:
    body = {"content": ["a"]}
    result = record(body=body, attributes={"x": body})
    body["content"].append("b")
    assert result.body == result.attributes["x"] == {"content": ["a"]}


def test_values_of_any_kind_are_accepted_without_calling_their_code(provided: Provided) -> None:
    class Hostile:
        def __repr__(self) -> str:
            raise RuntimeError

        __str__ = __repr__

    circular: list[Any] = []
    circular.append(circular)
    deep: list[Any] = []
    for _ in range(5000):
        deep = [deep]
    values: list[Any] = [
        Hostile(),
        circular,
        deep,
        {1, 2},
        {(1, 2): 3},
        float("nan"),
        2**80,
        "\ud83d",
    ]
    for value in values:
        _logs.get_logger("lib").emit(body=value, attributes={"value": value})
    assert len(provided.records) == len(values)


@pytest.mark.parametrize("time", [None, 0, -1, 2**64])
def test_a_time_that_otlp_cannot_hold_is_left_out(time: int | None) -> None:
    result = record(timestamp=time, observed_timestamp=time)
    assert result.time_ns is None
    assert result.observed_ns > 0


def test_records_of_older_apis_get_the_current_span_too() -> None:
    older = _logs.LogRecord(body="hi")
    del older.context
    with TracerProvider(shutdown_on_exit=False).get_tracer("t").start_as_current_span("s") as span:
        about = span.get_span_context()
        log_record = log_record_of(older, SCOPE, RESOURCE)
    assert (log_record.trace_id, log_record.span_id) == (about.trace_id, about.span_id)


def test_a_record_outside_any_span_has_no_span() -> None:
    assert trace.get_current_span() is trace.INVALID_SPAN
    assert (record(body="hi").trace_id, record(body="hi").span_id) == (0, 0)
