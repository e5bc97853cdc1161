"""Traces in which several SDKs record the same thing."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from agentool_otel.loading import rebuild
from agentool_otel.model.messages import message, text, tool_call, tool_response
from agentool_otel.model.operations import (
    AgentInvocation,
    Inference,
    Retrieval,
    ToolExecution,
    Unclassified,
    Usage,
)
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.rebuild.status import REPEATED
from agentool_otel.semconv import agentool, openinference
from tests.records import Collected, agent, shape

ASKED = [message("user", [text("go")])]
ANSWER = [message("assistant", [text("gone")])]
USAGE = Usage(input_tokens=3, output_tokens=4)


def calls_in(spans: Collected) -> int:
    return sum(result.fidelity.model_calls for result in rebuild(spans.spans))


# ------------------------------------------------------------------------------- model calls


def test_a_run_with_a_finish_reason_has_at_least_one_model_call() -> None:
    spans = Collected()
    spans.add(agent(finish_reasons=["stop"]))
    [result] = rebuild(spans.spans)
    assert result.fidelity.model_calls == 1
    assert ("inferred", "model_calls") in {(n.outcome, n.field) for n in result.fidelity.notes}


def test_an_inner_model_call_takes_missing_fields_from_the_outer_one() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    outer = spans.add(Inference(input=ASKED, output=ANSWER, usage=USAGE), parent=root, seconds=4)
    spans.add(Inference(provider="p", usage=USAGE, response_id="r"), parent=outer)
    [trace] = spans.rebuilt()
    assert (trace["input"], trace["output"]) == ("go", "gone")
    assert trace["metrics"]["total_tokens"] == 7
    assert calls_in(spans) == 1


def test_a_stream_that_continues_inside_its_own_span_is_two_calls() -> None:
    """Spring AI 1.x: a streaming client answers tools, and calls again, inside its first call."""
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    outer = spans.add(Inference(input=ASKED), parent=root, seconds=5)
    spans.add(Inference(input=[*ASKED, *ANSWER, message("user", [])]), parent=outer, seconds=1)
    assert calls_in(spans) == 2


def test_a_tool_before_the_inner_call_was_requested_by_the_outer_one() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    outer = spans.add(Inference(), parent=root, seconds=5)
    spans.add(ToolExecution(name="look"), parent=outer, seconds=1)
    spans.add(Inference(), parent=outer, seconds=1)
    assert calls_in(spans) == 2


def test_a_call_without_an_id_takes_it_from_the_history() -> None:
    """ADK for Java until 0.5: neither the model's nor the tool's span has it."""
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    reply = message("assistant", [tool_call("look", {"at": 1})])
    spans.add(Inference(input=ASKED, output=[reply]), parent=root)
    spans.add(ToolExecution(name="look", arguments={"at": 1}), parent=root)
    named = message("assistant", [tool_call("look", {"at": 1}, "adk-1")])
    results = message("user", [tool_response("found", "adk-1")])
    spans.add(Inference(input=[*ASKED, named, results], output=ANSWER), parent=root)
    [trace] = spans.rebuilt()
    [result] = [step["tool_result"] for step in trace["steps"] if step["type"] == "tool_result"]
    assert (result["call_id"], result["output"]) == ("adk-1", "found")


def test_a_call_of_an_earlier_turn_gives_no_id_to_one_like_it() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    named = message("assistant", [tool_call("look", {"at": 1}, "adk-1")])
    before = [*ASKED, named, message("user", [tool_response("old", "adk-1")]), *ASKED]
    reply = message("assistant", [tool_call("look", {"at": 1})])
    spans.add(Inference(input=before, output=[reply]), parent=root)
    spans.add(ToolExecution(name="look", arguments={"at": 1}), parent=root)
    spans.add(Inference(input=[*before, reply], output=ANSWER), parent=root)
    [trace] = spans.rebuilt()
    [result] = [step["tool_result"] for step in trace["steps"] if step["type"] == "tool_result"]
    assert "output" not in result


def test_spans_of_two_sdks_beside_each_other_are_one_call() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    spans.add(Inference(request_model="m", output=ANSWER), parent=root, seconds=5)
    provider = Inference(request_model="m", usage=USAGE)
    spans.add(provider, parent=root, seconds=1, scope="another.sdk")
    assert calls_in(spans) == 1
    assert spans.rebuilt()[0]["metrics"]["total_tokens"] == 7


def test_calls_of_one_sdk_at_the_same_time_are_two() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    spans.add(Inference(request_model="m", usage=USAGE), parent=root, seconds=5)
    spans.add(Inference(request_model="m", usage=USAGE), parent=root, seconds=1)
    assert calls_in(spans) == 2


def test_a_model_call_inside_a_tool_is_a_call_of_its_own() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    outer = spans.add(Inference(output=ANSWER, usage=USAGE), parent=root, seconds=5)
    tool = spans.add(ToolExecution(name="t", call_id="c"), parent=outer, seconds=3)
    spans.add(Inference(usage=USAGE), parent=tool)
    assert calls_in(spans) == 2


def test_the_total_of_the_leaves_is_checked_against_the_run() -> None:
    spans = Collected()
    root = spans.add(agent(usage=Usage(input_tokens=9, output_tokens=9)), seconds=9)
    spans.add(Inference(usage=USAGE), parent=root)
    [result] = rebuild(spans.spans)
    assert result.document["metrics"]["total_tokens"] == 7
    rules = {note.rule for note in result.fidelity.notes}
    assert "the model calls add up to 7, the run's own total is 18" in rules


# ------------------------------------------------------------------------------------- session


def test_a_conversation_id_around_the_run_wins_over_an_inferred_one() -> None:
    spans = Collected()
    wrapper = spans.add(Unclassified(extra={"gen_ai.conversation.id": "thread"}), seconds=9)
    root = spans.add(agent(), parent=wrapper, seconds=5)
    root.attributes |= {
        "traceloop.span.kind": "agent",
        "traceloop.association.properties.session_id": "session",
    }
    assert [trace["session_id"] for trace in spans.rebuilt()] == ["thread"]


def test_a_nested_run_may_be_of_another_conversation() -> None:
    spans = Collected()
    root = spans.add(agent("chief", conversation_id="thread"), seconds=9)
    spans.add(agent("clerk"), parent=root)
    assert [trace.get("session_id") for trace in spans.rebuilt()] == ["thread", None]


# ----------------------------------------------------------------------------------- tool calls


def test_a_tool_span_with_an_id_matches_a_requested_call_without_one() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    asks = [message("assistant", [tool_call("t", {"n": 1})])]
    spans.add(Inference(output=asks), parent=root)
    spans.add(ToolExecution(name="t", call_id="c", arguments={"n": 1}, result=2), parent=root)
    assert shape(spans.rebuilt()[0]) == ["call c t {'n': 1}", "result c 2"]


def test_a_result_without_an_id_belongs_to_the_preceding_call() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    asks = message("assistant", [tool_call("t", {"n": 1})])
    spans.add(Inference(output=[asks]), parent=root)
    messages = [asks, message("tool", [tool_response("two")])]
    spans.add(Inference(input=messages, output=ANSWER), parent=root)
    assert [line.split()[-1] for line in shape(spans.rebuilt()[0])] == ["1}", "two"]


def test_a_bare_model_call_reveals_the_tool_call_in_its_history() -> None:
    spans = Collected()
    asks = message("assistant", [tool_call("t", {"n": 1}, "c")])
    messages = [*ASKED, asks, message("tool", [tool_response(2, "c")])]
    spans.add(Inference(input=messages, output=ANSWER))
    assert shape(spans.rebuilt()[0]) == ["call c t {'n': 1}", "result c 2"]


def test_reranking_is_not_a_second_retrieval() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    spans.add(Retrieval(query="q", documents=[{"id": "d"}]), parent=root)
    spans.add(
        Retrieval(query="q", extra={openinference.SPAN_KIND: openinference.RERANKER}),
        parent=root,
    )
    read = [step for step in spans.rebuilt()[0]["steps"] if step["type"] == "memory_read"]
    assert len(read) == 1


# -------------------------------------------------------------------------------------- status


@pytest.mark.parametrize(
    ("fields", "status", "signal"),
    [
        ({"error_type": "ValueError"}, "error", "'ValueError'"),
        ({"error_type": "httpx.ReadTimeout"}, "timeout", "'httpx.ReadTimeout'"),
        ({"error_type": "context_length_exceeded"}, "context_overflow", None),
        ({"finish_reasons": ["content_filter"]}, "refusal", "'content_filter'"),
        ({"finish_reasons": ["model_context_window_exceeded"]}, "context_overflow", None),
        ({"finish_reasons": ["stop"]}, "success", "no error"),
    ],
)
def test_a_status_comes_with_its_signal(
    fields: dict[str, Any], status: str, signal: str | None
) -> None:
    spans = Collected()
    span = spans.add(Inference(output=ANSWER, **fields))
    [result] = rebuild(spans.spans)
    assert result.document["status"] == status
    [note] = [note for note in result.fidelity.notes if note.field == "status"]
    assert note.span_id == span.span_id
    assert signal is None or note.rule == signal


@pytest.mark.parametrize(("times", "status"), [(REPEATED - 1, "success"),
                                               (REPEATED, "loop_detected")])  # fmt: skip
def test_equal_calls_with_equal_results_are_a_loop(times: int, status: str) -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=99)
    for n in range(times):
        spans.add(
            ToolExecution(name="t", call_id=f"c{n}", arguments={"a": 1}, result="no"), parent=root
        )
    assert spans.rebuilt()[0]["status"] == status


@pytest.mark.parametrize(
    "hidden", ["[REDACTED]", {"id": "***"}, "order… [truncated: 99 characters]"]
)
def test_calls_with_hidden_values_are_not_a_loop(hidden: Any) -> None:
    cases: list[dict[str, Any]] = [
        {"arguments": {"a": hidden}, "result": "no"},
        {"arguments": {}, "result": hidden},
    ]
    for fields in cases:
        spans = Collected()
        root = spans.add(agent(), seconds=99)
        for n in range(REPEATED):
            spans.add(ToolExecution(name="t", call_id=f"c{n}", **fields), parent=root)
        assert spans.rebuilt()[0]["status"] == "success"


def test_calls_with_different_results_are_not_a_loop() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=99)
    for n in range(REPEATED):
        spans.add(ToolExecution(name="poll", call_id=f"c{n}", arguments={}, result=n), parent=root)
    assert spans.rebuilt()[0]["status"] == "success"


@pytest.mark.parametrize("seen_part", [{}, {"arguments": {"a": 1}}, {"result": "no"}])
def test_partly_hidden_calls_are_not_a_loop(seen_part: dict[str, Any]) -> None:
    """Arguments and results that were hidden may differ."""
    spans = Collected()
    root = spans.add(agent(), seconds=99)
    for n in range(2 * REPEATED):
        spans.add(ToolExecution(name="t", call_id=f"c{n}", **seen_part), parent=root)
    assert spans.rebuilt()[0]["status"] == "success"


# ------------------------------------------------------------------------- sessions of records


def record(name: str, second: int, **attributes: Any) -> SpanRecord:
    time_ns = 1_700_000_000_000_000_000 + second * 1_000_000_000
    values = {key.replace("__", "."): value for key, value in attributes.items()}
    return SpanRecord(
        "a" * 32, f"{second:016x}", name=f"claude_code.{name}", start_ns=time_ns, end_ns=time_ns,
        attributes={"session.id": "s", **values}, scope="com.anthropic.claude_code.events",
    )  # fmt: skip


def test_every_prompt_of_a_session_is_a_run_with_the_records_after_it() -> None:
    records = [
        record("user_prompt", 1, prompt="one", prompt__id="p1"),
        record("api_request", 2, model="m", input_tokens=3, output_tokens=4),
        record("user_prompt", 3, prompt="two", prompt__id="p2"),
        record("tool_result", 4, tool_name="Bash", success="true", prompt__id="p1"),
        record("api_error", 5, model="m", error="down"),
    ]
    one, two = (result.document for result in rebuild(reversed(records)))
    assert (one["input"], one["session_id"], one["metrics"]["total_tokens"]) == ("one", "s", 7)
    assert [step["type"] for step in one["steps"]] == ["tool_call", "tool_result"]
    assert one["metrics"]["total_duration_ms"] == 3000
    assert (two["input"], two["status"]) == ("two", "error")


@pytest.mark.parametrize("names", [{}, {"tool_use_id": "t1"}], ids=["nameless", "by its id"])
def test_the_execution_span_below_a_tool_decides_how_it_ended(names: dict[str, str]) -> None:
    agents: dict[str, dict[str, Any]] = {
        "claude_code.interaction": {"user_prompt": "Fix it."},
        "claude_code.tool": {"tool_name": "Task", "tool_use_id": "t1", "subagent_type": "miner"},
        "claude_code.tool.execution": {"success": False, "error": "no such agent", **names},
        "claude_code.llm_request": {"model": "m", "response.model_output": "I dig."},
    }
    spans = [
        SpanRecord(
            "a" * 32, f"{n + 1:016x}", f"{n:016x}" if n else None, name=name, start_ns=n + 1,
            end_ns=20 - n, attributes={"span.type": name.removeprefix("claude_code."), **output},
            scope="com.anthropic.claude_code.tracing",
        )
        for n, (name, output) in enumerate(agents.items())
    ]  # fmt: skip
    [match] = rebuild(spans)
    call, handed, result = match.document["steps"]
    assert (call["tool_call"]["name"], handed["to_agent"]) == ("Task", "miner")
    assert result["tool_result"]["error"] == "no such agent"


def test_records_without_a_prompt_are_one_run() -> None:
    records = [
        record("api_request", 1, model="m", input_tokens=3, output_tokens=4),
        record("tool_result", 2, tool_name="Bash", success="true"),
    ]
    [result] = rebuild(records)
    assert result.document["metrics"]["tool_call_count"] == 1
    assert msgspec.to_builtins(result.fidelity)["model_calls"] == 1


# ------------------------------------------------------------------- a library's own spans inside

NATIVE = "com.example.sdk"


def foreign(spans: Collected, span: SpanRecord) -> SpanRecord:
    """Make the newest span one of another tracer."""
    place = spans.spans.index(span)
    spans.spans[place] = msgspec.structs.replace(span, scope=NATIVE)
    return spans.spans[place]


def ours(spans: Collected, span: SpanRecord, **attributes: Any) -> SpanRecord:
    """Make the newest span one of ours."""
    place = spans.spans.index(span)
    names = {**span.attributes, **attributes}
    spans.spans[place] = msgspec.structs.replace(
        span, scope="agentool_otel.instrumentation.sdk", attributes=names
    )
    return spans.spans[place]


def test_a_nameless_run_of_a_library_right_inside_ours_is_ours() -> None:
    spans = Collected()
    root = ours(spans, spans.add(agent(), seconds=9))
    inner = AgentInvocation(conversation_id="c", request_model="m")
    run = foreign(spans, spans.add(inner, parent=root, seconds=8))
    spans.add(Inference(input=ASKED, output=ANSWER, usage=USAGE), parent=run)
    [trace] = spans.rebuilt()
    assert trace["metrics"]["total_tokens"] == 7
    assert [step["type"] for step in trace["steps"]] == []


def test_a_run_with_a_name_right_inside_ours_is_a_handoff() -> None:
    spans = Collected()
    root = ours(spans, spans.add(agent(), seconds=9))
    inner = AgentInvocation(agent_name="writer")
    foreign(spans, spans.add(inner, parent=root, seconds=8))
    assert len(spans.rebuilt()) == 2


@pytest.mark.parametrize("ours_outside", [True, False])
def test_a_run_of_the_same_name_of_another_tracer_is_the_same_run(ours_outside: bool) -> None:
    """Its calls may hang below either: callbacks do not make their span the current one."""
    spans = Collected()
    outer, inner = (ours, foreign) if ours_outside else (foreign, ours)
    root = outer(spans, spans.add(agent("clerk"), seconds=9))
    inner(spans, spans.add(agent("clerk"), parent=root, seconds=8))
    spans.add(ToolExecution(name="search", call_id="t1", arguments={}, result=1), parent=root)
    [trace] = spans.rebuilt()
    assert [step["type"] for step in trace["steps"]] == ["tool_call", "tool_result"]


def test_an_agent_that_a_tool_of_its_own_calls_again_is_another_run() -> None:
    spans = Collected()
    root = ours(spans, spans.add(agent("clerk"), seconds=9))
    tool = ours(spans, spans.add(ToolExecution(name="ask"), parent=root, seconds=8))
    foreign(spans, spans.add(agent("clerk"), parent=tool, seconds=7))
    assert len(spans.rebuilt()) == 2


@pytest.mark.parametrize("scope", [NATIVE, "some.sdk"])
def test_equal_nested_tool_spans_of_two_tracers_are_one_call(scope: str) -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    tool = ToolExecution(name="search", call_id="t1", arguments={"q": "x"}, result="found")
    outer = spans.add(tool, parent=root, seconds=3)
    inner = ToolExecution(name="search", arguments={"q": "x"}, result="found")
    spans.add(inner, parent=outer, scope=scope)
    [trace] = spans.rebuilt()
    assert len(trace["steps"]) == (2 if scope == NATIVE else 4), "one tracer records a call once"


def test_our_nested_tool_span_keeps_its_place_in_the_order() -> None:
    spans = Collected()
    root = ours(spans, spans.add(agent(), seconds=9))
    tool = ToolExecution(name="search", call_id="t1")
    outer = foreign(spans, spans.add(tool, parent=root, seconds=3))
    tool_execution = ToolExecution(
        name="search", call_id="t1", arguments={"q": "x"}, result="found"
    )
    ours(spans, spans.add(tool_execution, parent=outer, seconds=1), **{agentool.STEP_INDEX: 0})
    [trace] = spans.rebuilt()
    call, result = trace["steps"]
    assert call["tool_call"]["arguments"] == {"q": "x"}
    assert result["tool_result"]["output"] == "found"
