"""A tool call is counted once, however many record it: messages, tool spans, MCP clients and
servers.
"""

from __future__ import annotations

from typing import Any

import pytest

from agentool_otel.model.messages import message, text, tool_call, tool_response
from agentool_otel.model.operations import (
    AgentInvocation,
    Inference,
    McpRequest,
    ToolExecution,
)
from agentool_otel.model.spans import SpanEvent
from agentool_otel.semconv import agentool, gen_ai
from tests.records import Collected, agent, asks, shape


def test_duplicate_call_ids_keep_their_own_results() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    for n in (1, 2):
        tool = ToolExecution(name="t", call_id="same", arguments={"n": n}, result=n)
        spans.add(tool, parent=root)
    [trace] = spans.rebuilt()
    assert shape(trace) == [
        "call same t {'n': 1}",
        "result same 1",
        "call same t {'n': 2}",
        "result same 2",
    ]


def test_a_call_recorded_before_its_arguments_arrived_is_executed_once() -> None:
    spans = Collected()
    root = spans.add(AgentInvocation(agent_name="a"))
    reply = message("assistant", [tool_call("write", {})])
    spans.add(Inference(provider="openai", output=[reply]), parent=root)
    spans.add(ToolExecution(name="write", arguments={"text": "2025"}, result="ok"), parent=root)
    [trace] = spans.rebuilt()
    assert [step["type"] for step in trace["steps"]] == ["tool_call", "tool_result"]
    assert trace["steps"][0]["tool_call"]["arguments"] == {"text": "2025"}


def test_a_tool_span_without_id_is_matched_by_its_arguments() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    spans.add(asks(("c1", "t"), ("c2", "t")), parent=root)
    spans.add(ToolExecution(name="t", arguments={"n": "c2"}, result="two"), parent=root)
    spans.add(ToolExecution(name="t", arguments={"n": "c1"}, result="one"), parent=root)
    [trace] = spans.rebuilt()
    assert sorted(shape(trace)) == [
        "call c1 t {'n': 'c1'}",
        "call c2 t {'n': 'c2'}",
        "result c1 one",
        "result c2 two",
    ]


@pytest.mark.parametrize("executed", [0, 1, 2, 3])
def test_an_unexecuted_request_gets_no_earlier_result(executed: int) -> None:
    """Gemini's calls have no ids, and the last request may be one too many."""
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    history: list[Any] = [message("user", [text("q")])]
    for n in range(executed + 1):
        request = message("assistant", [tool_call("t", {"n": n})])
        spans.add(Inference(provider="gemini", input=list(history), output=[request]), parent=root)
        if n < executed:
            spans.add(ToolExecution(name="t", arguments={"n": n}, result=f"r{n}"), parent=root)
        answer = {"type": "tool_call_response", "response": {"result": f"r{n}"}}
        history += [request, message("user", [answer])]
    [trace] = spans.rebuilt()
    kinds = [step["type"] for step in trace["steps"]]
    assert kinds == ["tool_call", "tool_result"] * executed + ["tool_call"]


def test_an_mcp_call_below_a_tool_span_is_the_same_call() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    tool = spans.add(ToolExecution(name="t", call_id="c"), parent=root)
    client = spans.add(
        McpRequest(tool_name="t", arguments={"n": 1}, result={"content": []}), parent=tool
    )
    spans.add(McpRequest(side="server", tool_name="t", arguments={"n": 1}), parent=client)
    [trace] = spans.rebuilt()
    assert shape(trace) == ["call c t {'n': 1}", "result c {'content': []}"]


def test_an_mcp_call_alone_is_a_tool_call() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    spans.add(McpRequest(tool_name="t", arguments={"n": 1}, result={"ok": True}), parent=root)
    assert [line.split()[0] for line in shape(spans.rebuilt()[0])] == ["call", "result"]


def test_the_error_of_an_mcp_server_is_the_tools() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    client = spans.add(McpRequest(tool_name="t"), parent=root)
    failed = McpRequest(side="server", tool_name="t", error_type="tool_error")
    spans.add(failed, parent=client)
    assert shape(spans.rebuilt()[0])[1].endswith(" tool_error")


