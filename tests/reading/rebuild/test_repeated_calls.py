"""Repeated reports of a call add up: nothing is lost or made up."""

from __future__ import annotations

from typing import Any

import pytest

from agentool_otel.loading import rebuild
from agentool_otel.model.messages import message, text, tool_call, tool_response
from agentool_otel.model.operations import Inference, McpRequest, ToolExecution
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import agentool
from tests.records import Collected, agent, asks, shape


def notes_of(spans: Collected, outcome: str) -> list[tuple[str, str | None]]:
    [rebuilt] = rebuild(spans.spans)
    return [(note.field, note.rule) for note in rebuilt.fidelity.notes if note.outcome == outcome]


# -------------------------------------------------------------------------------- spans of one call


def test_a_server_span_with_clock_skew_merges_into_its_tool() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    tool = spans.add(ToolExecution(name="t", call_id="c"), parent=root, seconds=4)
    client = spans.add(McpRequest(tool_name="t"), parent=tool, start_ns=root.start_ns)
    server = McpRequest(side="server", tool_name="t", arguments={"n": 1}, result="found")
    spans.add(server, parent=client, start_ns=root.start_ns)
    [trace] = spans.rebuilt()
    assert shape(trace) == ["call c t {'n': 1}", "result c found"]


def test_a_tool_span_around_one_that_knows_the_id_adds_to_it() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    outer = ToolExecution(name="t", arguments={"n": 1}, result="found")
    parent = spans.add(outer, parent=root, seconds=4)
    spans.add(ToolExecution(name="t", call_id="c"), parent=parent, scope="another.sdk")
    [trace] = spans.rebuilt()
    assert shape(trace) == ["call c t {'n': 1}", "result c found"]


def test_a_sibling_request_merges_with_the_span_that_has_the_id() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    parent = spans.add(ToolExecution(name="t"), parent=root, seconds=4)
    spans.add(ToolExecution(name="t", call_id="c"), parent=parent, scope="another.sdk")
    spans.add(McpRequest(tool_name="t", arguments={"n": 1}, result="found"), parent=parent)
    [trace] = spans.rebuilt()
    assert shape(trace) == ["call c t {'n': 1}", "result c found"]


def test_a_request_inside_a_transfer_is_a_call() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    transfer = spans.add(ToolExecution(name="transfer_to_b"), parent=root, seconds=4)
    client = spans.add(McpRequest(tool_name="t", arguments={"n": 1}), parent=transfer)
    spans.add(McpRequest(side="server", tool_name="t", result="found"), parent=client)
    [trace] = spans.rebuilt()
    steps = [(*line.split()[:1], line.split()[-1]) for line in shape(trace)]
    assert steps == [("handoff", "b"), ("call", "1}"), ("result", "found")]
    assert len(notes_of(spans, "duplicate")) == 1


def test_a_transfer_within_another_tracers_is_one_handoff() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    outer = spans.add(ToolExecution(name="transfer_to_b"), parent=root, seconds=4)
    inner = ToolExecution(name="transfer_to_b", call_id="c")
    spans.add(inner, parent=outer, scope="another.sdk")
    assert shape(spans.rebuilt()[0]) == ["handoff b"]
    assert len(notes_of(spans, "duplicate")) == 1


def test_spans_of_a_reused_id_belong_to_the_previous_request() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=99)
    for turn in (1, 2):
        spans.add(asks(("call_0", "t")), parent=root)
        tool = ToolExecution(name="t", call_id="call_0", result=turn)
        one = spans.add(tool, parent=root, seconds=0.5)
        spans.add(tool, parent=root, scope="another.sdk", start_ns=one.start_ns)
    [trace] = spans.rebuilt()
    assert shape(trace) == [
        "call call_0 t {'n': 'call_0'}",
        "result call_0 1",
        "call call_0 t {'n': 'call_0'}",
        "result call_0 2",
    ]


def test_a_deep_chain_of_nested_requests_is_one_call() -> None:
    spans = Collected()
    parent: SpanRecord | None = spans.add(agent(), seconds=9999)
    begun = 1_700_000_000_000_000_000 + 5000 * 10**9
    for n in range(3000):
        parent = spans.add(McpRequest(tool_name="t"), parent=parent, start_ns=begun - n * 10**9)
    spans.add(
        McpRequest(tool_name="t", result="found"), parent=parent, start_ns=begun - 4000 * 10**9
    )
    [trace] = spans.rebuilt()
    assert [line.split()[-1] for line in shape(trace)] == ["None", "found"]


# ------------------------------------------------------------------------------- results in answers


