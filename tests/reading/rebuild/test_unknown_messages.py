"""Loops of bare model calls make the same runs without content as with it."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from agentool_otel.loading import rebuild
from agentool_otel.model.messages import message, text, tool_call, tool_response
from agentool_otel.model.operations import Inference, ToolExecution, Unclassified
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import gen_ai
from tests.laws import many
from tests.records import Collected

WITHOUT_MESSAGES = (gen_ai.INPUT_MESSAGES, gen_ai.OUTPUT_MESSAGES, gen_ai.SYSTEM_INSTRUCTIONS)
CONTENT = (*WITHOUT_MESSAGES, gen_ai.TOOL_CALL_ARGUMENTS, gen_ai.TOOL_CALL_RESULT)


class Loop:
    """A request for an answer: model calls, all but the last of which request a tool."""

    def __init__(self, name: str, turns: int, parent: SpanRecord | None):
        self.name = name
        self.turns = turns
        self.parent = parent
        self.history: list[Any] = [message("user", [text(f"question {name}")])]

    def step(self, spans: Collected, tools: bool) -> None:
        """Add the next model call and the tool that it requests."""
        call_id = f"{self.name}{self.turns}"
        parts = [tool_call("look", {"of": call_id}, call_id)] if self.turns else [text("done")]
        answer = message("assistant", parts)
        reason = "tool_call" if self.turns else "stop"
        model = Inference(
            provider="p", input=list(self.history), output=[answer], finish_reasons=[reason]
        )
        spans.add(model, parent=self.parent)
        if self.turns and tools:
            look = ToolExecution(name="look", call_id=call_id, arguments={}, result="x")
            spans.add(look, parent=self.parent)
        self.history += [answer, message("tool", [tool_response("x", call_id)])]
        self.turns -= 1


def one_after_another(spans: Collected, loops: list[Loop], tools: bool) -> None:
    for loop in loops:
        while loop.turns >= 0:
            loop.step(spans, tools)


def all_at_once(spans: Collected, loops: list[Loop], tools: bool, chance: random.Random) -> None:
    waiting = list(loops)
    while waiting:
        loop = chance.choice(waiting)
        loop.step(spans, tools)
        if loop.turns < 0:
            waiting.remove(loop)


def runs(spans: list[SpanRecord]) -> set[frozenset[str]]:
    """The model calls of each run."""
    return {
        frozenset(
            reading.span_id
            for reading in rebuilt.fidelity.readings
            if reading.name.startswith("chat")
        )
        for rebuilt in rebuild(spans)
    }


def without_content(spans: list[SpanRecord]) -> list[SpanRecord]:
    return [
        replace(span, attributes={k: v for k, v in span.attributes.items() if k not in CONTENT})
        for span in spans
    ]


several_turns = st.lists(st.integers(0, 3), min_size=1, max_size=4)


@settings(max_examples=many(200), deadline=None)
@given(turns=several_turns, tools=st.booleans())
def test_sequential_loops_are_separated_without_content(turns: list[int], tools: bool) -> None:
    spans = Collected()
    batch = spans.add(Unclassified(), seconds=99)
    one_after_another(spans, [Loop(str(n), turn, batch) for n, turn in enumerate(turns)], tools)
    result = runs(without_content(spans.spans))
    assert len(result) == len(turns)
    assert result == runs(spans.spans)


@settings(max_examples=many(200), deadline=None)
@given(
    turns=several_turns,
    tools=st.booleans(),
    kind=st.sampled_from(["SERVER", "CONSUMER", "INTERNAL"]),
    chance=st.randoms(use_true_random=False),
)
def test_concurrent_loops_are_separated_without_content(
    turns: list[int], tools: bool, kind: str, chance: random.Random
) -> None:
    spans = Collected()
    top = spans.add(Unclassified(), seconds=99)
    requests = [spans.add(Unclassified(), parent=top, seconds=99, kind=kind) for _ in turns]
    loops = [Loop(str(n), turn, requests[n]) for n, turn in enumerate(turns)]
    all_at_once(spans, loops, tools, chance)
    assert runs(without_content(spans.spans)) == runs(spans.spans)


def test_calls_below_different_servers_are_different_runs() -> None:
    spans = Collected()
    top = spans.add(Unclassified(), seconds=99)
    for _ in range(3):
        request = spans.add(Unclassified(), parent=top, kind="SERVER", seconds=9)
        spans.add(Inference(provider="p"), parent=request)
        spans.add(ToolExecution(name="look"), parent=request)
        spans.add(Inference(provider="p"), parent=request)
    results = [*rebuild(spans.spans)]
    assert [item.fidelity.model_calls for item in results] == [2, 2, 2]
    assert [item.document["metrics"]["tool_call_count"] for item in results] == [1, 1, 1]


def test_a_tool_is_no_part_of_another_request() -> None:
    spans = Collected()
    top = spans.add(Unclassified(), seconds=99)
    asks = spans.add(Unclassified(), parent=top, kind="SERVER", seconds=9)
    spans.add(Inference(provider="p"), parent=asks)
    serves = spans.add(Unclassified(), parent=top, kind="SERVER", seconds=9)
    spans.add(ToolExecution(name="look"), parent=serves)
    assert [item.document["metrics"]["tool_call_count"] for item in rebuild(spans.spans)] == [0, 1]


def test_one_conversation_in_a_request_is_one_run() -> None:
    for second, count in (("a", 1), ("b", 2)):
        spans = Collected()
        request = spans.add(Unclassified(), seconds=99)
        for conversation in ("a", second):
            inference = Inference(
                provider="p", finish_reasons=["stop"], conversation_id=conversation
            )
            spans.add(inference, parent=request)
        assert len(spans.rebuilt()) == count


def test_a_call_that_failed_is_tried_again_in_the_same_run() -> None:
    spans = Collected()
    request = spans.add(Unclassified(), seconds=99)
    spans.add(Inference(provider="p", finish_reasons=["tool_calls"]), parent=request)
    spans.add(Inference(provider="p", error_type="APIError"), parent=request)
    spans.add(Inference(provider="p", finish_reasons=["stop"]), parent=request)
    assert len(spans.rebuilt()) == 1


def test_two_tracers_of_a_call_are_one_run() -> None:
    spans = Collected()
    request = spans.add(Unclassified(), seconds=99)
    done = Inference(provider="p", finish_reasons=["stop"])
    spans.add(done, parent=request, seconds=5, scope="a framework")
    spans.add(done, parent=request, scope="an SDK")
    [rebuilt] = rebuild(spans.spans)
    assert rebuilt.fidelity.model_calls == 1


def test_indistinguishable_runs_are_merged_and_reported() -> None:
    spans = Collected()
    batch = spans.add(Unclassified(), seconds=99)
    for reason in ("tool_call", "tool_call", "stop"):
        inference = Inference(provider="p", finish_reasons=[reason])
        spans.add(inference, parent=batch, seconds=1.5 if reason == "tool_call" else 1)
    spans.spans[-1].start_ns = (spans.spans[-1].start_ns or 0) + 10**9
    [rebuilt] = rebuild(spans.spans)
    [note] = [note for note in rebuilt.fidelity.notes if note.field == "model_calls"]
    assert note.outcome == "inferred"
    assert "there may have been several runs" in (note.rule or "")


# ------------------------------------------------------------------------------------- tool calls


def test_unnamed_tool_calls_make_the_count_unknown() -> None:
    spans = Collected()
    request = spans.add(Unclassified(), seconds=99)
    asks = spans.add(Inference(provider="p", finish_reasons=["tool_call"]), parent=request)
    spans.add(Inference(provider="p", finish_reasons=["stop"]), parent=request)
    [rebuilt] = rebuild(spans.spans)
    assert "tool_call_count" not in rebuilt.document["metrics"]
    [note] = [note for note in rebuilt.fidelity.notes if note.field == "metrics.tool_call_count"]
    assert (note.outcome, note.span_id) == ("not_captured", asks.span_id)


@settings(max_examples=many(200), deadline=None)
@given(turns=several_turns, tools=st.booleans(), content=st.booleans())
def test_tool_calls_are_counted_where_each_is_known(
    turns: list[int], tools: bool, content: bool
) -> None:
    spans = Collected()
    one_after_another(spans, [Loop("a", turns[0], spans.add(Unclassified(), seconds=99))], tools)
    [rebuilt] = rebuild(spans.spans if content else without_content(spans.spans))
    turn = turns[0] if content or tools or not turns[0] else None
    assert rebuilt.document["metrics"].get("tool_call_count") == turn
