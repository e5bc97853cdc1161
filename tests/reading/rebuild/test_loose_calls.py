"""Model calls of a bare provider SDK, each a trace of its own, become runs."""

from __future__ import annotations

from typing import Any

from agentool_otel.model.messages import message, reasoning, text, tool_call, tool_response
from agentool_otel.model.operations import Inference, ToolExecution, Unclassified, Usage
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import agentool, gen_ai
from tests.records import Collected, shape

ASKED = message("user", [text("weather in Paris?")])
WANTS = message("assistant", [reasoning("look it up"), tool_call("weather", {"c": "Paris"}, "c1")])
TOLD = message("tool", [tool_response("sunny", "c1")])
SAID = message("assistant", [text("It is sunny.")])


def chat(history: list[Any], answer: Any, **fields: Any) -> Inference:
    usage = Usage(input_tokens=10, output_tokens=5)
    return Inference(provider="openai", input=history, output=[answer], usage=usage, **fields)


def test_a_hand_written_tool_loop_is_one_run() -> None:
    spans = Collected()
    spans.add(chat([ASKED], WANTS))
    spans.add(chat([ASKED, WANTS, TOLD], SAID))
    [trace] = spans.rebuilt()
    assert shape(trace) == [
        "reasoning look it up",
        "call c1 weather {'c': 'Paris'}",
        "result c1 sunny",
    ]
    assert (trace["input"], trace["output"]) == ("weather in Paris?", "It is sunny.")
    assert trace["metrics"]["total_tokens"] == 30
    assert trace["trace_id"] == f"{1:032x}"


def test_text_before_calls_that_only_spans_record_is_a_thought() -> None:
    spans = Collected()
    spans.add(chat([ASKED], message("assistant", [text("I look.")], "tool_call")))
    [trace] = spans.rebuilt()
    assert shape(trace) == ["reasoning I look."]


def test_a_result_flagged_as_an_error_in_the_history_is_an_error() -> None:
    spans = Collected()
    spans.add(chat([ASKED], WANTS))
    failed = message("user", [{**tool_response("no station", "c1"), "is_error": True}])
    spans.add(chat([ASKED, WANTS, failed], SAID))
    [trace] = spans.rebuilt()
    (result,) = (step["tool_result"] for step in trace["steps"] if step["type"] == "tool_result")
    assert (result["output"], result["error"]) == ("no station", "no station")


def test_a_tool_span_beside_the_calls_is_the_same_call() -> None:
    spans = Collected()
    spans.add(chat([ASKED], WANTS))
    spans.add(ToolExecution(name="weather", call_id="c1", arguments={"c": "Paris"}, result="sunny"))
    spans.add(chat([ASKED, WANTS, TOLD], SAID))
    [trace] = spans.rebuilt()
    assert shape(trace)[1:] == ["call c1 weather {'c': 'Paris'}", "result c1 sunny"]


def _uncaught(spans: Collected, call: SpanRecord, kind: str) -> SpanRecord:
    span = spans.add(
        Unclassified(error_type=kind), parent=call, seconds=0, name="uncaught exception"
    )
    span.attributes = {agentool.UNCAUGHT: True, "error.type": kind}
    return span


def test_the_exception_that_ended_the_program_fails_the_whole_loop() -> None:
    spans = Collected()
    spans.add(chat([ASKED], WANTS))
    last = spans.add(chat([ASKED, WANTS, TOLD], SAID))
    spans.add(chat([message("user", [text("and Rome?")])], SAID))
    end = _uncaught(spans, last, "PermissionError")
    failed, second = spans.rebuilt()
    assert (failed["status"], second["status"]) == ("error", "success")
    assert failed["metadata"]["error"] == {"type": "PermissionError", "span_id": end.span_id}
    assert len(failed["steps"]) == 3
    assert failed["output"] == "It is sunny."


def test_a_timeout_that_ended_the_program_is_a_timeout() -> None:
    spans = Collected()
    _uncaught(spans, spans.add(chat([ASKED], SAID)), "TimeoutError")
    assert [item["status"] for item in spans.rebuilt()] == ["timeout"]


def test_the_exception_that_ended_the_program_is_no_run_of_its_own() -> None:
    spans = Collected()
    _uncaught(spans, spans.add(chat([ASKED], SAID)), "KeyError")
    del spans.spans[0]
    assert spans.rebuilt() == []


