"""Documents: from JSON, to JSON, and their methods."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.errors import DecodeError
from agentool_otel.model import (
    UNSET,
    AssertionResult,
    Document,
    EvalCase,
    EvalResult,
    ReasoningTrace,
    Step,
    ToolCall,
    ToolExchange,
    ToolRegistry,
    ToolResult,
    ToolSpec,
    TraceMetrics,
)
from agentool_otel.model.codec import decode, dumps, encode
from agentool_otel.model.documents import ASSERTION_TYPES, STATUSES

Json = dict[str, Any]
SPEC = Path(__file__).parents[1] / "fixtures" / "spec"
EXAMPLES: dict[str, type[Document]] = {
    "tool-spec": ToolSpec,
    "tool-exchange": ToolExchange,
    "reasoning-trace": ReasoningTrace,
    "eval-case": EvalCase,
    "eval-result": EvalResult,
    "tool-registry": ToolRegistry,
}


def exact(value: Any) -> str:
    """Text that distinguishes 1 from 1.0 and from true, and 0.0 from -0.0."""
    return json.dumps(value, sort_keys=True)


def example(name: str) -> Any:
    return json.loads((SPEC / f"{name}.json").read_text("utf-8"))


def trace_of(*steps: Step) -> ReasoningTrace:
    return ReasoningTrace(trace_id="tr_1", steps=list(steps))


def called(call_id: str) -> Step:
    return Step(type="tool_call", tool_call=ToolCall(name="t", id=call_id))


def answered(call_id: str, output: object = None) -> Step:
    return Step(type="tool_result", tool_result=ToolResult(call_id=call_id, output=output))


# --- to and from JSON ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_of_the_spec_comes_back_as_it_was(name: str) -> None:
    document = decode(EXAMPLES[name], example(name))
    assert exact(encode(document)) == exact(example(name))


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_of_the_spec_survives_as_text(name: str) -> None:
    document = EXAMPLES[name].from_json((SPEC / f"{name}.json").read_bytes())
    assert exact(json.loads(document.to_json())) == exact(example(name))


def test_every_member_of_the_spec_examples_is_known() -> None:
    trace = ReasoningTrace.from_dict(example("reasoning-trace"))
    assert [part.extra for part in (trace, *trace.steps, *trace.tool_calls())] == [{}] * 6


def test_absent_null_and_empty_are_three_things() -> None:
    spec = '{"name": "t", "description": "", "parameters": {}%s}'
    returns = [
        ToolSpec.from_json(spec % more).returns
        for more in ("", ', "returns": null', ', "returns": {}')
    ]
    assert returns == [UNSET, None, {}]


@pytest.mark.parametrize("value", [{}, None, 0, 0.0, -0.0, 1, 1.0, True, "", [], 2**70, 5e-324])
def test_a_payload_keeps_its_value_and_its_type(value: object) -> None:
    data = {"call_id": "c", "output": value}
    assert exact(json.loads(ToolResult.from_dict(data).to_json())) == exact(data)


def test_a_nested_document_may_be_null() -> None:
    data = {"trace_id": "t", "steps": [{"type": "x", "tool_call": None}], "metrics": None}
    trace = ReasoningTrace.from_dict(data)
    assert trace.metrics is None
    assert trace.to_dict() == data


def test_unknown_members_are_kept_beside_the_known_ones() -> None:
    step = Step.from_dict({"type": "reasoning", "mood": None})
    assert step.extra == {"mood": None}
    assert step.to_dict() == {"type": "reasoning", "mood": None}


def test_a_member_named_extra_is_an_unknown_member() -> None:
    data = {"type": "reasoning", "extra": {"extra": 1}}
    assert Step.from_dict(data).to_dict() == data


def test_a_known_member_wins_over_an_extra_of_its_name() -> None:
    assert Step(type="reasoning", extra={"type": "spoof"}).to_dict() == {"type": "reasoning"}


@pytest.mark.parametrize("status", [*STATUSES, "abandoned"])
def test_any_status_word_is_carried(status: str) -> None:
    data: Json = {"trace_id": "t", "steps": [], "status": status}
    assert ReasoningTrace.from_dict(data).status == status


@pytest.mark.parametrize("word", [*ASSERTION_TYPES, "vibes"])
def test_any_assertion_type_is_carried(word: str) -> None:
    data = {"case_id": "c", "assertions": [{"type": word}]}
    assert EvalCase.from_dict(data).assertions[0].type == word


def test_an_unknown_step_type_is_carried() -> None:
    assert Step.from_dict({"type": "daydream"}).type == "daydream"


@pytest.mark.parametrize(
    "text", ["2026-03-01T10:00:00Z", "2026-03-01T10:00:00.100+00:00", "2026-03-01 10:00", "soon"]
)
def test_a_time_keeps_its_text(text: str) -> None:
    assert Step.from_dict({"type": "x", "timestamp": text}).to_dict()["timestamp"] == text


def test_an_assertion_that_was_not_evaluated_is_null() -> None:
    data = {"assertion_type": "latency", "passed": None}
    assert AssertionResult.from_dict(data).to_dict() == data


def test_a_payload_may_be_deeper_than_the_interpreter_recurses() -> None:
    deep: list[Any] = []
    for _ in range(2_000):
        deep = [deep]
    call = decode(ToolCall, {"name": "t", "arguments": deep, "unknown": deep})
    assert encode(call)["arguments"] is deep


def test_a_document_is_returned_unchanged() -> None:
    call = ToolCall(name="t")
    assert decode(ToolCall, call) is call


def test_a_nested_document_may_already_be_one() -> None:
    step = Step(type="reasoning")
    assert ReasoningTrace.from_dict({"trace_id": "t", "steps": [step]}).steps == [step]


def test_a_document_can_be_sent_to_another_process() -> None:
    trace = ReasoningTrace.from_dict(example("reasoning-trace"))
    copy = pickle.loads(pickle.dumps(trace))
    assert copy == trace
    assert copy.steps[0].tool_call is UNSET


def test_text_holds_what_json_allows() -> None:
    call = ToolCall(name="t", arguments={"emoji": "🦜", "huge": 2**80})
    assert decode(ToolCall, dumps(call)) == call


def test_half_a_character_in_the_text_of_a_document_is_replaced() -> None:
    call = ToolCall(name="t", arguments={"half": "a\ud83e"})
    assert decode(ToolCall, dumps(call)).arguments == {"half": "a\ufffd"}


# --- errors -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (3, "expected object (ReasoningTrace), got int 3 - at $"),
        ({"steps": []}, "expected an object with member 'trace_id', got one without it - at $"),
        ({"trace_id": "t", "steps": 3}, "expected array of objects, got int 3 - at $.steps"),
        ({"trace_id": "t", "steps": None}, "expected array of objects, got null - at $.steps"),
        ({"trace_id": None, "steps": []}, "expected string, got null - at $.trace_id"),
        (
            {"trace_id": "t", "steps": [{"type": "x"}, {"type": "y", "tool_call": "x"}]},
            "expected object (ToolCall), got str 'x' - at $.steps[1].tool_call",
        ),
        (
            {"trace_id": "t", "steps": [], "metrics": {"total_tokens": True}},
            "expected number or null, got bool True - at $.metrics.total_tokens",
        ),
        (
            {"trace_id": "t", "steps": [{"type": "x", "tool_call": {"name": [1]}}]},
            "expected string, got list of 1 - at $.steps[0].tool_call.name",
        ),
    ],
)
def test_an_error_names_the_path_and_what_was_found(data: Any, message: str) -> None:
    with pytest.raises(DecodeError) as raised:
        decode(ReasoningTrace, data)
    assert str(raised.value) == message


def test_an_error_names_the_element_of_a_list_of_words() -> None:
    with pytest.raises(DecodeError, match=r"expected string, got int 2 - at \$\.tags\[1\]"):
        EvalCase.from_dict({"case_id": "c", "assertions": [], "tags": ["a", 2]})


def test_an_error_names_the_file() -> None:
    with pytest.raises(DecodeError, match=r"in runs\.jsonl:3$"):
        decode(ToolCall, {}, where="runs.jsonl:3")


def test_text_that_is_not_json_is_a_decode_error() -> None:
    with pytest.raises(DecodeError, match="expected JSON"):
        ToolCall.from_json("{")


def test_an_error_shows_no_more_than_the_beginning_of_a_value() -> None:
    with pytest.raises(DecodeError, match=r"got str 'x{40}…'"):
        TraceMetrics.from_dict({"total_tokens": "x" * 5_000})


def test_a_document_of_another_type_is_refused() -> None:
    with pytest.raises(DecodeError, match=r"expected object \(Step\), got ToolCall"):
        decode(Step, ToolCall(name="t"))


# --- calls and results --------------------------------------------------------------------------


def test_calls_and_results_are_listed_in_step_order() -> None:
    trace = trace_of(answered("b"), called("a"), Step(type="reasoning"), called("b"))
    assert [call.id for call in trace.tool_calls()] == ["a", "b"]
    assert [result.call_id for result in trace.tool_results()] == ["b"]


def test_a_result_belongs_to_the_call_with_its_id() -> None:
    trace = trace_of(answered("b"), called("a"), called("b"), answered("a"))
    first, second = trace.tool_calls()
    assert trace.result_of(first) is trace.tool_results()[1]
    assert trace.call_of(trace.tool_results()[0]) is second


def test_among_equal_ids_the_first_result_answers_the_first_call() -> None:
    trace = trace_of(called("a"), called("a"), answered("a", 1), answered("a", 2))
    results = [trace.result_of(call) for call in trace.tool_calls()]
    assert results == trace.tool_results()
    assert [result.output for result in results if result] == [1, 2]


def test_calls_without_results_and_results_without_calls_stay_unpaired() -> None:
    trace = trace_of(called("a"), answered("b"))
    assert list(trace.pairs()) == [(trace.tool_calls()[0], None), (None, trace.tool_results()[0])]


def test_nothing_is_paired_without_an_id() -> None:
    call, result = ToolCall(name="t"), ToolResult(output=1)
    trace = trace_of(Step(type="tool_call", tool_call=call, tool_result=result))
    assert trace.result_of(call) is None
    assert trace.call_of(result) is None


# --- tool formats of providers ------------------------------------------------------------------


def test_openai_gets_the_parameters_as_they_are() -> None:
    spec = ToolSpec.from_dict(example("tool-spec"))
    assert spec.to_openai() == {
        "type": "function",
        "function": {
            "name": spec.name,
            "description": spec.description,
            "parameters": example("tool-spec")["parameters"],
        },
    }


def test_anthropic_gets_the_parameters_as_its_input_schema() -> None:
    spec = ToolSpec.from_dict(example("tool-spec"))
    assert spec.to_anthropic() == {
        "name": spec.name,
        "description": spec.description,
        "input_schema": example("tool-spec")["parameters"],
    }


def test_an_openai_tool_comes_back_with_what_only_openai_knows() -> None:
    function = {"name": "t", "description": "d", "parameters": {"type": "object"}, "strict": True}
    tool = {"type": "function", "function": function, "defer_loading": True}
    assert ToolSpec.from_openai(tool).to_openai() == tool


def test_an_anthropic_tool_keeps_its_own_members() -> None:
    cache = {"type": "ephemeral"}
    tool: Json = {"name": "t", "description": "d", "input_schema": {}, "cache_control": cache}
    assert ToolSpec.from_anthropic(tool).to_anthropic() == tool


def test_members_of_one_provider_are_not_sent_to_another() -> None:
    tool: Json = {"name": "t", "description": "d", "input_schema": {}, "cache_control": {}}
    assert ToolSpec.from_anthropic(tool).to_openai()["function"].keys() == {
        "name",
        "description",
        "parameters",
    }


def test_the_flat_openai_form_is_read_like_the_nested_one() -> None:
    function: Json = {"name": "t", "description": "d", "parameters": {}, "strict": None}
    flat = ToolSpec.from_openai({"type": "function", **function})
    assert flat == ToolSpec.from_openai({"type": "function", "function": function})


def test_a_provider_tool_without_description_or_parameters_has_empty_ones() -> None:
    spec = ToolSpec.from_openai({"type": "function", "function": {"name": "t"}})
    assert spec == ToolSpec(name="t", description="", parameters={})


def test_a_provider_tool_without_a_name_is_not_a_function_tool() -> None:
    with pytest.raises(DecodeError, match="member 'name'"):
        ToolSpec.from_openai({"type": "web_search"})
