"""`run`: steps reported by hand."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from agentool_otel.content.policy import Policy
from agentool_otel.ground.json_codec import loads
from agentool_otel.loading import rebuild
from agentool_otel.tracing.capture import agent, run
from agentool_otel.tracing.spans.settings import settings
from tests.records import records


def rebuilt(spans: Any) -> dict[str, Any]:
    [result] = rebuild(records(spans.finished()))
    return result.trace.to_dict()


def essence(trace: dict[str, Any]) -> list[dict[str, Any]]:
    """The steps without ids and times."""
    keep = ("type", "content", "tool_call", "tool_result", "to_agent", "message", "query",
            "results", "key", "context_tokens")  # fmt: skip
    return [{key: step[key] for key in keep if key in step} for step in trace["steps"]]


def test_all_six_step_types_come_back_in_order(spans: Any) -> None:
    with run("researcher", input="what?", session_id="s1") as r:
        r.reasoning("I should look", context_tokens=12)
        call = r.tool_call("search", {"q": "x"}, id="call_1")
        r.tool_result(call, ["found"], duration_ms=5, cost_tokens=0)
        r.memory_read("earlier", ["nothing"])
        r.memory_write("found", key="x")
        r.handoff("writer", "write it up")
        r.output = "done"
    trace = rebuilt(spans)
    assert essence(trace) == [
        {"type": "reasoning", "content": "I should look", "context_tokens": 12},
        {
            "type": "tool_call",
            "tool_call": {"id": "call_1", "name": "search", "arguments": {"q": "x"}},
        },
        {
            "type": "tool_result",
            "tool_result": {
                "call_id": "call_1", "output": ["found"], "duration_ms": 5, "cost_tokens": 0,
            },
        },
        {"type": "memory_read", "query": "earlier", "results": ["nothing"]},
        {"type": "memory_write", "content": "found", "key": "x"},
        {"type": "handoff", "to_agent": "writer", "message": "write it up"},
    ]  # fmt: skip
    assert (trace["agent_id"], trace["session_id"]) == ("researcher", "s1")
    assert (trace["input"], trace["output"], trace["status"]) == ("what?", "done", "success")


def test_a_call_without_id_gets_one_that_its_result_shares(spans: Any) -> None:
    with run("a") as r:
        r.tool_result(r.tool_call("t"), 1)
    call, result = rebuilt(spans)["steps"]
    assert call["tool_call"]["id"] == result["tool_result"]["call_id"]


def test_a_call_without_a_result_and_a_result_without_a_call_are_kept(spans: Any) -> None:
    with run("a") as r:
        r.tool_call("t", {"n": 1}, id="open")
        r.tool_result("orphan", 2)
    trace = rebuilt(spans)
    assert [step["type"] for step in trace["steps"]] == ["tool_call", "tool_result"]
    assert trace["steps"][1]["tool_result"]["call_id"] == "orphan"


def test_a_tools_error_is_in_its_result(spans: Any) -> None:
    with run("a") as r:
        r.tool_result(r.tool_call("t", id="c"), error="no such page")
    assert rebuilt(spans)["steps"][1]["tool_result"]["error"] == "no such page"


def test_a_failed_tool_has_only_the_output_it_reported(spans: Any) -> None:
    with run("a") as r:
        r.tool_result(r.tool_call("t"), error="no such page")
        r.tool_result(r.tool_call("t"), {"part": 1}, error="cut off")
    first, second = (span.attributes for span in spans.finished()[:2])
    assert "gen_ai.tool.call.result" not in first
    assert second["gen_ai.tool.call.result"] == '{"part":1}'


def test_an_error_that_was_reported_is_an_event_too(spans: Any) -> None:
    with run("a") as r:
        r.tool_result(r.tool_call("t"), error="password=hunter22hunter")
    tool_span, run_span = spans.finished()
    (event,) = tool_span.events
    assert event.name == "exception"
    assert "hunter22" not in event.attributes["exception.message"]
    assert [event.name for event in run_span.events if event.name == "exception"] == []


def test_without_content_a_reported_error_has_no_message(spans: Any) -> None:
    settings.configure(policy=Policy(capture=False))
    with run("a") as r:
        r.tool_result(r.tool_call("t"), error="no such page")
    tool_span, _ = spans.finished()
    assert tool_span.attributes["error.type"] == "tool_error"
    assert (tool_span.status.description, list(tool_span.events)) == (None, [])


def test_an_exception_makes_the_run_an_error_and_passes(spans: Any) -> None:
    def fails() -> None:
        with run("a") as r:
            r.reasoning("hm")
            raise KeyError("x")

    with pytest.raises(KeyError):
        fails()
    trace = rebuilt(spans)
    assert trace["status"] == "error"
    assert [step["type"] for step in trace["steps"]] == ["reasoning"]


@pytest.mark.parametrize("status", [None, "timeout"])
def test_an_output_has_its_finish_reason(spans: Any, status: str | None) -> None:
    """Readers that validate by the conventions' schema drop all output otherwise."""

    @agent
    def clerk(question: str) -> str:
        return "Zurich"

    with run("a") as r:
        r.output, r.status = clerk("where?"), status
    inner, outer = (loads(span.attributes["gen_ai.output.messages"]) for span in spans.finished())
    assert [item["finish_reason"] for item in inner] == ["stop"]
    assert [item["finish_reason"] for item in outer] == ["error" if status else "stop"]


