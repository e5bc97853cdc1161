"""Traces that others published, one or more for every container; `SOURCES.md` has their origins."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

import agentool_otel
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.opening import open_source

FOLDER = Path(__file__).parents[2] / "fixtures" / "traces"


@pytest.mark.parametrize(
    ("file", "spans", "traces", "orphans", "first"),
    [
        ("any_agent/OPENAI_trace", 6, 1, 0, "call_llm mistral/mistral-small-latest"),
        ("coding_agent_native_spans/codex-B.session_task_turn", 1, 1, 0, "session_task.turn"),
        ("coding_agent_native_spans/gemini-B.llm_call", 1, 1, 0, "llm_call"),
        ("generic_otlp/otlp2jaeger-in", 2, 1, 2, "okey-dokey-0"),
        ("generic_otlp/otlp2jaeger-out", 2, 1, 2, "okey-dokey-0"),
        ("langfuse_api/google-adk-2025-08-28.trace", 5, 1, 0, "call_llm"),
        ("langfuse_api/openai-agents-2025-09-30.trace", 5, 1, 0, "Agent workflow"),
        ("langfuse_api/pydantic-ai-2025-06-06.trace", 3, 1, 0, "chat gpt-4o"),
        ("langfuse_api/vercel-aisdk-2025-11-17.trace", 3, 1, 0, "ai.generateText"),
        ("openinference_genai_pairs/otel_genai_client_span_tool_calls", 1, 1, 0, ""),
        ("openinference_genai_pairs/openinference_client_span_tool_calls", 1, 1, 0, ""),
        ("openinference_genai_pairs/otel_genai_tool_execution_span", 1, 1, 0, ""),
        ("strands_evals_dicts/adk_live_spans", 7, 1, 0, "execute_tool calculator"),
        ("strands_evals_dicts/claude_adot_spans", 8, 1, 1, "Bash"),
        ("trulens_otel/record_root_span", 1, 1, 0, "__main__.RAG.query"),
        ("trulens_otel/retrieval_span", 1, 1, 1, "__main__.RAG.retrieve_context"),
        ("vercel_ai_v6/ai-generateText", 2, 2, 0, "ai.generateText"),
        ("vercel_ai_v6/ai-streamText", 1, 1, 0, "ai.streamText"),
    ],
)
def test_every_span_is_read(file: str, spans: int, traces: int, orphans: int, first: str) -> None:
    result = read(file)
    ids = {span.span_id for span in result}
    lost = [span for span in result if span.parent_id and span.parent_id not in ids]
    assert (len(result), len({s.trace_id for s in result}), len(lost)) == (spans, traces, orphans)
    assert result[0].name == first


def test_jaeger_json_gives_the_spans_it_was_made_from() -> None:
    written, stored = read("generic_otlp/otlp2jaeger-in"), read("generic_otlp/otlp2jaeger-out")
    assert [msgspec.to_builtins(span) for span in stored] == [
        msgspec.to_builtins(span) for span in written
    ]


def test_rows_of_one_run_form_one_trace() -> None:
    (root,), (child,) = read("trulens_otel/record_root_span"), read("trulens_otel/retrieval_span")
    assert (child.trace_id, child.parent_id) == (root.trace_id, root.span_id)
    assert root.span_id == f"{12203920175536650289:016x}"


def test_langfuse_gives_back_the_attributes_and_its_own_fields() -> None:
    model, *_ = read("langfuse_api/google-adk-2025-08-28.trace")
    assert model.attributes["openinference.span.kind"] == "LLM"
    assert model.attributes["langfuse.observation.type"] == "generation"
    assert model.attributes["session.id"] == "demo-session"
    assert model.scope == "openinference.instrumentation.google_adk"
    assert model.resource["telemetry.sdk.language"] == "python"


@pytest.mark.parametrize(
    ("file", "agents"),
    [
        ("phoenix_simple_trajectory", ["finance-assistant"]),
        ("phoenix_subagent_trajectories", ["orchestrator", "summarizer"]),
    ],
)
def test_trajectories_become_traces(file: str, agents: list[str]) -> None:
    traces = list(agentool_otel.load(FOLDER / "atif" / f"{file}.json"))
    assert [trace.agent_id for trace in traces] == agents
    assert traces[0].steps


def test_a_folder_of_all_exports_is_read_at_once() -> None:
    source = open_source(FOLDER)
    assert len(list(source.spans())) == 207
    assert {"times are rounded to milliseconds"} < set(source.loses)
    assert [
        p for p in source.problems if "is a ReasoningTrace document, without spans" not in p.message
    ] == []


def read(file: str) -> list[SpanRecord]:
    source = open_source(FOLDER / f"{file}.json")
    spans = list(source.spans())
    assert source.problems == []
    return spans