def test_a_call_that_continues_a_response_belongs_to_its_run() -> None:
    spans = Collected()
    spans.add(chat([ASKED], WANTS, response_id="resp_1"))
    spans.add(chat([TOLD], SAID, previous_response_id="resp_1"))
    [trace] = spans.rebuilt()
    assert shape(trace)[1:] == ["call c1 weather {'c': 'Paris'}", "result c1 sunny"]


def test_a_question_after_an_answer_begins_a_run_of_the_session() -> None:
    spans = Collected()
    spans.add(chat([ASKED], SAID))
    spans.add(chat([ASKED, SAID, message("user", [text("and Rome?")])], SAID))
    one, other = spans.rebuilt()
    assert (one["input"], other["input"]) == ("weather in Paris?", "and Rome?")
    assert one["session_id"] == other["session_id"]


def test_a_run_whose_messages_nobody_repeats_has_no_session() -> None:
    spans = Collected()
    spans.add(chat([ASKED], SAID))
    [trace] = spans.rebuilt()
    assert "session_id" not in trace


def test_two_conversations_with_the_same_question_stay_apart() -> None:
    spans = Collected()
    another = message("assistant", [tool_call("weather", {"c": "Paris"}, "d9")])
    spans.add(chat([ASKED], WANTS))
    spans.add(chat([ASKED], another))
    spans.add(chat([ASKED, WANTS, TOLD], SAID))
    spans.add(chat([ASKED, another, message("tool", [tool_response("rain", "d9")])], SAID))
    first, second = spans.rebuilt()
    assert "c1" in shape(first)[-1]
    assert "d9" in shape(second)[-1]


def test_calls_without_content_below_one_span_are_one_run() -> None:
    spans = Collected()
    request = spans.add(Unclassified(extra={"http.route": "/ask"}), seconds=9)
    for _ in range(2):
        spans.add(Inference(provider="openai", usage=Usage(input_tokens=1)), parent=request)
    [trace] = spans.rebuilt()
    assert trace["metrics"]["total_tokens"] == 2


def test_several_runs_in_one_otel_trace_have_ids_of_their_own() -> None:
    spans = Collected()
    spans.add(chat([ASKED], SAID), trace=7)
    spans.add(chat([message("user", [text("other")])], SAID), trace=7)
    assert [trace["trace_id"] for trace in spans.rebuilt()] == [
        f"{7:032x}:{1:016x}",
        f"{7:032x}:{2:016x}",
    ]


def test_a_framework_span_around_a_client_span_is_one_model_call() -> None:
    spans = Collected()
    outer = spans.add(chat([ASKED], SAID))
    spans.add(chat([ASKED], SAID), parent=outer)
    [trace] = spans.rebuilt()
    assert trace["metrics"]["total_tokens"] == 15


def test_only_a_missing_parent_makes_a_call_incomplete() -> None:
    spans = Collected()
    parent = spans.add(Unclassified())
    spans.add(chat([ASKED], SAID), parent=parent)
    spans.add(chat([message("user", [text("and in Rome?")])], SAID), trace=9, parent_id="f" * 16)
    complete, lost = spans.rebuilt()
    assert "incomplete" not in complete.get("metadata", {})
    assert lost["metadata"]["incomplete"] is True


def test_nested_calls_are_recognised_through_plain_spans() -> None:
    spans = Collected()
    outer = spans.add(chat([ASKED], SAID), seconds=9)
    between = spans.add(Unclassified(), parent=outer)
    spans.add(chat([ASKED], SAID), parent=between)
    [trace] = spans.rebuilt()
    assert trace["metrics"]["total_tokens"] == 15


def test_a_conversation_id_is_the_session() -> None:
    spans = Collected()
    spans.add(chat([ASKED], SAID, conversation_id="conv"))
    assert spans.rebuilt()[0]["session_id"] == "conv"


def test_a_run_that_ends_with_a_tool_request_has_no_output() -> None:
    spans = Collected()
    spans.add(chat([ASKED], WANTS))
    assert "output" not in spans.rebuilt()[0]


def test_a_refusal_is_the_status() -> None:
    spans = Collected()
    spans.add(chat([ASKED], SAID, finish_reasons=["content_filter"]))
    assert spans.rebuilt()[0]["status"] == "refusal"


def test_a_failed_last_call_is_the_status() -> None:
    spans = Collected()
    spans.add(chat([ASKED], SAID, error_type="openai.APITimeoutError"))
    assert spans.rebuilt()[0]["status"] == "timeout"


