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


def calls_in(seen: Collected) -> int:
    return sum(found.fidelity.model_calls for found in rebuild(seen.spans))


# ------------------------------------------------------------------------------- model calls


def test_a_run_with_a_finish_reason_has_at_least_one_model_call() -> None:
    seen = Collected()
    seen.add(agent(finish_reasons=["stop"]))
    [found] = rebuild(seen.spans)
    assert found.fidelity.model_calls == 1
    assert ("inferred", "model_calls") in {(n.outcome, n.field) for n in found.fidelity.notes}


def test_an_inner_model_call_takes_missing_fields_from_the_outer_one() -> None:
    seen = Collected()
    root = seen.add(agent(), seconds=9)
    outer = seen.add(Inference(input=ASKED, output=ANSWER, usage=USAGE), parent=root, seconds=4)
    seen.add(Inference(provider="p", usage=USAGE, response_id="r"), parent=outer)
    [trace] = seen.rebuilt()
    assert (trace["input"], trace["output"]) == ("go", "gone")
    assert trace["metrics"]["total_tokens"] == 7
    assert calls_in(seen) == 1


def test_a_stream_that_continues_inside_its_own_span_is_two_calls() -> None:
    """Spring AI 1.x: a streaming client answers tools, and calls again, inside its first call."""
    seen = Collected()
    root = seen.add(agent(), seconds=9)
    outer = seen.add(Inference(input=ASKED), parent=root, seconds=5)
    seen.add(Inference(input=[*ASKED, *ANSWER, message("user", [])]), parent=outer, seconds=1)
    assert calls_in(seen) == 2


def test_a_tool_before_the_inner_call_was_requested_by_the_outer_one() -> None:
    seen = Collected()
    root = seen.add(agent(), seconds=9)
    outer = seen.add(Inference(), parent=root, seconds=5)
    seen.add(ToolExecution(name="look"), parent=outer, seconds=1)
    seen.add(Inference(), parent=outer, seconds=1)
    assert calls_in(seen) == 2


def test_a_call_without_an_id_takes_it_from_the_history() -> None:
    """ADK for Java until 0.5: neither the model's nor the tool's span has it."""
    seen = Collected()
    root = seen.add(agent(), seconds=9)
    reply = message("assistant", [tool_call("look", {"at": 1})])
    seen.add(Inference(input=ASKED, output=[reply]), parent=root)
    seen.add(ToolExecution(name="look", arguments={"at": 1}), parent=root)
    named = message("assistant", [tool_call("look", {"at": 1}, "adk-1")])
    results = message("user", [tool_response("found", "adk-1")])
    seen.add(Inference(input=[*ASKED, named, results], output=ANSWER), parent=root)
    [trace] = seen.rebuilt()
    [result] = [step["tool_result"] for step in trace["steps"] if step["type"] == "tool_result"]
    assert (result["call_id"], result["output"]) == ("adk-1", "found")


def test_a_call_of_an_earlier_turn_gives_no_id_to_one_like_it() -> None:
    seen = Collected()
    root = seen.add(agent(), seconds=9)
    named = message("assistant", [tool_call("look", {"at": 1}, "adk-1")])
    before = [*ASKED, named, message("user", [tool_response("old", "adk-1")]), *ASKED]
    reply = message("assistant", [tool_call("look", {"at": 1})])
    seen.add(Inference(input=before, output=[reply]), parent=root)
    seen.add(ToolExecution(name="look", arguments={"at": 1}), parent=root)
    seen.add(Inference(input=[*before, reply], output=ANSWER), parent=root)
    [trace] = seen.rebuilt()
    [result] = [step["tool_result"] for step in trace["steps"] if step["type"] == "tool_result"]
    assert "output" not in result


def test_spans_of_two_sdks_beside_each_other_are_one_call() -> None:
    seen = Collected()
    root = seen.add(agent(), seconds=9)
    seen.add(Inference(request_model="m", output=ANSWER), parent=root, seconds=5)
    provider = Inference(request_model="m", usage=USAGE)
    seen.add(provider, parent=root, seconds=1, scope="another.sdk")
    assert calls_in(seen) == 1
    assert seen.rebuilt()[0]["metrics"]["total_tokens"] == 7


def test_calls_of_one_sdk_at_the_same_time_are_two() -> None:
    seen = Collected()
    root = seen.add(agent(), seconds=9)
    seen.add(Inference(request_model="m", usage=USAGE), parent=root, seconds=5)
    seen.add(Inference(request_model="m", usage=USAGE), parent=root, seconds=1)
    assert calls_in(seen) == 2