def test_a_provider_tools_result_comes_with_the_answer() -> None:
    call = {"type": "server_tool_call", "id": "s", "name": "t", "server_tool_call": {"n": 1}}
    result = {"type": "server_tool_call_response", "id": "s", "server_tool_call_response": "found"}
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    spans.add(Inference(output=[message("assistant", [call, result])]), parent=root, seconds=3)
    [trace] = spans.rebuilt()
    assert shape(trace) == ["call s t {'n': 1}", "result s found"]
    called, answered = trace["steps"]
    assert called["timestamp"] == answered["timestamp"]
    assert ("timestamp", "end of the model call") in notes_of(spans, "inferred")


@pytest.mark.parametrize(
    ("call", "result", "steps"),
    [
        (tool_call("t", {}, "c"), tool_response("found", "c"), ["call c t {}", "result c found"]),
        (tool_call("t", {}), tool_response("found", None), ["call None t {}", "result None found"]),
        (text("so"), tool_response("found", "c"), ["result c found"]),
        (text("so"), tool_response("found", None), ["result None found"]),
    ],
)
def test_a_result_in_the_output_of_a_run_is_kept(call: Any, result: Any, steps: list[str]) -> None:
    texts = [message("assistant", [call]), message("tool", [result])]
    spans = Collected()
    spans.add(agent(output=texts))
    assert shape(spans.rebuilt()[0]) == steps


@pytest.mark.parametrize("call_id", ["c", None])
def test_a_result_in_the_output_of_a_run_is_that_of_its_span(call_id: str | None) -> None:
    texts = [message("assistant", [tool_call("t", {"n": 1}, call_id)])]
    texts += [message("tool", [tool_response("found", call_id)])]
    spans = Collected()
    root = spans.add(agent(output=texts), seconds=9)
    spans.add(ToolExecution(name="t", call_id="c", arguments={"n": 1}), parent=root)
    [trace] = spans.rebuilt()
    assert shape(trace) == ["call c t {'n': 1}", "result c found"]


def test_an_older_form_of_a_different_call_is_a_call() -> None:
    parts = [tool_call("a", {"n": 1}, ""), tool_call("b", {"n": 2}, "c")]
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    spans.add(Inference(output=[message("assistant", parts)]), parent=root)
    assert shape(spans.rebuilt()[0]) == ["call None a {'n': 1}", "call c b {'n': 2}"]
    assert ("tool_call.id", None) in notes_of(spans, "not_captured")
    assert not [field for field, _ in notes_of(spans, "inferred") if field == "tool_call.id"]


def test_a_place_on_the_timeline_of_thousands_of_digits_is_none() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    tool = spans.add(ToolExecution(name="t", call_id="c", result="found"), parent=root)
    tool.attributes[agentool.STEP_INDEX] = "9" * 5000
    assert shape(spans.rebuilt()[0]) == ["call c t None", "result c found"]


# ---------------------------------------------------------------------- what is not compared at all


def test_a_deeply_nested_tool_notes_that_comparison_was_limited() -> None:
    spans = Collected()
    parent = spans.add(agent(), seconds=99)
    for n in range(10):
        call = ToolExecution(name=f"t{n}", call_id=f"c{n}")
        parent = spans.add(call, parent=parent, seconds=90 - n)
    rule = "of its own: compared with the nearest 8 tools around it"
    assert notes_of(spans, "inferred").count(("tool_call", rule)) == 1


def test_a_limit_on_comparisons_of_one_call_id_is_noted() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=99)
    for n in range(18):
        call = ToolExecution(name="t", call_id="same", arguments={"n": n})
        spans.add(call, parent=root, seconds=50)
    rule = "of its own: compared with the last 16 calls of its id"
    assert notes_of(spans, "inferred").count(("tool_call", rule)) == 1


def test_a_limit_on_comparisons_of_model_calls_is_noted() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=99)
    for n in range(20):
        call, scope = Inference(request_model=f"m{n}"), f"sdk.{n % 2}"
        spans.add(call, parent=root, seconds=60 - n, scope=scope)
    rule = "of its own: compared with the last 16 that went on when it began"
    assert notes_of(spans, "inferred").count(("model call", rule)) == 3


def test_an_ambiguous_call_id_is_noted() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=999)
    history = [message("user", [text("go")])]
    for _ in range(70):
        spans.add(Inference(input=[*history, *history], output=[
            message("assistant", [tool_call("t", {"n": 1})])]), parent=root)  # fmt: skip
    named = message("assistant", [tool_call("t", {"n": 1}, "c")])
    spans.add(Inference(input=[*history, named]), parent=root)
    rule = "id 'c': compared with the first 64 equal calls"
    assert ("tool_call.id", rule) in notes_of(spans, "not_captured")
