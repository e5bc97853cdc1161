"""Spans under an agent: steps, their order, and every fact once."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.loading import rebuild
from agentool_otel.model.messages import message, reasoning, text, tool_call, tool_response
from agentool_otel.model.operations import (
    AgentInvocation,
    EvaluationResult,
    Inference,
    McpRequest,
    MemoryOperation,
    Retrieval,
    ToolExecution,
    Unclassified,
    Usage,
    WorkflowInvocation,
)
from agentool_otel.model.spans import SpanRecord
from agentool_otel.model.times import to_ns
from agentool_otel.semconv import agentool
from tests.laws import many
from tests.reading.rebuild.trees import span_trees
from tests.records import Collected, agent, asks, shape
from tests.strategies import exact


def a_run() -> Collected:
    """An agent: thought, two parallel tools, memory, a retrieval, a sub-agent, an answer."""
    spans = Collected()
    root = spans.add(
        agent(
            input=[message("user", [text("go")])],
            output=[message("assistant", [text("gone")])],
            conversation_id="s",
        ),
        seconds=20,
    )
    first = message("assistant", [reasoning("hm"), tool_call("a", {"n": 1}, "c1"),
                                  tool_call("b", {"n": 2}, "c2")])  # fmt: skip
    usage = Usage(input_tokens=3, output_tokens=4)
    spans.add(Inference(provider="p", output=[first], usage=usage), parent=root)
    spans.add(ToolExecution(name="a", call_id="c1", arguments={"n": 1}, result=1), parent=root)
    spans.add(ToolExecution(name="b", call_id="c2", arguments={"n": 2}, result=None), parent=root)
    spans.add(MemoryOperation(operation="upsert_memory", record_id="k", content="v"), parent=root)
    spans.add(Retrieval(query="q", documents=[{"id": "d"}]), parent=root)
    sub = spans.add(agent("helper", input=[message("user", [text("help")])]), parent=root)
    spans.add(Inference(provider="p", usage=usage), parent=sub)
    history = [first, message("tool", [tool_response(1, "c1"), tool_response(None, "c2")])]
    last = message("assistant", [text("gone")])
    spans.add(Inference(provider="p", input=history, output=[last], usage=usage), parent=root)
    return spans


def test_a_run_has_every_step_once_and_in_order() -> None:
    trace, sub = a_run().rebuilt()
    assert shape(trace) == [
        "reasoning hm",
        "call c1 a {'n': 1}",
        "result c1 1",
        "call c2 b {'n': 2}",
        "result c2 None",
        "memory_write v",
        "read q [{'id': 'd'}]",
        "handoff helper",
    ]
    assert (trace["agent_id"], trace["session_id"]) == ("clerk", "s")
    assert (trace["input"], trace["output"]) == ("go", "gone")
    assert trace["metrics"]["total_tokens"] == 14
    assert sub["agent_id"] == "helper"


def test_a_result_that_is_null_is_there() -> None:
    trace, _ = a_run().rebuilt()
    results = [step["tool_result"] for step in trace["steps"] if step["type"] == "tool_result"]
    assert results[1]["output"] is None


@settings(max_examples=60, deadline=None)
@given(st.randoms(use_true_random=False), st.integers(0, 5))
def test_the_result_does_not_depend_on_order_or_repetition(
    chance: random.Random, copies: int
) -> None:
    observation = a_run()
    wanted = observation.rebuilt()
    mixed = [*observation.spans, *chance.choices(observation.spans, k=copies)]
    chance.shuffle(mixed)
    dicts = [rebuilt.trace.to_dict() for rebuilt in rebuild(mixed)]
    assert exact(dicts) == exact(wanted)


def test_equal_times_keep_causes_before_effects() -> None:
    observation = a_run()
    for span in observation.spans:
        span.start_ns = span.end_ns = 1_700_000_000_000_000_000
    trace = next(t for t in observation.rebuilt() if t["agent_id"] == "clerk")
    lines = shape(trace)
    assert lines.index("call c1 a {'n': 1}") < lines.index("result c1 1")
    assert lines.index("reasoning hm") < lines.index("call c1 a {'n': 1}")


def test_missing_times_still_give_every_step() -> None:
    observation = a_run()
    wanted = sorted(shape(observation.rebuilt()[0]))
    for span in observation.spans:
        span.start_ns = span.end_ns = None
    ts = {t["agent_id"]: t for t in observation.rebuilt()}
    assert sorted(shape(ts["clerk"])) == wanted


def test_mcp_requests_other_than_tool_calls_are_not_a_run() -> None:
    spans = Collected()
    spans.add(McpRequest(method="tools/list"))
    assert spans.rebuilt() == []


def test_a_transfer_matches_a_call_that_spells_its_target_differently() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    requests = [message("assistant", [tool_call("transfer_to_Refund_Agent", {}, "c")])]
    spans.add(Inference(output=requests), parent=root)
    done = ToolExecution(name="transfer_to_refund_agent", transfer_target="Refund Agent")
    spans.add(done, parent=root)
    [trace] = spans.rebuilt()
    assert shape(trace) == ["handoff Refund Agent"]


def test_a_transfer_tool_and_the_agent_below_it_are_one_handoff() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    transfer = spans.add(ToolExecution(name="transfer_to_writer", call_id="c"), parent=root)
    spans.add(agent("writer"), parent=transfer)
    trace, sub = spans.rebuilt()
    assert shape(trace) == ["handoff writer"]
    assert trace["metadata"]["sub_traces"] == [sub["trace_id"]]


def test_the_output_is_that_of_the_nested_run_that_ends_last() -> None:
    spans = Collected()
    root = spans.add(WorkflowInvocation(workflow_name="w"), seconds=9)
    for name, seconds in (("coordinator", 8), ("helper", 2)):
        texts = [message("assistant", [text(f"the {name} says")])]
        spans.add(AgentInvocation(agent_name=name, output=texts), parent=root, seconds=seconds)
    assert spans.rebuilt()[0]["output"] == "the coordinator says"


def workflow(name: str, output: str, error_type: str | None = None) -> WorkflowInvocation:
    texts = [message("assistant", [text(output)])]
    return WorkflowInvocation(workflow_name=name, output=texts, error_type=error_type)


def test_a_workflow_around_another_one_keeps_its_name_and_its_output() -> None:
    spans = Collected()
    root = spans.add(workflow("outer", "outer inner"), seconds=9)
    spans.add(workflow("inner", "inner"), parent=root, seconds=5)
    outer, inner = spans.rebuilt()
    assert (outer["agent_id"], outer["output"]) == ("outer", "outer inner")
    assert (inner["agent_id"], inner["output"]) == ("inner", "inner")


@pytest.mark.parametrize("failed", ["outer", "inner"])
def test_a_workflow_that_ends_otherwise_than_its_agent_is_a_run_of_its_own(failed: str) -> None:
    errors = {failed: "ValueError"}
    spans = Collected()
    root = spans.add(workflow("outer", "caught", errors.get("outer")), seconds=9)
    agent = AgentInvocation(agent_name="inner", error_type=errors.get("inner"))
    spans.add(agent, parent=root, seconds=5)
    statuses = {trace["agent_id"]: trace["status"] for trace in spans.rebuilt()}
    assert statuses == {"outer": "success", "inner": "success"} | {failed: "error"}


@pytest.mark.parametrize(("process", "runs"), [("1", 2), (None, 1)])
def test_a_run_that_follows_one_of_its_name_is_no_part_of_it(
    process: str | None, runs: int
) -> None:
    """Between processes clocks differ: there the later one is what the first one wraps."""
    outer = SpanRecord("1" * 32, "a" * 16, None, "bot", start_ns=10, end_ns=20)
    inner = SpanRecord("1" * 32, "b" * 16, "a" * 16, "bot", start_ns=30, end_ns=40)
    for span in (outer, inner):
        span.attributes |= {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "bot"}
        span.resource |= {} if process is None else {"service.instance.id": process}
    assert len([*rebuild([outer, inner])]) == runs


def test_spans_with_a_missing_parent_join_the_run_at_the_root() -> None:
    spans = Collected()
    root = spans.add(AgentInvocation(agent_name="a"))
    spans.add(ToolExecution(name="t", call_id="c1", arguments={}, result=1), parent=root)
    spans.spans[-1].parent_id = "00000000000000aa"
    [result] = rebuild(spans.spans)
    assert shape(result.document) == ["call c1 t {}", "result c1 1"]
    assert result.document["metadata"] == {"incomplete": True}
    assert any(
        (note.outcome, note.field) == ("inferred", "parent") for note in result.fidelity.notes
    )


def test_a_run_without_its_root_is_still_one_run() -> None:
    observation = a_run()
    wanted = [line for line in shape(observation.rebuilt()[0]) if not line.startswith("handoff")]
    del observation.spans[0]
    *_, trace = observation.rebuilt()
    assert shape(trace) == wanted


def test_an_unfinished_root_is_in_progress_and_marked() -> None:
    spans = Collected()
    spans.add(agent(), end_ns=None)
    [trace] = spans.rebuilt()
    assert trace["status"] == "in_progress"
    assert trace["metadata"] == {"incomplete": True}


@settings(max_examples=many(200), deadline=None)
@given(span_trees("gen_ai"), st.floats(0, 1))
def test_a_recovered_run_ends_after_its_last_step(spans: list[SpanRecord], share: float) -> None:
    for span in spans:
        if span.attributes["gen_ai.operation.name"] in ("invoke_agent", "invoke_workflow"):
            assert span.start_ns is not None
            assert span.end_ns is not None
            span.end_ns = span.start_ns + int(share * (span.end_ns - span.start_ns))
            span.attributes[agentool.INCOMPLETE] = True
    for rebuilt in rebuild(spans):
        times = [to_ns(step["timestamp"]) for step in rebuilt.document["steps"]]
        assert max(filter(None, times), default=0) <= (to_ns(rebuilt.document["finished_at"]) or 0)


def test_without_content_names_ids_and_order_remain() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    spans.add(ToolExecution(name="t", call_id="c"), parent=root)
    [result] = rebuild(spans.spans)
    assert shape(result.trace.to_dict()) == ["call c t None", "result c None"]
    outcomes = {(note.outcome, note.field) for note in result.fidelity.notes}
    assert ("not_captured", "tool_call.arguments") in outcomes
    assert ("not_captured", "tool_result.output") in outcomes


def test_the_report_names_unread_attributes() -> None:
    spans = Collected()
    spans.add(agent(extra={"app.mood": "good"}))
    [result] = rebuild(spans.spans)
    assert result.fidelity.unread == {"app.mood": 1}


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("transfer_to_agent", "agent_name"),
        ("handoff_to_agent", "agent_name"),
        ("handoff", "to_agent"),
    ],
)
def test_a_shared_transfer_tool_has_its_target_in_the_arguments(name: str, argument: str) -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    spans.add(ToolExecution(name=name, arguments={argument: "writer"}), parent=root)
    [trace] = spans.rebuilt()
    assert shape(trace) == ["handoff writer"]


def test_the_reply_to_a_transfer_is_not_a_tool_result() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    requests = [message("assistant", [tool_call("handoff", {"to_agent": "writer"}, "c")])]
    spans.add(Inference(output=requests), parent=root)
    spans.add(ToolExecution(name="handoff", call_id="c"), parent=root)
    messages = [message("tool", [tool_response("Go on.", "c")])]
    spans.add(Inference(input=[*requests, *messages]), parent=root)
    [trace] = spans.rebuilt()
    assert shape(trace) == ["handoff writer"]


def test_a_transfer_tool_may_have_a_plugin_prefix() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    spans.add(ToolExecution(name="Handoff-transfer_to_writer", arguments={}), parent=root)
    [trace] = spans.rebuilt()
    assert shape(trace) == ["handoff writer"]


def test_a_transfer_inside_the_span_of_another_is_the_same_one() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    outer = spans.add(ToolExecution(name="transfer_to_writer"), parent=root)
    spans.add(ToolExecution(name="transfer_to_writer", transfer_target="writer"), parent=outer)
    [trace] = spans.rebuilt()
    assert shape(trace) == ["handoff writer"]


def test_a_run_known_only_from_its_own_span_has_its_calls_and_results() -> None:
    spans = Collected()
    texts = [
        message("assistant", [tool_call("t", {}, "c")]),
        message("user", [tool_response(1, "c")]),
        message("assistant", [text("done")]),
    ]
    spans.add(agent(output=texts))
    [trace] = spans.rebuilt()
    assert shape(trace) == ["call c t {}", "result c 1"]
    assert trace["output"] == "done"


def test_an_encrypted_thought_is_kept_as_it_is() -> None:
    spans = Collected()
    sealed = {"type": "reasoning", "content": "", "encrypted_content": "x7"}
    spans.add(agent(), seconds=9)
    spans.add(Inference(output=[message("assistant", [sealed])]), parent=spans.spans[0])
    [result] = rebuild(spans.spans)
    [step] = result.trace.to_dict()["steps"]
    assert (step["content"], step["encrypted_content"]) == ("", "x7")
    assert ("redacted", "content") in {(n.outcome, n.field) for n in result.fidelity.notes}


def test_a_thinking_part_is_a_thought() -> None:
    spans = Collected()
    part = {"type": "thinking", "content": "hm"}
    spans.add(Inference(output=[message("assistant", [part])]))
    [trace] = spans.rebuilt()
    assert [step["content"] for step in trace["steps"]] == ["hm"]


def test_a_judgement_is_not_a_run() -> None:
    spans = Collected()
    spans.add(EvaluationResult(name="tone"))
    assert spans.rebuilt() == []


def test_the_cost_of_the_run_counts_if_no_model_call_has_one() -> None:
    spans = Collected()
    root = spans.add(agent(extra={"agentool.cost.usd": 0.5}), seconds=9)
    spans.add(Inference(), parent=root)
    [trace] = spans.rebuilt()
    assert trace["metrics"]["total_cost_usd"] == 0.5


def test_a_span_around_the_run_names_its_session() -> None:
    spans = Collected()
    request = spans.add(Unclassified(extra={"session.id": "s"}), seconds=9)
    spans.add(agent(), parent=request)
    [trace] = spans.rebuilt()
    assert trace["session_id"] == "s"


def test_a_handoff_spelled_differently_by_the_model_is_one_handoff() -> None:
    spans = Collected()
    root = spans.add(agent("triage"), seconds=9)
    spans.add(asks(("c1", "transfer_to_refund_agent")), parent=root)
    span = ToolExecution(name="transfer_to_Refund Agent", transfer_target="Refund Agent")
    spans.add(span, parent=root)
    [trace] = spans.rebuilt()
    assert shape(trace) == ["handoff Refund Agent"]


def test_a_call_in_the_history_of_another_agent_is_not_its_own() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    reply = message("assistant", [tool_call("transfer_to_clerk", {}, "c1")])
    history = [reply, message("tool", [tool_response("transferred", "c1")])]
    texts = [message("assistant", [text("Here I am.")])]
    spans.add(Inference(provider="p", input=history, output=texts), parent=root)
    [trace] = spans.rebuilt()
    assert shape(trace) == []


def test_the_sdks_span_beside_a_streamed_call_is_the_same_call() -> None:
    """LangChain knows neither the prompt's tokens of a stream nor the full name of the model."""
    texts = [message("assistant", [text("yes")])]
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    entries, usage = Usage(input_tokens=0, output_tokens=5), Usage(input_tokens=10, output_tokens=5)
    streamed = Inference(
        provider="p", request_model="m", response_model="m", output=texts, usage=entries
    )
    inference = Inference(provider="p", request_model="m", response_model="m-2026", usage=usage)
    spans.add(streamed, parent=root, seconds=4)
    spans.add(inference, parent=root, scope="other.sdk")
    [trace] = spans.rebuilt()
    assert (trace["metrics"]["total_tokens"], trace["output"]) == (15, "yes")


@pytest.mark.parametrize(("begins", "output"), [(2, "inner"), (6, None)])
def test_a_run_that_begins_after_its_parent_ended_gives_no_output(
    begins: int, output: str | None
) -> None:
    spans = Collected()
    root = spans.add(agent("outer", input=[message("user", [text("go")])]), seconds=5)
    answer = [message("assistant", [text("inner")])]
    inner = spans.add(agent("inner", output=answer), parent=root, seconds=3)
    inner.start_ns = (root.start_ns or 0) + begins * 1_000_000_000
    inner.end_ns = inner.start_ns + 1
    outputs = {
        item.trace.agent_id: item.trace.to_dict().get("output") for item in rebuild(spans.spans)
    }
    assert outputs == {"outer": output, "inner": "inner"}
