"""The law `rebuild(replay(trace)) == trace`, through the real SDK and a real recording."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

from agentool_otel.loading import rebuild
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.replaying import replay
from agentool_otel.testing.conformance import assert_conformant, check_all
from agentool_otel.tracing.export.disk.recording import RecordingExporter
from tests.laws import many
from tests.strategies import exact, traces

SPEC = Path(__file__).parent.parent / "fixtures" / "spec"


def there_and_back(*documents: dict[str, Any], dialect: str = "gen_ai") -> list[dict[str, Any]]:
    """Replay through a default TracerProvider into a recording, and rebuild from the file."""
    with tempfile.TemporaryDirectory() as folder:
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(RecordingExporter(Path(folder))))
        for document in documents:
            replay(document, provider, dialect=dialect)
        provider.shutdown()
        return [rebuilt.trace.to_dict() for rebuilt in rebuild(open_source(folder).spans())]


@settings(max_examples=many(150), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(traces)
@example(
    {
        "trace_id": "",
        "steps": [{"type": "tool_call", "tool_call": {"name": "0", "id": "call_1"}}] * 2,
    }
)
@example(
    {
        "trace_id": "",
        "steps": [{"type": "tool_result", "tool_result": {"call_id": "call_2"}}] * 2,
    }
)
def test_every_trace_comes_back_from_its_spans(document: dict[str, Any]) -> None:
    assert [exact(trace) for trace in there_and_back(document)] == [exact(document)]


@pytest.mark.parametrize("dialect", ["openinference", "traceloop"])
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(document=traces)
@example(document={"trace_id": "t", "steps": [], "metadata": {"case_id": "[{", "user_id": '["'}})
@example(document={"trace_id": "t", "steps": [], "session_id": '{"', "agent_id": "[{"})
def test_every_trace_comes_back_from_other_dialects_too(
    dialect: str, document: dict[str, Any]
) -> None:
    assert [exact(item) for item in there_and_back(document, dialect=dialect)] == [exact(document)]


def test_spec_example_round_trips_with_every_key() -> None:
    example = json.loads((SPEC / "reasoning-trace.json").read_text())
    assert there_and_back(example) == [example]


@pytest.mark.thorough
def test_ten_thousand_steps_come_back_complete_and_in_order() -> None:
    steps: list[dict[str, Any]] = []
    for n in range(5_000):
        steps.append({"type": "reasoning", "step_id": f"s{n}", "content": f"thought {n}"})
        steps.append({"type": "tool_call", "tool_call": {"id": f"c{n}", "name": "t"}})
    document = {"trace_id": "long", "agent_id": "a", "status": "success", "steps": steps}
    assert there_and_back(document) == [document]


def test_deeply_nested_arguments_come_back() -> None:
    deep: Any = "bottom"
    for _ in range(400):
        deep = {"level": [deep]}
    call = {"type": "tool_call", "tool_call": {"id": "c", "name": "t", "arguments": deep}}
    document = {"trace_id": "deep", "steps": [call]}
    assert exact(there_and_back(document)) == exact([document])


def test_a_lone_surrogate_comes_back_as_a_replacement_character() -> None:
    document = {"trace_id": "\ud800", "agent_id": "\udfff", "input": "a\ud800", "steps": []}
    whole = {"trace_id": "\ufffd", "agent_id": "\ufffd", "input": "a\ufffd", "steps": []}
    assert exact(there_and_back(document)) == exact([whole])


def test_the_same_trace_is_replayed_under_the_same_ids() -> None:
    document = {"trace_id": "tr_1", "steps": [{"type": "reasoning", "content": "once"}]}
    assert there_and_back(document, document) == [document]


def test_a_trace_id_that_is_an_otel_id_is_kept_as_one(tmp_path: Path) -> None:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(RecordingExporter(tmp_path)))
    replay({"trace_id": "0af7651916cd43dd8448eb211c80319c", "steps": []}, provider)
    spans = list(open_source(tmp_path).spans())
    assert [span.trace_id for span in spans] == ["0af7651916cd43dd8448eb211c80319c"]


def root_of(document: dict[str, Any]) -> SpanRecord:
    """Replay a trace without steps into a recording, and return its only span."""
    with tempfile.TemporaryDirectory() as folder:
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(RecordingExporter(Path(folder))))
        replay({"trace_id": "t", "steps": [], **document}, provider)
        [root] = open_source(folder).spans()
        return root


@pytest.mark.parametrize("status", ["error", "timeout", "refusal", "loop_detected"])
def test_a_failed_status_makes_the_root_span_an_error(status: str) -> None:
    root = root_of({"status": status})
    assert (root.status, root.attributes["error.type"]) == ("ERROR", status)


ERROR = {"type": "ValueError", "message": "because of X", "span_id": "0123456789abcdef"}
FAILED: dict[str, Any] = {"status": "error", "metadata": {"error": ERROR}}


def test_a_runs_error_is_on_its_span_by_the_conventions() -> None:
    root = root_of(FAILED)
    assert (root.status, root.status_message) == ("ERROR", "because of X")
    assert root.attributes["error.type"] == "ValueError"
    [event] = root.events
    assert (event.name, event.attributes) == (
        "exception",
        {"exception.type": "ValueError", "exception.message": "because of X"},
    )


def test_the_error_is_read_back_if_a_store_drops_our_attributes() -> None:
    root = root_of(FAILED)
    for name in [name for name in root.attributes if name.startswith("agentool.")]:
        del root.attributes[name]
    [result] = rebuild([root])
    assert result.document["metadata"]["error"] == {**ERROR, "span_id": root.span_id}


@pytest.mark.parametrize("metadata", [{"error": ERROR}, {"note": 1}, {}])
def test_a_run_that_failed_needs_no_residue(metadata: dict[str, Any]) -> None:
    root = root_of({"started_at": "2026-03-01T10:00:00Z", "finished_at": "2026-03-01T10:00:01Z",
                    "metrics": {"step_count": 0, "tool_call_count": 0, "total_duration_ms": 1000},
                    "agent_id": "a", "status": "error", "metadata": metadata})  # fmt: skip
    assert "agentool.extra" not in root.attributes


def test_an_error_in_the_metadata_of_a_successful_run_is_not_on_its_span() -> None:
    root = root_of({**FAILED, "status": "success"})
    assert (root.status, root.events) == ("UNSET", [])


def test_a_failed_run_without_an_error_comes_back_without_one() -> None:
    """Its last step has it, and not the document."""
    call = {"type": "tool_call", "tool_call": {"id": "c", "name": "t"},
            "timestamp": "2026-03-01T10:00:00Z"}  # fmt: skip
    result = {"type": "tool_result", "tool_result": {"call_id": "c", "error": "no luck"},
              "timestamp": "2026-03-01T10:00:01Z"}  # fmt: skip
    document = {
        "trace_id": "t",
        "status": "error",
        "metadata": {"note": 1},
        "steps": [call, result],
    }
    assert exact(there_and_back(document)) == exact([document])


NAMED: dict[str, Any] = {
    "trace_id": "t",
    "agent_id": "a",
    "session_id": "s1",
    "metadata": {"user_id": "u1", "case_id": "c1", "tags": ["x", "y"], "note": 1},
    "steps": [
        {"type": "tool_call", "tool_call": {"id": "c", "name": "t", "arguments": {}}},
        {"type": "tool_result", "tool_result": {"call_id": "orphan", "output": 1}},
        {"type": "memory_read", "query": "q"},
        {"type": "memory_write", "content": "v"},
        {"type": "handoff", "to_agent": "b"},
    ],
}


def replayed(document: dict[str, Any]) -> list[SpanRecord]:
    with tempfile.TemporaryDirectory() as folder:
        provider = TracerProvider(shutdown_on_exit=False)
        provider.add_span_processor(SimpleSpanProcessor(RecordingExporter(Path(folder))))
        replay(document, provider)
        return list(open_source(folder).spans())


def test_every_span_names_its_agent_session_and_user() -> None:
    keys = ("gen_ai.agent.name", "gen_ai.conversation.id", "user.id")
    results = [tuple(map(span.attributes.get, keys)) for span in replayed(NAMED)]
    assert results == [("a", "s1", "u1")] * 6


def test_every_tool_span_has_the_type_of_the_tool() -> None:
    tools = [span for span in replayed(NAMED) if span.name.startswith("execute_tool")]
    assert [span.attributes.get("gen_ai.tool.type") for span in tools] == ["function"] * 3


def test_replayed_spans_conform_to_the_conventions() -> None:
    spans = replayed(NAMED)
    assert_conformant(spans)
    assert [item for item in check_all(spans, generation="1.41") if item.rule == "shape"] == []


def test_labels_of_a_run_are_read_back_if_a_store_drops_its_metadata() -> None:
    spans = replayed(NAMED)
    for span in spans:
        span.attributes.pop("agentool.metadata", None)
    [result] = rebuild(spans)
    assert result.document["metadata"] == {"user_id": "u1", "case_id": "c1", "tags": ["x", "y"]}


@pytest.mark.parametrize("tags", ["x", ["x", 1], [""], [], {"a": 1}, None])
def test_tags_that_are_not_strings_stay_in_the_metadata_only(tags: Any) -> None:
    root = root_of({"metadata": {"tags": tags}})
    assert "agentool.tags" not in root.attributes