def test_a_status_set_by_hand_is_kept(spans: Any) -> None:
    with run("a") as r:
        r.status = "timeout"
    assert spans.attributes()["error.type"] == "timeout"
    assert rebuilt(spans)["status"] == "timeout"


@pytest.mark.parametrize("value", [0, False, "", {}, [], {"answer": [1, None]}])
def test_input_and_output_of_any_kind_come_back(spans: Any, value: Any) -> None:
    with run("a", input=value) as r:
        r.output = value
    trace = rebuilt(spans)
    assert (trace["input"], trace["output"]) == (value, value)


def test_metadata_comes_back(spans: Any) -> None:
    with run("a") as r:
        r.metadata["tags"] = ["x"]
    assert rebuilt(spans)["metadata"] == {"tags": ["x"]}


def test_a_run_works_in_async_code(spans: Any) -> None:
    async def main() -> None:
        async with run("a") as r:
            await asyncio.sleep(0)
            r.reasoning("hm")

    asyncio.run(main())
    assert spans.tree() == "invoke_agent a"


def test_a_run_of_ten_thousand_steps_comes_back_complete(spans: Any) -> None:
    with run("long") as r:
        for n in range(10_000):
            r.reasoning(f"thought {n}")
    steps = rebuilt(spans)["steps"]
    assert [step["content"] for step in steps] == [f"thought {n}" for n in range(10_000)]


def test_a_nested_run_is_a_handoff_and_a_trace_of_its_own(spans: Any) -> None:
    with run("outer") as outer:
        outer.reasoning("let another do it")
        with run("inner", input="do it") as inner:
            inner.reasoning("doing")
            inner.output = "done"
        outer.output = "all done"
    first, second = (result.trace.to_dict() for result in rebuild(records(spans.finished())))
    assert essence(first) == [
        {"type": "reasoning", "content": "let another do it"},
        {"type": "handoff", "to_agent": "inner", "message": "do it"},
    ]
    assert first["metadata"]["sub_traces"] == [second["trace_id"]]
    assert second["metadata"]["parent_trace_id"] == first["trace_id"]
    assert [step["content"] for step in second["steps"]] == ["doing"]


def test_a_handoff_followed_by_the_other_agents_run_is_one_step(spans: Any) -> None:
    with run("outer") as outer:
        outer.handoff("inner", "go")
        with run("inner"):
            pass
    first, second = (result.trace.to_dict() for result in rebuild(records(spans.finished())))
    assert [step["type"] for step in first["steps"]] == ["handoff"]
    assert first["metadata"]["sub_traces"] == [second["trace_id"]]


def test_credentials_in_an_error_or_in_metadata_are_masked(spans: Any) -> None:
    secret = "sk-proj-abcdefghijklmnopqrstuvwx"
    with run("a") as r:
        r.metadata["api_key"] = "hunter2"
        r.tool_result(r.tool_call("t"), error=f"rejected {secret}")
    text = "".join(f"{span.attributes} {span.status.description}" for span in spans.finished())
    assert secret not in text
    assert "hunter2" not in text


def test_an_input_that_is_set_inside_the_block_counts(spans: Any) -> None:
    with run("r") as result:
        result.input = "What is new?"
    assert spans.json("gen_ai.input.messages")[0]["parts"][0]["content"] == "What is new?"


def test_without_content_memory_records_are_counted_but_not_described(spans: Any) -> None:
    spans.without_content()
    with run("a") as r:
        r.memory_read("q", [1, 2])
        r.memory_write("v", key="k")
        r.tool_result(r.tool_call("t"), [1])
    read, written, tool, _ = spans.finished()
    assert read.attributes["gen_ai.memory.record.count"] == 2
    assert written.attributes["gen_ai.memory.record.count"] == 1
    assert written.attributes["gen_ai.memory.record.id"] == "k"
    for span in (read, written, tool):
        assert not any("wrapped" in name or "records" in name for name in span.attributes)