def test_a_model_call_inside_a_tool_is_not_part_of_the_call_around_it() -> None:
    seen = Collected()
    root = seen.add(agent(), seconds=9)
    outer = seen.add(Inference(output=ANSWER, usage=USAGE), parent=root, seconds=5)
    tool = seen.add(ToolExecution(name="t", call_id="c"), parent=outer, seconds=3)
    seen.add(Inference(usage=USAGE), parent=tool)
    assert calls_in(seen) == 2


def test_the_total_of_the_leaves_is_checked_against_the_run() -> None:
    seen = Collected()
    root = seen.add(agent(usage=Usage(input_tokens=9, output_tokens=9)), seconds=9)
    seen.add(Inference(usage=USAGE), parent=root)
    [found] = rebuild(seen.spans)
    assert found.document["metrics"]["total_tokens"] == 7
    rules = {note.rule for note in found.fidelity.notes}
    assert "the model calls add up to 7, the run's own total is 18" in rules


# ------------------------------------------------------------------------------------- session


def test_a_conversation_id_around_the_run_wins_over_an_inferred_one() -> None:
    seen = Collected()
    wrapper = seen.add(Unclassified(extra={"gen_ai.conversation.id": "thread"}), seconds=9)
    root = seen.add(agent(), parent=wrapper, seconds=5)
    root.attributes |= {
        "traceloop.span.kind": "agent",
        "traceloop.association.properties.session_id": "session",
    }
    assert [trace["session_id"] for trace in seen.rebuilt()] == ["thread"]


def test_a_nested_run_may_be_of_another_conversation() -> None:
    seen = Collected()
    root = seen.add(agent("chief", conversation_id="thread"), seconds=9)
    seen.add(agent("clerk"), parent=root)
    assert [trace.get("session_id") for trace in seen.rebuilt()] == ["thread", None]


# ----------------------------------------------------------------------------------- tool calls


def test_a_tool_span_with_an_id_matches_a_requested_call_without_one() -> None:
    seen = Collected()
    root = seen.add(agent(), seconds=9)
    asks = [message("assistant", [tool_call("t", {"n": 1})])]
    seen.add(Inference(output=asks), parent=root)
    seen.add(ToolExecution(name="t", call_id="c", arguments={"n": 1}, result=2), parent=root)
    assert shape(seen.rebuilt()[0]) == ["call c t {'n': 1}", "result c 2"]


def test_a_result_without_an_id_belongs_to_the_preceding_call() -> None:
    seen = Collected()
    root = seen.add(agent(), seconds=9)
    asks = message("assistant", [tool_call("t", {"n": 1})])
    seen.add(Inference(output=[asks]), parent=root)
    told = [asks, message("tool", [tool_response("two")])]
    seen.add(Inference(input=told, output=ANSWER), parent=root)
    assert [line.split()[-1] for line in shape(seen.rebuilt()[0])] == ["1}", "two"]


def test_a_bare_model_call_reveals_the_tool_call_in_its_history() -> None:
    seen = Collected()
    asks = message("assistant", [tool_call("t", {"n": 1}, "c")])
    told = [*ASKED, asks, message("tool", [tool_response(2, "c")])]
    seen.add(Inference(input=told, output=ANSWER))
    assert shape(seen.rebuilt()[0]) == ["call c t {'n': 1}", "result c 2"]


def test_reranking_is_not_a_second_retrieval() -> None:
    seen = Collected()
    root = seen.add(agent(), seconds=9)
    seen.add(Retrieval(query="q", documents=[{"id": "d"}]), parent=root)
    seen.add(
        Retrieval(query="q", extra={openinference.SPAN_KIND: openinference.RERANKER}),
        parent=root,
    )
    read = [step for step in seen.rebuilt()[0]["steps"] if step["type"] == "memory_read"]
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
    seen = Collected()
    span = seen.add(Inference(output=ANSWER, **fields))
    [found] = rebuild(seen.spans)
    assert found.document["status"] == status
    [note] = [note for note in found.fidelity.notes if note.field == "status"]
    assert note.span_id == span.span_id
    assert signal is None or note.rule == signal


@pytest.mark.parametrize(("times", "status"), [(REPEATED - 1, "success"),
                                               (REPEATED, "loop_detected")])  # fmt: skip
def test_equal_calls_with_equal_results_are_a_loop(times: int, status: str) -> None:
    seen = Collected()
    root = seen.add(agent(), seconds=99)
    for n in range(times):
        seen.add(
            ToolExecution(name="t", call_id=f"c{n}", arguments={"a": 1}, result="no"), parent=root
        )
    assert seen.rebuilt()[0]["status"] == status