def result_of(tool: ToolExecution, *below: ToolExecution) -> dict[str, Any]:
    """The result of the one call of a run, without the time that it took."""
    spans = Collected()
    parent = spans.add(agent(), seconds=9)
    for operation in (tool, *below):
        parent = spans.add(operation, parent=parent)
    result: dict[str, Any] = spans.rebuilt()[0]["steps"][1]["tool_result"]
    return {key: value for key, value in result.items() if key not in ("call_id", "duration_ms")}


def test_the_exit_code_of_a_span_is_that_of_the_result() -> None:
    assert result_of(ToolExecution(name="bash", result="x", exit_code=2)) == {
        "output": "x",
        "exit_code": 2,
    }
    inner = ToolExecution(name="", exit_code=0)
    assert result_of(ToolExecution(name="bash"), inner) == {"exit_code": 0}


@pytest.mark.parametrize(
    ("kind", "words", "error"),
    [
        ("permission_denied", None, "permission_denied"),
        ("permission_denied", "not today", "permission_denied: not today"),
        ("permission_denied", "permission_denied: no", "permission_denied: no"),
        ("policy_blocked", None, "permission_denied: policy_blocked"),
        ("hook_blocked", "a rule", "permission_denied: a rule"),
        ("tool_error", "denied", "denied"),
    ],
)
def test_the_error_of_a_denied_call_says_so_first(kind: str, words: str | None, error: str) -> None:
    assert result_of(ToolExecution(name="t", error_type=kind, tool_error=words)) == {"error": error}


def test_a_failed_tools_error_is_its_result() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    failed = ToolExecution(name="t", call_id="c", error_type="ValueError")
    spans.add(failed, parent=root, status_message="no luck")
    assert shape(spans.rebuilt()[0])[1] == "result c ValueError: no luck"


@pytest.mark.parametrize(
    ("kind", "words", "error"),
    [
        ("KeyError", "'city'", "KeyError: 'city'"),
        ("shop.errors.SoldOut", "no tea", "shop.errors.SoldOut: no tea"),
        ("shop.errors.SoldOut", "SoldOut: no tea", "SoldOut: no tea"),
        ("KeyError", "KeyError('city')", "KeyError('city')"),
        ("KeyError", "", "KeyError"),
        ("_OTHER", "no luck", "no luck"),
        ("tool_error", "no luck", "no luck"),
        ("429", "no luck", "no luck"),
        ("RESOURCE_EXHAUSTED", "no luck", "no luck"),
        ("timeout", None, "timeout"),
    ],
)
@pytest.mark.parametrize("member", ["status_message", "tool_error"])
def test_the_error_of_a_tool_has_the_class_of_its_exception_once(
    kind: str, words: str | None, error: str, member: str
) -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    of_tool = words if member == "tool_error" else None
    failed = ToolExecution(name="t", call_id="c", error_type=kind, tool_error=of_tool)
    spans.add(failed, parent=root, status_message=None if of_tool else words)
    assert shape(spans.rebuilt()[0])[1] == f"result c {error}"


def test_a_span_without_a_result_takes_it_from_the_messages() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    spans.add(ToolExecution(name="t", call_id="c", error_type="ValueError"), parent=root)
    spans.add(ToolExecution(name="t", call_id="d", result="mine"), parent=root)
    messages = [message("tool", [tool_response("failed", "c"), tool_response("theirs", "d")])]
    spans.add(Inference(input=messages), parent=root)
    [trace] = spans.rebuilt()
    assert [step["tool_result"]["output"] for step in trace["steps"] if "tool_result" in step] == [
        "failed",
        "mine",
    ]


def test_calls_that_start_together_keep_the_order_of_their_requests() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    calls = [tool_call("second", {}, "c2"), tool_call("first", {}, "c1")]
    spans.add(Inference(output=[message("assistant", calls)]), parent=root)
    one = spans.add(ToolExecution(name="first", call_id="c1"), parent=root)
    second = spans.add(ToolExecution(name="second", call_id="c2"), parent=root)
    second.start_ns, second.end_ns = one.start_ns, one.end_ns
    [trace] = spans.rebuilt()
    names = [step["tool_call"]["name"] for step in trace["steps"] if step["type"] == "tool_call"]
    assert names == ["second", "first"]