def test_missing_usage_is_not_zero() -> None:
    spans = Collected()
    spans.add(Inference(provider="openai", input=[ASKED], output=[SAID]))
    assert "total_tokens" not in spans.rebuilt()[0]["metrics"]


def test_results_without_history_belong_to_their_request() -> None:
    """The responses API keeps the history, and not every tracer records the previous response."""
    spans = Collected()
    spans.add(chat([ASKED], WANTS))
    spans.add(chat([TOLD], SAID))
    [trace] = spans.rebuilt()
    assert shape(trace)[1:] == ["call c1 weather {'c': 'Paris'}", "result c1 sunny"]


def test_a_late_log_record_of_a_call_is_not_a_second_call() -> None:
    """OpenLIT writes the event of a stream in no trace."""
    spans = Collected()
    output = chat([ASKED], SAID, response_id="r1")
    spans.add(output)
    spans.add(output, seconds=0, name=gen_ai.EVENT_INFERENCE_DETAILS)
    [trace] = spans.rebuilt()
    assert trace["metrics"]["total_tokens"] == 15


def test_a_log_record_of_a_call_without_a_span_is_a_call() -> None:
    spans = Collected()
    spans.add(chat([ASKED], SAID, response_id="r1"))
    spans.add(chat([ASKED], SAID, response_id="r2"), name=gen_ai.EVENT_INFERENCE_DETAILS)
    assert len(spans.rebuilt()) == 2


def test_a_history_without_tool_calls_is_recognised_by_its_text() -> None:
    """LiteLLM's and OpenLIT's."""
    spans = Collected()
    looks = message("assistant", [text("I look."), tool_call("weather", {"c": "Paris"})])
    result = message("tool", [tool_response("sunny")])
    spans.add(chat([ASKED], looks))
    spans.add(chat([ASKED, message("assistant", [text("I look.")]), result], SAID))
    [trace] = spans.rebuilt()
    assert shape(trace)[1:] == ["call None weather {'c': 'Paris'}", "result None sunny"]


def calls_of_google(first: int) -> Any:
    """Two calls without ids, as tracers number them by their places among the parts."""
    tool_calls = [
        tool_call("weather", {"c": c}, f"weather_{first + n}") for n, c in enumerate("PR")
    ]
    return message("assistant", [text("I look.")] * first + tool_calls)


def test_synthetic_ids_are_ignored_and_results_kept_in_order() -> None:
    wants = calls_of_google(first=1)
    results = message(
        "user", [tool_response("sunny", "weather_0"), tool_response("wet", "weather_1")]
    )
    another = message("user", [text("and again?")])
    spans = Collected()
    spans.add(chat([ASKED], wants), seconds=0.5)
    spans.add(chat([ASKED, wants, results], SAID))
    spans.add(chat([another], wants))
    first, second = spans.rebuilt()
    assert shape(first)[1:] == [
        "call None weather {'c': 'P'}",
        "call None weather {'c': 'R'}",
        "result None sunny",
        "result None wet",
    ]
    assert second["input"] == "and again?"


def test_an_empty_call_id_counts_as_missing() -> None:
    wants = message("assistant", [tool_call("weather", {"c": "P"}, "")])
    spans = Collected()
    spans.add(chat([ASKED], wants))
    spans.add(chat([ASKED, wants, message("tool", [tool_response("sunny", "")])], SAID))
    spans.add(chat([message("user", [text("other")])], wants))
    first, second = spans.rebuilt()
    assert shape(first) == ["call None weather {'c': 'P'}", "result None sunny"]
    assert shape(second) == ["call None weather {'c': 'P'}"]


def test_a_span_for_a_responses_arrival_is_not_a_call() -> None:
    """Anthropic's SDK writes spans without content, beside those of whoever writes it."""
    spans = Collected()
    usage = Usage(input_tokens=10, output_tokens=5)
    spans.add(chat([ASKED], SAID, response_id="msg_1"), seconds=3)
    spans.add(Inference(provider="p", response_id="msg_1", usage=usage), scope="other.sdk")
    [trace] = spans.rebuilt()
    assert trace["metrics"]["total_tokens"] == 15
    assert (trace["input"], trace["output"]) == ("weather in Paris?", "It is sunny.")


