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

from agentool_otel.export.recording import RecordingExporter
from agentool_otel.model import ReasoningTrace
from agentool_otel.rebuild import rebuild
from agentool_otel.rebuild.replay import replay
from agentool_otel.sources import open_source
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


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
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
def test_it_comes_back_from_other_dialects_too(dialect: str, document: dict[str, Any]) -> None:
    assert [exact(it) for it in there_and_back(document, dialect=dialect)] == [exact(document)]


def test_the_example_of_the_spec_comes_back_key_by_key() -> None:
    example = json.loads((SPEC / "reasoning-trace.json").read_text())
    assert there_and_back(example) == [example]


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


def test_an_escaped_lone_surrogate_comes_back() -> None:
    document = {"trace_id": "\ud800", "agent_id": "\udfff", "input": "a\ud800", "steps": []}
    assert exact(there_and_back(document)) == exact([document])


def test_the_same_trace_is_replayed_under_the_same_ids() -> None:
    document = {"trace_id": "tr_1", "steps": [{"type": "reasoning", "content": "once"}]}
    assert there_and_back(document, document) == [document]


def test_a_trace_id_that_is_an_otel_id_is_kept_as_one(tmp_path: Path) -> None:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(RecordingExporter(tmp_path)))
    replay({"trace_id": "0af7651916cd43dd8448eb211c80319c", "steps": []}, provider)
    spans = list(open_source(tmp_path).spans())
    assert [span.trace_id for span in spans] == ["0af7651916cd43dd8448eb211c80319c"]


@pytest.mark.parametrize("status", ["error", "timeout", "refusal", "loop_detected"])
def test_a_failed_status_makes_the_root_span_an_error(status: str, tmp_path: Path) -> None:
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(RecordingExporter(tmp_path)))
    replay(ReasoningTrace(trace_id="t", steps=[], status=status), provider)
    [root] = open_source(tmp_path).spans()
    assert (root.status, root.attributes["error.type"]) == ("ERROR", status)