@pytest.mark.parametrize(
    "hidden", ["[REDACTED]", {"id": "***"}, "order… [truncated: 99 characters]"]
)
def test_calls_with_hidden_values_are_not_a_loop(hidden: Any) -> None:
    cases: list[dict[str, Any]] = [
        {"arguments": {"a": hidden}, "result": "no"},
        {"arguments": {}, "result": hidden},
    ]
    for fields in cases:
        seen = Collected()
        root = seen.add(agent(), seconds=99)
        for n in range(REPEATED):
            seen.add(ToolExecution(name="t", call_id=f"c{n}", **fields), parent=root)
        assert seen.rebuilt()[0]["status"] == "success"


def test_calls_with_different_results_are_not_a_loop() -> None:
    seen = Collected()
    root = seen.add(agent(), seconds=99)
    for n in range(REPEATED):
        seen.add(ToolExecution(name="poll", call_id=f"c{n}", arguments={}, result=n), parent=root)
    assert seen.rebuilt()[0]["status"] == "success"


@pytest.mark.parametrize("seen_part", [{}, {"arguments": {"a": 1}}, {"result": "no"}])
def test_calls_that_nobody_has_seen_whole_are_not_a_loop(seen_part: dict[str, Any]) -> None:
    """Arguments and results that were hidden may differ."""
    seen = Collected()
    root = seen.add(agent(), seconds=99)
    for n in range(2 * REPEATED):
        seen.add(ToolExecution(name="t", call_id=f"c{n}", **seen_part), parent=root)
    assert seen.rebuilt()[0]["status"] == "success"


# ------------------------------------------------------------------------- sessions of records


def record(name: str, second: int, **attributes: Any) -> SpanRecord:
    time_ns = 1_700_000_000_000_000_000 + second * 1_000_000_000
    said = {key.replace("__", "."): value for key, value in attributes.items()}
    return SpanRecord(
        "a" * 32, f"{second:016x}", name=f"claude_code.{name}", start_ns=time_ns, end_ns=time_ns,
        attributes={"session.id": "s", **said}, scope="com.anthropic.claude_code.events",
    )  # fmt: skip


def test_every_prompt_of_a_session_is_a_run_with_the_records_after_it() -> None:
    records = [
        record("user_prompt", 1, prompt="one", prompt__id="p1"),
        record("api_request", 2, model="m", input_tokens=3, output_tokens=4),
        record("user_prompt", 3, prompt="two", prompt__id="p2"),
        record("tool_result", 4, tool_name="Bash", success="true", prompt__id="p1"),
        record("api_error", 5, model="m", error="down"),
    ]
    one, two = (found.document for found in rebuild(reversed(records)))
    assert (one["input"], one["session_id"], one["metrics"]["total_tokens"]) == ("one", "s", 7)
    assert [step["type"] for step in one["steps"]] == ["tool_call", "tool_result"]
    assert one["metrics"]["total_duration_ms"] == 3000
    assert (two["input"], two["status"]) == ("two", "error")


@pytest.mark.parametrize("known", [{}, {"tool_use_id": "t1"}], ids=["nameless", "by its id"])
def test_the_execution_span_below_a_tool_decides_how_it_ended(known: dict[str, str]) -> None:
    agents: dict[str, dict[str, Any]] = {
        "claude_code.interaction": {"user_prompt": "Fix it."},
        "claude_code.tool": {"tool_name": "Task", "tool_use_id": "t1", "subagent_type": "miner"},
        "claude_code.tool.execution": {"success": False, "error": "no such agent", **known},
        "claude_code.llm_request": {"model": "m", "response.model_output": "I dig."},
    }
    spans = [
        SpanRecord(
            "a" * 32, f"{n + 1:016x}", f"{n:016x}" if n else None, name=name, start_ns=n + 1,
            end_ns=20 - n, attributes={"span.type": name.removeprefix("claude_code."), **said},
            scope="com.anthropic.claude_code.tracing",
        )
        for n, (name, said) in enumerate(agents.items())
    ]  # fmt: skip
    [found] = rebuild(spans)
    call, handed, result = found.document["steps"]
    assert (call["tool_call"]["name"], handed["to_agent"]) == ("Task", "miner")
    assert result["tool_result"]["error"] == "no such agent"


