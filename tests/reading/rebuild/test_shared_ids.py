"""Servers that count call ids anew in every answer: equal ids do not make one run of several."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.loading import rebuild
from agentool_otel.model.messages import message, text, tool_call, tool_response
from agentool_otel.model.operations import Inference, Operation, ToolExecution
from agentool_otel.model.spans import SpanRecord
from tests.reading.rebuild.loops import MS, START, span_of

COUNT = 7


def conversation(
    number: int, start: int, *, words: str, traces: int, continues: bool
) -> list[SpanRecord]:
    """Return a model call that asks for `call_0`, its tool and perhaps a second model call.

    Args:
        number: of the conversation; its question and its result contain the number.
        start: in milliseconds.
        words: argument of the tool.
        traces: 1 if all spans are in one OTel trace, 3 if each is in one of its own.
        continues: whether the model is sent the result.
    """
    question = message("user", [text(f"question {number}")])
    request = message("assistant", [tool_call("search", {"word": words}, "call_0")])
    response = message("tool", [tool_response(f"result {number}", "call_0")])
    answer = message("assistant", [text(f"answer {number}")])
    operations: list[Operation] = [
        Inference(provider="p", input=[question], output=[request]),
        ToolExecution(
            name="search",
            call_id="call_0",
            arguments={"word": words},
            result=f"result {number}",
        ),
        Inference(provider="p", input=[question, request, response], output=[answer]),
    ]
    spans: list[SpanRecord] = []
    for place, operation in enumerate(operations[: 3 if continues else 2]):
        begin = START + start * MS + 20 * MS * place
        trace_id = f"{10 * number + (place if traces > 1 else 0):032x}"
        span_number = 10 * number + place
        spans.append(span_of(operation, span_number, begin, begin + 9 * MS, trace_id=trace_id))
    return spans


def read(spans: list[SpanRecord]) -> list[tuple[Any, list[Any], Any]]:
    """Return the input, the results of tools and the output of each run."""
    traces = [run.trace.to_dict() for run in rebuild(spans)]
    return sorted(
        (
            trace["input"],
            [
                step["tool_result"]["output"]
                for step in trace["steps"]
                if step["type"] == "tool_result"
            ],
            trace.get("output"),
        )
        for trace in traces
    )


def expected(continues: bool) -> list[tuple[str, list[str], str | None]]:
    return [
        (f"question {n}", [f"result {n}"], f"answer {n}" if continues else None)
        for n in range(1, COUNT + 1)
    ]


@pytest.mark.parametrize("continues", [False, True])
@pytest.mark.parametrize(("apart", "word"), [(1, "w"), (3, "w{}")], ids=["one trace", "apart"])
@given(starts=st.lists(st.integers(0, 60), min_size=COUNT, max_size=COUNT, unique=True))
def test_one_id_in_seven_conversations_gives_seven_runs(
    apart: int, word: str, continues: bool, starts: list[int]
) -> None:
    spans = [
        span
        for n, start in enumerate(starts, 1)
        for span in conversation(n, start, words=word.format(n), traces=apart, continues=continues)
    ]
    assert read(spans) == expected(continues)


def equal_calls(ids: Callable[[str], str | None], *, continues: bool) -> list[SpanRecord]:
    """Return a turn with two equal calls, of which the second one is executed first."""
    question = message("user", [text("question")])
    calls = [tool_call("search", {"word": "w"}, call_id) for call_id in "AB"]
    request = message("assistant", calls)
    responses = [message("tool", [tool_response(f"result {name}", name)]) for name in "AB"]
    operations: list[Operation] = [Inference(provider="p", input=[question], output=[request])]
    for name in "BA":
        operations.append(
            ToolExecution(
                name="search",
                call_id=ids(name),
                arguments={"word": "w"},
                result=f"result {name}",
            )
        )
    if continues:
        history = [question, request, *responses]
        answer = message("assistant", [text("answer")])
        operations.append(Inference(provider="p", input=history, output=[answer]))
    return [
        span_of(operation, n, START + 20 * n * MS, START + (20 * n + 9) * MS, trace_id="1" * 32)
        for n, operation in enumerate(operations, 1)
    ]


def by_id(spans: list[SpanRecord]) -> dict[str, Any]:
    (run,) = rebuild(spans)
    steps = run.trace.to_dict()["steps"]
    results = [step["tool_result"] for step in steps if step["type"] == "tool_result"]
    return {result["call_id"]: result["output"] for result in results}


@pytest.mark.parametrize(("known", "continues"), [(True, True), (True, False), (False, True)])
def test_equal_calls_in_another_order_keep_their_results(known: bool, continues: bool) -> None:
    spans = equal_calls(lambda name: name if known else None, continues=continues)
    assert by_id(spans) == {"A": "result A", "B": "result B"}


def test_the_order_of_equal_calls_that_nothing_tells_apart_is_inferred() -> None:
    (run,) = rebuild(equal_calls(lambda _: None, continues=False))
    rules = [note.rule for note in run.fidelity.notes if note.outcome == "inferred"]
    assert rules.count("the order in which calls of the tool were requested") == 2
