"""A tool without a call id belongs to the model call that requested it, over all OTel traces."""

from __future__ import annotations

import random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.loading import rebuild
from agentool_otel.model.messages import message, text, tool_call, tool_response
from agentool_otel.model.operations import Inference, Operation, ToolExecution
from agentool_otel.model.spans import SpanRecord
from tests.laws import many
from tests.reading.rebuild.loops import MS, START, Call, Loops, span_of

chances = st.randoms(use_true_random=False)


def rebuilt(spans: list[SpanRecord]) -> list[dict[str, Any]]:
    copies = [msgspec.structs.replace(span, attributes=dict(span.attributes)) for span in spans]
    return [item.trace.to_dict() for item in rebuild(copies)]


def calls_of(trace: dict[str, Any]) -> list[Call]:
    """Return the tool calls of a trace, each with the result of the same id."""
    results = {
        step["tool_result"].get("call_id"): step["tool_result"]
        for step in trace["steps"]
        if step["type"] == "tool_result"
    }
    calls = [step["tool_call"] for step in trace["steps"] if step["type"] == "tool_call"]
    return [
        Call(
            call.get("id"),
            call["name"],
            call["arguments"],
            None if "error" in result else result.get("output"),
            result.get("error"),
        )
        for call in calls
        for result in [results.get(call.get("id"), {})]
    ]


def told(calls: list[Call]) -> list[Any]:
    """Return calls without arguments: tools add some of their own."""
    return sorted(call._replace(arguments={}) for call in calls)


@settings(max_examples=many(400), deadline=None)
@given(chances, st.integers(1, 20), st.booleans())
def test_each_conversation_is_a_run_and_each_call_one_step(
    chance: random.Random, count: int, below: bool
) -> None:
    program = Loops(chance, count, below=below)
    spans = [*program.spans, *chance.choices(program.spans, k=3)]
    chance.shuffle(spans)
    traces = rebuilt(spans)
    tolds = {trace["input"]: told(calls_of(trace)) for trace in traces}
    assert tolds == {question: told(calls) for question, calls in program.calls.items()}
    assert len(traces) == count


@settings(max_examples=many(100), deadline=None)
@given(chances, st.integers(1, 8), st.booleans())
def test_no_order_of_reading_changes_a_run(chance: random.Random, count: int, below: bool) -> None:
    spans = Loops(chance, count, below=below).spans
    assert rebuilt(chance.sample(spans, len(spans))) == rebuilt(spans)


# ------------------------------------------------------------------- one condition of the rule each


def loop(operation: Operation, start: int, end: int, **fields: Any) -> list[dict[str, Any]]:
    """Rebuild a conversation and a span: its model calls last from 0 to 10 and from 20 to 30 ms."""
    request = message("user", [text("q")])
    wants = message("assistant", [tool_call("search", {"word": "a"}, "c1")])
    sent = message("tool", [tool_response("page", "c1")])
    output = message("assistant", [text("Done.")])
    spans = [
        span_of(
            Inference(provider="p", input=[request], output=[wants]), 1, START, START + 10 * MS
        ),
        span_of(
            Inference(provider="p", input=[request, wants, sent], output=[output]),
            2,
            START + 20 * MS,
            START + 30 * MS,
        ),
        span_of(operation, 3, START + start * MS, START + end * MS, **fields),
    ]
    return rebuilt(spans)


def search(name: str = "search", **arguments: Any) -> ToolExecution:
    return ToolExecution(name=name, arguments=arguments or {"word": "a"}, result="page")


def test_a_span_in_the_time_of_its_request_is_its_call() -> None:
    [trace] = loop(search(), 12, 18)
    assert calls_of(trace) == [Call("c1", "search", {"word": "a"}, "page", None)]


def test_a_span_may_begin_while_the_answer_streams() -> None:
    assert len(loop(search(), 5, 18)) == 1


@pytest.mark.parametrize(
    ("operation", "start", "end", "fields"),
    [
        (search("other"), 12, 18, {}),
        (search(), -5, -1, {}),
        (search(), 22, 28, {}),
        (search(), 12, 25, {}),
        (search(), 12, 18, {"resource": {"service.instance.id": "2"}}),
    ],
    ids=["other name", "before", "after", "longer", "other process"],
)
def test_a_span_that_breaks_one_condition_is_a_call_of_its_own(
    operation: Operation, start: int, end: int, fields: dict[str, Any]
) -> None:
    traces = loop(operation, start, end, **fields)
    assert [len(calls_of(trace)) for trace in traces] == [1, 1]
