"""Checks 1 to 20: the agentool spec. 18 is among the converters."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from agentool_otel import (
    EvalCase,
    EvalResult,
    ReasoningTrace,
    ToolCall,
    ToolRegistry,
    ToolResult,
    ToolSpec,
    evaluate,
    load,
    run,
)
from agentool_otel.ground.json_codec import canonical
from agentool_otel.model.documents import ASSERTION_TYPES, STATUSES, Document, ToolExchange
from agentool_otel.model.validation import findings
from agentool_otel.semconv import agentool, core, gen_ai
from tests.records import records
from tests.seed_systems.exported import exported, through_commands

FIXTURES = Path(__file__).parent.parent / "fixtures"
Object = dict[str, Any]


def example(name: str) -> Object:
    obj: Object = json.loads((FIXTURES / "spec" / f"{name}.json").read_text())
    return obj


def back(*documents: Document) -> list[Object]:
    """Return documents as they come back from spans."""
    return [document.to_dict() for document in exported(documents).documents]


def trace(**members: Any) -> ReasoningTrace:
    return ReasoningTrace.from_dict({"trace_id": "tr_1", "steps": [], **members})


def test_check_01_the_example_trace_comes_back_byte_for_byte() -> None:
    document = example("reasoning-trace")
    [result] = back(ReasoningTrace.from_dict(document))
    assert canonical(result) == canonical(document)


EXAMPLES: dict[str, type[Document]] = {
    "tool-spec": ToolSpec,
    "tool-exchange": ToolExchange,
    "eval-case": EvalCase,
    "eval-result": EvalResult,
    "tool-registry": ToolRegistry,
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_check_02_each_document_comes_back_from_the_spans_of_export(name: str) -> None:
    document = EXAMPLES[name].from_dict(example(name))
    [result] = through_commands(document)
    assert canonical(result) == canonical(example(name))


@pytest.mark.parametrize("name", ["tool_call", "tool_result"])
def test_check_02_a_call_or_result_alone_comes_back_from_the_spans_of_export(name: str) -> None:
    document = example("tool-exchange")[name]
    cls = ToolCall if name == "tool_call" else ToolResult
    [result] = through_commands(cls.from_dict(document))
    assert canonical(result) == canonical(document)


def test_check_02_all_documents_together_come_back_from_the_spans_of_export() -> None:
    dicts = [cls.from_dict(example(name)) for name, cls in EXAMPLES.items()]
    run = ReasoningTrace.from_dict({**example("reasoning-trace"), "trace_id": "tr_xyz789"})
    canonicals = {canonical(command) for command in through_commands(*dicts, run)}
    assert canonicals == {canonical(item.to_dict()) for item in (*dicts, run)}


def test_check_02_a_call_and_its_result_come_back() -> None:
    exchange = example("tool-exchange")
    steps = [{"type": name, name: exchange[name]} for name in ("tool_call", "tool_result")]
    [result] = back(trace(steps=steps))
    assert canonical(result["steps"]) == canonical(steps)


@pytest.mark.parametrize("as_events", [False, True], ids=["spans", "events"])
def test_check_02_a_result_comes_back(as_events: bool) -> None:
    document = example("eval-result")
    documents = [trace(trace_id=document["trace_id"]), EvalResult.from_dict(document)]
    _, result = exported(documents, as_events=as_events).documents
    assert canonical(result.to_dict()) == canonical(document)


def test_check_03_unknown_members_survive_at_every_level_of_a_trace() -> None:
    unknown: Object = {"x": None, "ü": [{}, ""], "extra": {"type": 1}}
    document: Object = {
        "trace_id": "tr_1",
        "steps": [
            {"type": "reasoning", "content": "hm", **unknown},
            {"type": "tool_call", "tool_call": {"id": "c", "name": "t", **unknown}, **unknown},
            {"type": "tool_result", "tool_result": {"call_id": "c", **unknown}, **unknown},
        ],
        "metrics": {"total_tokens": 1, **unknown},
        "metadata": unknown,
        **unknown,
    }
    assert canonical(back(ReasoningTrace.from_dict(document))) == canonical([document])


def test_check_03_unknown_members_survive_in_results_and_cases() -> None:
    unknown: Object = {"x": None, "y": {"z": []}}
    assertion = {"assertion_type": "latency", "passed": True, **unknown}
    result: Object = {
        "case_id": "c",
        "trace_id": "tr_1",
        "passed": True,
        "assertion_results": [assertion],
        **unknown,
    }
    assert back(trace(), EvalResult.from_dict(result))[1] == result
    of_case: Object = {"case_id": "c", "assertions": [{"type": "latency", **unknown}], **unknown}
    assert EvalCase.from_dict(of_case).to_dict() == of_case


def test_check_03_unknown_members_survive_in_registries() -> None:
    unknown: Object = {"x": None, "y": {"z": []}}
    spec = {"name": "t", "description": "", "parameters": {}, **unknown}
    registry: Object = {"registry_id": "r", "tools": [{"spec": spec, **unknown}], **unknown}
    assert ToolRegistry.from_dict(registry).to_dict() == registry


def test_check_04_unknown_words_are_carried() -> None:
    steps = [{"type": "daydream", "content": "sheep"}, {"type": "", "tool_call": {"name": "t"}}]
    assertion = {"assertion_type": "of_tomorrow", "passed": None}
    result: Object = {"case_id": "c", "trace_id": "tr_1", "passed": None}
    result["assertion_results"] = [assertion]
    values = [trace(status="bored", steps=steps), EvalResult.from_dict(result)]
    assert back(*values) == [item.to_dict() for item in values]


STEPS: dict[str, tuple[Object, str | None]] = {
    "reasoning": ({"content": "hm"}, None),
    "tool_call": ({"tool_call": {"id": "c", "name": "search"}}, "execute_tool search"),
    "tool_result": ({"tool_result": {"call_id": "c"}}, "execute_tool unknown"),
    "handoff": ({"to_agent": "writer"}, "execute_tool transfer_to_writer"),
    "memory_read": ({"query": "q", "results": []}, "search_memory"),
    "memory_write": ({"key": "k", "content": "c"}, "upsert_memory"),
}


@pytest.mark.parametrize("kind", STEPS)
def test_check_05_a_step_is_an_event_and_perhaps_a_span(kind: str) -> None:
    members, name = STEPS[kind]
    root, *children = exported([trace(agent_id="a", steps=[{"type": kind, **members}])]).spans
    if root.parent_id is not None:
        root, children = children[-1], [root]
    [event] = [event for event in root.events if event.name == agentool.STEP_EVENT]
    assert event.attributes[agentool.STEP_TYPE] == kind
    assert [child.name for child in children] == ([name] if name else [])


@pytest.mark.parametrize("time", ["2026-03-01T10:00:00Z", None, "never"])
def test_check_06_steps_keep_their_order_whatever_their_times(time: str | None) -> None:
    kinds = list(itertools.islice(itertools.cycle(STEPS), 24))
    steps: list[Object] = [
        {
            "type": kind,
            **STEPS[kind][0],
            "step_id": f"s{n}",
            **({"timestamp": time} if time else {}),
        }
        for n, kind in enumerate(kinds)
    ]
    [result] = back(trace(steps=steps))
    assert result["steps"] == steps


@pytest.mark.parametrize("status", STATUSES)
def test_check_07_a_status_is_an_otel_status_and_comes_back(status: str) -> None:
    result = exported([trace(status=status)])
    [span] = result.spans
    failed = status not in ("success", "in_progress")
    assert span.status == ("ERROR" if failed else "UNSET")
    assert span.attributes.get(core.ERROR_TYPE) == (status if failed else None)
    assert result.rebuilt[0].trace.status == status


@pytest.mark.parametrize("as_events", [False, True], ids=["spans", "events"])
@pytest.mark.parametrize("kind", ASSERTION_TYPES)
def test_check_08_every_assertion_type_comes_back_from_its_evaluation(
    kind: str, as_events: bool
) -> None:
    case: Object = {"case_id": "c", "input": "?", "assertions": [{"type": kind, "max_ms": 1}]}
    assert EvalCase.from_dict(case).to_dict() == case
    assertion = {"assertion_type": kind, "passed": False, "score": 0.25, "reason": "so"}
    result: Object = {"case_id": "c", "trace_id": "tr_1", "passed": False}
    result["assertion_results"] = [assertion]
    match = exported([trace(), EvalResult.from_dict(result)], as_events=as_events)
    assert match.documents[1].to_dict() == result
    commanded = through_commands(trace(), EvalResult.from_dict(result), EvalCase.from_dict(case))
    assert commanded == [trace().to_dict(), result, case]
    if not as_events:
        [judged] = [
            judgement
            for judgement in match.judgements
            if judgement.attributes[gen_ai.EVALUATION_NAME] == kind
        ]
        assert judged.attributes[gen_ai.EVALUATION_SCORE_VALUE] == 0.25
        assert judged.attributes[gen_ai.EVALUATION_SCORE_LABEL] == "fail"
        assert judged.attributes[gen_ai.EVALUATION_EXPLANATION] == "so"


def call(call_id: str | None, name: str = "t") -> Object:
    return {
        "type": "tool_call",
        "tool_call": {"name": name, **({"id": call_id} if call_id else {})},
    }


def answer(call_id: str | None, output: Any = None) -> Object:
    contents = {"output": output, **({"call_id": call_id} if call_id else {})}
    return {"type": "tool_result", "tool_result": contents}


@pytest.mark.parametrize(
    ("steps", "names"),
    [
        ([call("a"), call("b"), answer("b", 2), answer("a", 1)], ["t", "t"]),
        ([call("a"), answer("a", 1), call("a"), answer("a", 2)], ["t", "t"]),
        ([call("a"), call("a"), answer("a", 1)], ["t", "t"]),
        ([call("a")], ["t"]),
        ([call(None)], ["t"]),
        ([answer("a", 1)], ["unknown"]),
        ([answer(None, 1)], ["unknown"]),
        ([answer("a", 1), call("a")], ["t"]),
    ],
    ids=["parallel", "reused", "duplicate", "no-result", "no-id", "orphan", "nameless", "first"],
)
def test_check_09_calls_and_results_are_paired_and_none_is_lost(
    steps: list[Object], names: list[str]
) -> None:
    result = exported([trace(steps=steps)])
    tools = [span for span in result.spans if span.name.startswith("execute_tool")]
    assert [tool.attributes[gen_ai.TOOL_NAME] for tool in tools] == names
    assert result.rebuilt[0].trace.to_dict()["steps"] == steps


def test_check_10_a_tools_error_is_an_error_of_its_span() -> None:
    result: Object = {"call_id": "a", "error": "no route", "duration_ms": 99999, "cost_tokens": 7}
    steps = [
        {**call("a"), "timestamp": "2026-03-01T10:00:00Z"},
        {"type": "tool_result", "tool_result": result, "timestamp": "2026-03-01T10:00:01Z"},
    ]
    match = exported([trace(steps=steps)])
    [span] = [span for span in match.spans if span.name == "execute_tool t"]
    assert (span.status, span.status_message) == ("ERROR", "no route")
    assert span.attributes[core.ERROR_TYPE] == "tool_error"
    assert (span.end_ns or 0) - (span.start_ns or 0) == 1_000_000_000
    assert match.rebuilt[0].trace.to_dict()["steps"] == steps


def test_check_11_metrics_stay_exact_and_are_no_token_usage() -> None:
    metrics: Object = {
        "total_tokens": 3200,
        "total_cost_usd": 0.1 + 0.2,
        "total_duration_ms": 15000.0,
        "step_count": 99,
        "tool_call_count": 0,
    }
    result = exported([trace(metrics=metrics)])
    assert canonical(result.rebuilt[0].trace.to_dict()["metrics"]) == canonical(metrics)
    assert not [
        attribute for span in result.spans for attribute in span.attributes if "usage" in attribute
    ]


@pytest.mark.parametrize("name", ["session_id", "finished_at", "output", "metadata", "status"])
def test_check_12_absent_null_and_empty_stay_apart(name: str) -> None:
    empty: Any = {} if name == "metadata" else ""
    for members in ({}, {name: None}, {name: empty}):
        assert back(trace(**members)) == [{"trace_id": "tr_1", "steps": [], **members}]


@pytest.mark.parametrize("returns", [None, "absent", {}])
def test_check_12_so_do_schemas_of_what_a_tool_returns(returns: Any) -> None:
    spec: Object = {"name": "t", "description": "", "parameters": {}}
    spec |= {} if returns == "absent" else {"returns": returns}
    assert ToolSpec.from_dict(spec).to_dict() == spec


TIMES = (
    "2026-03-01T10:00:00Z",
    "2026-03-01T10:00:00+00:00",
    "2026-03-01T10:00:00.000Z",
    "2026-03-01T10:00:00.123456789Z",
    "2026-03-01T10:00:00.5+05:30",
    "2026-03-01T10:00:00",
    "2026-03-01 10:00",
    "soon",
)


@pytest.mark.parametrize("time", TIMES)
def test_check_13_a_time_keeps_its_text(time: str) -> None:
    step = {"type": "reasoning", "content": "hm", "timestamp": time}
    value = trace(started_at=time, finished_at=time, steps=[step])
    assert back(value) == [value.to_dict()]


@dataclass
class _Step:
    """As the reference package has it: its own field names, and what it writes."""

    type: str
    handoff_message: str | None = None
    to_agent: str | None = None
    extra: Object = field(default_factory=dict)

    def to_dict(self) -> Object:
        written = {"type": self.type, "to_agent": self.to_agent, "message": self.handoff_message}
        return {
            **{name: value for name, value in written.items() if value is not None},
            **self.extra,
        }


@dataclass
class _Trace:
    trace_id: str
    agent_id: str
    steps: list[_Step]

    def to_dict(self) -> Object:
        return {**vars(self), "steps": [step.to_dict() for step in self.steps]}


def test_check_14_objects_of_the_reference_package_are_taken_as_they_are() -> None:
    live = _Trace("tr_1", "lead", [_Step("handoff", "go on", "writer", {"mood": "calm"})])
    [result] = back(ReasoningTrace.from_dict(live))  # type: ignore[arg-type]
    assert result["steps"] == [
        {"type": "handoff", "to_agent": "writer", "message": "go on", "mood": "calm"}
    ]
    assert "agentool" not in sys.modules


def test_check_15_a_trace_that_is_sent_twice_is_one_trace() -> None:
    value = trace(steps=[call("a"), answer("a", 1)])
    spans = [*exported([value]).spans, *exported([value]).spans]
    assert len({span.span_id for span in spans}) == len(spans) / 2
    assert {span.trace_id for span in spans} == {spans[0].trace_id}


def test_check_15_a_trace_in_progress_is_sent_as_far_as_it_is() -> None:
    value = trace(status="in_progress", started_at=TIMES[0], finished_at=None, steps=[call("a")])
    result = exported([value])
    assert all(span.end_ns for span in result.spans)
    assert result.rebuilt[0].trace == value


def test_check_16_documents_load_nothing_but_the_api() -> None:
    code = """