def test_a_deep_mcp_server_span_belongs_to_the_call() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    tool = spans.add(ToolExecution(name="t", call_id="c"), parent=root, seconds=8)
    client = spans.add(McpRequest(tool_name="t", arguments={"a": 1}), parent=tool, seconds=7)
    spans.add(McpRequest(side="server", tool_name="t", result=2, error_type="e"), parent=client)
    [trace] = spans.rebuilt()
    assert shape(trace) == ["call c t {'a': 1}", "result c e"]
    assert trace["steps"][1]["tool_result"]["output"] == 2


def test_a_call_known_only_from_an_mcp_client_has_its_duration() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    spans.add(McpRequest(tool_name="t"), parent=root, seconds=2)
    [trace] = spans.rebuilt()
    assert trace["steps"][1]["tool_result"]["duration_ms"] == 2000


def test_a_tools_spans_of_model_and_executor_are_one_call() -> None:
    """AgentOps writes a span for each tool call of an answer, and the tool has no call id."""
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    request = spans.add(Inference(provider="p"), parent=root)
    spans.add(ToolExecution(name="look", call_id="c1", arguments={"n": 1}), parent=request)
    spans.add(ToolExecution(name="look", arguments={"n": 1}, result="found"), parent=root)
    [trace] = spans.rebuilt()
    assert shape(trace) == ["call c1 look {'n': 1}", "result c1 found"]


def test_two_tool_spans_with_different_arguments_are_two_calls() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    request = spans.add(Inference(provider="p"), parent=root)
    spans.add(ToolExecution(name="look", call_id="c1", arguments={"n": 1}), parent=request)
    spans.add(ToolExecution(name="look", arguments={"n": 2}, result="found"), parent=root)
    [trace] = spans.rebuilt()
    assert len([step for step in shape(trace) if step.startswith("call")]) == 2


def test_our_call_inside_another_tracers_is_one_call() -> None:
    spans = Collected()
    root = spans.add(
        agent(),
        seconds=9,
        events=[
            SpanEvent(
                agentool.STEP_EVENT,
                n,
                {agentool.STEP_INDEX: n, agentool.STEP_TYPE: kind, gen_ai.TOOL_NAME: "look"},
            )
            for n, kind in enumerate(("tool_call", "tool_result"))
        ],
    )
    tool = ToolExecution(name="look", call_id="c1", arguments={"n": 1}, result="found")
    theirs = spans.add(tool, parent=root)
    places = {agentool.STEP_INDEX: 0, agentool.STEP_RESULT_INDEX: 1}
    spans.add(ToolExecution(name="look", call_id="c1", extra=places), parent=theirs)
    [trace] = spans.rebuilt()
    assert shape(trace) == ["call c1 look {'n': 1}", "result c1 found"]


def test_results_of_unrecorded_calls_are_kept_once() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    question = message("user", [text("go")])
    first = message("tool", [tool_response("one", "c1")])
    second = message("tool", [tool_response("two", "c2")])
    for history in ([question], [question, first], [question, first, second]):
        spans.add(Inference(provider="p", input=history), parent=root)
    [trace] = spans.rebuilt()
    assert shape(trace) == ["result c1 one", "result c2 two"]


def test_a_requested_call_without_an_id_takes_that_of_its_span() -> None:
    spans = Collected()
    root = spans.add(agent(), seconds=9)
    reply = message("assistant", [tool_call("a", {"n": 1}, "a_0"), tool_call("a", {"n": 2}, "a_1")])
    spans.add(Inference(provider="p", output=[reply]), parent=root)
    for n in (1, 2):
        call = ToolExecution(name="a", call_id=f"adk-{n}", arguments={"n": n}, result=n)
        spans.add(call, parent=root)
    assert shape(spans.rebuilt()[0]) == [
        "call adk-1 a {'n': 1}",
        "result adk-1 1",
        "call adk-2 a {'n': 2}",
        "result adk-2 2",
    ]