def test_records_without_a_prompt_are_one_run() -> None:
    records = [
        record("api_request", 1, model="m", input_tokens=3, output_tokens=4),
        record("tool_result", 2, tool_name="Bash", success="true"),
    ]
    [found] = rebuild(records)
    assert found.document["metrics"]["tool_call_count"] == 1
    assert msgspec.to_builtins(found.fidelity)["model_calls"] == 1


# ------------------------------------------------------------------- a library's own spans inside

NATIVE = "com.example.sdk"


def foreign(seen: Collected, span: SpanRecord) -> SpanRecord:
    """Make the newest span one of another tracer."""
    place = seen.spans.index(span)
    seen.spans[place] = msgspec.structs.replace(span, scope=NATIVE)
    return seen.spans[place]


def ours(seen: Collected, span: SpanRecord, **attributes: Any) -> SpanRecord:
    """Make the newest span one of ours."""
    place = seen.spans.index(span)
    known = {**span.attributes, **attributes}
    seen.spans[place] = msgspec.structs.replace(
        span, scope="agentool_otel.instrumentation.sdk", attributes=known
    )
    return seen.spans[place]


def test_a_nameless_run_of_a_library_right_inside_ours_is_ours() -> None:
    seen = Collected()
    root = ours(seen, seen.add(agent(), seconds=9))
    inner = AgentInvocation(conversation_id="c", request_model="m")
    run = foreign(seen, seen.add(inner, parent=root, seconds=8))
    seen.add(Inference(input=ASKED, output=ANSWER, usage=USAGE), parent=run)
    [trace] = seen.rebuilt()
    assert trace["metrics"]["total_tokens"] == 7
    assert [step["type"] for step in trace["steps"]] == []


def test_a_run_with_a_name_right_inside_ours_is_a_handoff() -> None:
    seen = Collected()
    root = ours(seen, seen.add(agent(), seconds=9))
    inner = AgentInvocation(agent_name="writer")
    foreign(seen, seen.add(inner, parent=root, seconds=8))
    assert len(seen.rebuilt()) == 2


@pytest.mark.parametrize("ours_outside", [True, False])
def test_a_run_of_the_same_name_of_another_tracer_is_the_same_run(ours_outside: bool) -> None:
    """Its calls may hang below either: callbacks do not make their span the current one."""
    seen = Collected()
    outer, inner = (ours, foreign) if ours_outside else (foreign, ours)
    root = outer(seen, seen.add(agent("clerk"), seconds=9))
    inner(seen, seen.add(agent("clerk"), parent=root, seconds=8))
    seen.add(ToolExecution(name="search", call_id="t1", arguments={}, result=1), parent=root)
    [trace] = seen.rebuilt()
    assert [step["type"] for step in trace["steps"]] == ["tool_call", "tool_result"]


def test_an_agent_that_a_tool_of_its_own_calls_again_is_another_run() -> None:
    seen = Collected()
    root = ours(seen, seen.add(agent("clerk"), seconds=9))
    tool = ours(seen, seen.add(ToolExecution(name="ask"), parent=root, seconds=8))
    foreign(seen, seen.add(agent("clerk"), parent=tool, seconds=7))
    assert len(seen.rebuilt()) == 2


@pytest.mark.parametrize("scope", [NATIVE, "some.sdk"])
def test_a_tool_span_of_another_tracer_inside_one_like_it_is_the_same_call(scope: str) -> None:
    seen = Collected()
    root = seen.add(agent(), seconds=9)
    tool = ToolExecution(name="search", call_id="t1", arguments={"q": "x"}, result="found")
    outer = seen.add(tool, parent=root, seconds=3)
    inner = ToolExecution(name="search", arguments={"q": "x"}, result="found")
    seen.add(inner, parent=outer, scope=scope)
    [trace] = seen.rebuilt()
    assert len(trace["steps"]) == (2 if scope == NATIVE else 4), "one tracer records a call once"


def test_our_span_of_a_tool_inside_a_librarys_keeps_its_place_on_the_timeline() -> None:
    seen = Collected()
    root = ours(seen, seen.add(agent(), seconds=9))
    tool = ToolExecution(name="search", call_id="t1")
    outer = foreign(seen, seen.add(tool, parent=root, seconds=3))
    known = ToolExecution(name="search", call_id="t1", arguments={"q": "x"}, result="found")
    ours(seen, seen.add(known, parent=outer, seconds=1), **{agentool.STEP_INDEX: 0})
    [trace] = seen.rebuilt()
    call, result = trace["steps"]
    assert call["tool_call"]["arguments"] == {"q": "x"}
    assert result["tool_result"]["output"] == "found"
