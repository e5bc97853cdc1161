"""`emit_results`: results in the traces that they name, as spans and events of this process."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import NoOpTracerProvider

from agentool_otel import EvalResult, ReasoningTrace, rebuild, replay
from agentool_otel.errors import DecodeError
from agentool_otel.evaluation import emit_results
from agentool_otel.semconv import gen_ai
from tests.records import records

Object = dict[str, Any]
TRACE = ReasoningTrace.from_dict({"trace_id": "tr_1", "agent_id": "a", "input": "q", "steps": []})


def result(trace_id: str = "tr_1", **members: Any) -> EvalResult:
    assertion = {"assertion_type": "status", "passed": True, "score": 1.0, "reason": "it ended"}
    values = {
        "case_id": "c",
        "trace_id": trace_id,
        "passed": True,
        "assertion_results": [assertion],
    }
    return EvalResult.from_dict({**values, **members})


class Telemetry:
    """Providers of a test, and their spans and log records."""

    def __init__(self) -> None:
        self.tracers = TracerProvider(shutdown_on_exit=False)
        self._spans = InMemorySpanExporter()
        self.tracers.add_span_processor(SimpleSpanProcessor(self._spans))
        self.loggers = LoggerProvider(shutdown_on_exit=False)
        exporter: Any = InMemoryLogRecordExporter
        self._logs = exporter()
        self.loggers.add_log_record_processor(SimpleLogRecordProcessor(self._logs))

    def emit(self, *args: Any, **options: Any) -> None:
        emit_results(*args, tracer_provider=self.tracers, logger_provider=self.loggers, **options)

    def spans(self) -> list[Any]:
        return [*self._spans.get_finished_spans()]

    def events(self) -> list[Any]:
        return [log.log_record for log in self._logs.get_finished_logs()]


def test_a_result_is_spans_and_events_of_the_run_that_it_names() -> None:
    telemetry = Telemetry()
    replay(TRACE, telemetry.tracers)
    telemetry.emit(result(), [TRACE], content=True)
    run, *judged = telemetry.spans()
    assert [item.name for item in judged] == ["evaluate composite_score", "evaluate status"]
    assert {item.parent.span_id for item in judged} == {run.context.span_id}
    assert {item.context.trace_id for item in judged} == {run.context.trace_id}
    _, event = telemetry.events()
    assert event.event_name == "gen_ai.evaluation.result"
    assert (event.trace_id, event.span_id) == (run.context.trace_id, run.context.span_id)
    assert event.attributes[gen_ai.EVALUATION_NAME] == "status"
    assert event.attributes[gen_ai.EVALUATION_SCORE_VALUE] == 1.0
    assert event.attributes[gen_ai.EVALUATION_SCORE_LABEL] == "pass"
    assert event.attributes[gen_ai.EVALUATION_EXPLANATION] == "it ended"
    [rebuilt] = rebuild(records(telemetry.spans()))
    assert rebuilt.results == [result()]
    assert rebuilt.trace == TRACE


@pytest.mark.parametrize("trace_id", ["tr_x", "a" * 32, f"{'a' * 32}:{'b' * 16}", "any text"])
def test_a_trace_that_is_not_at_hand_is_found_by_its_id(trace_id: str) -> None:
    telemetry = Telemetry()
    telemetry.emit(result(trace_id).to_dict())
    complete, _ = telemetry.spans()
    if trace_id.startswith("a" * 32):
        assert f"{complete.context.trace_id:032x}" == trace_id[:32]
        assert (complete.parent is not None) == (":" in trace_id)
    else:
        replay({"trace_id": trace_id, "steps": []}, telemetry.tracers)
        root = telemetry.spans()[-1]
        assert complete.parent.span_id == root.context.span_id


def test_what_is_written_twice_is_there_once() -> None:
    telemetry = Telemetry()
    replay(TRACE, telemetry.tracers)
    for _ in range(2):
        telemetry.emit([result(evaluated_at="2026-01-01T00:00:00Z")])
    [rebuilt] = rebuild(records(telemetry.spans()))
    assert len(rebuilt.results) == 1


def test_reasons_are_left_out_unless_wanted() -> None:
    telemetry = Telemetry()
    telemetry.emit(result(notes="secret"))
    everything = repr([dict(span.attributes) for span in (*telemetry.spans(), *telemetry.events())])
    assert "it ended" not in everything
    assert "secret" not in everything


def test_credentials_are_masked() -> None:
    telemetry = Telemetry()
    telemetry.emit(result(notes=f"sk-proj-{'aB3dE5gH' * 6}"), content=True)
    everything = repr([dict(span.attributes) for span in (*telemetry.spans(), *telemetry.events())])
    assert "aB3dE5gH" not in everything


def test_without_an_sdk_nothing_happens() -> None:
    emit_results(result(), tracer_provider=NoOpTracerProvider())


def test_what_is_no_result_is_an_error() -> None:
    with pytest.raises(DecodeError):
        Telemetry().emit([{"case_id": 5}])


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)


@given(
    st.lists(
        st.fixed_dictionaries(
            {"assertion_type": TEXTS, "passed": st.none() | st.booleans()},
            optional={"score": st.floats(0, 1), "reason": TEXTS, "x": TEXTS},
        ),
        max_size=4,
    ),
    st.none() | st.booleans(),
)
def test_any_result_comes_back(assertions: list[Object], passed: bool | None) -> None:
    telemetry = Telemetry()
    replay(TRACE, telemetry.tracers)
    value = result(passed=passed, assertion_results=assertions)
    telemetry.emit(value, content=True)
    [rebuilt] = rebuild(records(telemetry.spans()))
    assert rebuilt.results == [value]