def test_responses_of_one_id_without_content_stay_apart() -> None:
    spans = Collected()
    for _ in range(2):
        spans.add(Inference(provider="p", response_id="chatcmpl-123"))
    assert len(spans.rebuilt()) == 2


def test_calls_without_ids_identify_an_answer_whose_thoughts_became_text() -> None:
    call = tool_call("weather", {"c": "Paris"})
    results = message("user", [tool_response("sunny")])
    spans = Collected()
    spans.add(chat([ASKED], message("assistant", [call])))
    spans.add(chat([ASKED, message("assistant", [text("Hm."), call]), results], SAID))
    [trace] = spans.rebuilt()
    assert shape(trace) == ["call None weather {'c': 'Paris'}", "result None sunny"]


def test_results_without_ids_belong_to_the_preceding_calls_in_order() -> None:
    reply = message("assistant", [tool_call("weather", {"c": city}, "") for city in "PR"])
    results = message("user", [tool_response("sunny", ""), tool_response("wet", "")])
    spans = Collected()
    spans.add(chat([ASKED, reply, results], SAID))
    assert [item for item in shape(spans.rebuilt()[0]) if item.startswith("call")] == [
        "call None weather {'c': 'P'}",
        "call None weather {'c': 'R'}",
    ]


def test_a_result_in_a_single_content_block_is_unpacked() -> None:
    for block in ({"json": {"n": 1}}, {"type": "text", "text": '{"n": 1}'}, {"text": '{"n": 1}'}):
        spans = Collected()
        spans.add(chat([ASKED], WANTS))
        spans.add(chat([ASKED, WANTS, message("tool", [tool_response([block], "c1")])], SAID))
        assert shape(spans.rebuilt()[0])[-1] == "result c1 {'n': 1}"


def test_a_tool_failure_in_the_messages_is_the_results_error() -> None:
    failed = {**tool_response("no station", "c1"), "is_error": True}
    for parts in ([failed], [tool_response("no station", "c1"), failed]):
        spans = Collected()
        spans.add(chat([ASKED], WANTS))
        spans.add(chat([ASKED, WANTS, message("tool", parts)], SAID))
        result = spans.rebuilt()[0]["steps"][-1]["tool_result"]
        assert result == {"call_id": "c1", "output": "no station", "error": "no station"}


def test_the_older_form_of_a_call_is_not_a_second_call() -> None:
    """LangChain keeps the last of Google's calls in it, without an id."""
    older = tool_call("weather", {"c": "Paris"}, "")
    spans = Collected()
    spans.add(chat([ASKED], message("assistant", [older, *WANTS["parts"]])))
    assert shape(spans.rebuilt()[0])[1:] == ["call c1 weather {'c': 'Paris'}"]


def test_answer_without_tool_calls_is_matched_by_text() -> None:
    spoken = message("assistant", [text("I look."), tool_call("weather", {"c": "Paris"}, "c1")])
    spans = Collected()
    spans.add(chat([ASKED], message("assistant", [text("I look.")])))
    spans.add(chat([ASKED, spoken, TOLD], SAID))
    [trace] = spans.rebuilt()
    assert shape(trace) == ["call c1 weather {'c': 'Paris'}", "result c1 sunny"]


def test_tools_outside_of_any_run_belong_to_no_agent() -> None:
    spans = Collected()
    spans.add(ToolExecution(name="weather", arguments={"c": "Paris"}, result="sunny"))
    [trace] = spans.rebuilt()
    assert "agent_id" not in trace
    assert "input" not in trace
    assert shape(trace)[0].endswith("weather {'c': 'Paris'}")


def test_arguments_as_text_in_the_history_are_those_of_the_answer() -> None:
    """Without ids, so that only the history shows which answer continues."""
    answer = message("assistant", [tool_call("weather", {"c": "Paris", "d": 1})])
    repeated = message("assistant", [tool_call("weather", '{"d": 1, "c": "Paris"}')])
    result = message("tool", [tool_response("sunny")])
    spans = Collected()
    spans.add(chat([ASKED], answer))
    spans.add(chat([ASKED, repeated, result], SAID))
    assert len(spans.rebuilt()) == 1
    collection = Collected()
    collection.add(chat([ASKED], answer))
    different = message("assistant", [tool_call("weather", '{"d": 2, "c": "Paris"}')])
    collection.add(chat([ASKED, different, result], SAID))
    assert len(collection.rebuilt()) == 2