import sys
from agentool_otel.converters import convert
from agentool_otel.model import ReasoningTrace, ToolSpec
ReasoningTrace.from_json('{"trace_id": "t", "steps": []}').to_json()
convert({"name": "t", "description": "", "parameters": {}}, "mcp-tools")
others = ("opentelemetry.sdk", "opentelemetry.exporter", "openai", "anthropic", "langchain")
assert not [name for name in sys.modules if name.startswith(others)]
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


@pytest.mark.parametrize(
    "name",
    [
        "mcp-2.3.0.gen_ai",
        "agno-3.1.10.openinference",
        "autogen-agentchat-0.7.5.autogen",
        "crewai-1.15.30.crewai",
    ],
)
def test_check_17_spans_of_others_become_valid_traces(name: str) -> None:
    """Current conventions, OpenInference, and the deprecated `gen_ai.system` of AutoGen."""
    traces = list(load(FIXTURES / "spans" / f"{name}.jsonl"))
    assert traces
    for result in traces:
        errors = [finding for finding in findings(result.to_dict()) if finding.level == "error"]
        assert not errors
    assert any(result.steps for result in traces)


def analyses(value: ReasoningTrace) -> Object:
    """Return the analyses that a consumer makes of a trace."""
    assertions: list[Object] = [
        {"type": "no_loop"},
        {"type": "tool_call_count", "min_calls": 2, "max_calls": 3},
        {"type": "contains_tool_call", "tool_name": "t"},
        {"type": "latency", "max_ms": 1000},
        {"type": "context_efficiency", "max_tokens": 10},
    ]
    case = EvalCase.from_dict({"case_id": "c", "assertions": assertions, "input": "?"})
    [result] = evaluate([case], [value])
    return {
        "verdicts": [
            (assertion_result.passed, assertion_result.score)
            for assertion_result in result.assertion_results
        ],
        "calls": [tool_call.to_dict() for tool_call in value.tool_calls()],
        "pairs": [(bool(one), bool(second)) for one, second in value.pairs()],
    }


def test_check_19_analyses_of_a_rebuilt_trace_are_those_of_the_original() -> None:
    steps = [item for _ in range(4) for item in (call("a"), answer("a", 1))]
    original = trace(
        input="?",
        output="!",
        started_at="2026-03-01T10:00:00Z",
        finished_at="2026-03-01T10:00:09Z",
        status="success",
        steps=steps,
        metrics={"total_tokens": 11},
    )
    [rebuilt] = exported([original]).documents
    assert isinstance(rebuilt, ReasoningTrace)
    assert analyses(rebuilt) == analyses(original)
    assert False in [passed for passed, _ in analyses(original)["verdicts"]]


def test_check_20_content_of_handoffs_and_memory_needs_permission(spans: Any) -> None:
    spans.without_content()
    with run("lead") as live:
        live.handoff("writer", "a secret task")
        live.memory_read("a secret question", ["a secret record"])
        live.memory_write("a secret note", key="topic")
    result = records(spans.finished())
    assert "secret" not in repr(result)
    names = {str(item.attributes.get(agentool.TRANSFER_TARGET)) for item in result}
    assert "writer" in names
    assert {item.name for item in result} >= {"search_memory", "upsert_memory"}
