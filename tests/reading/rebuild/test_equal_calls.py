"""Equal calls of several conversations at once: each error is on the run that received it."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.loading import rebuild
from agentool_otel.model.messages import message, text, tool_call, tool_response
from agentool_otel.model.operations import AgentInvocation, Inference, Operation, ToolExecution
from agentool_otel.model.spans import SpanRecord
from tests.laws import many
from tests.reading.rebuild.loops import MS, START, span_of

WORD = {"word": "a"}
FAILED = ToolExecution(
    name="search", arguments=WORD, error_type="ValueError", error_message="no page"
)
FOUND = ToolExecution(name="search", arguments=WORD, result="page")


def at(operation: Operation, number: int, start: int, end: int, **fields: object) -> SpanRecord:
    return span_of(operation, number, START + start * MS, START + end * MS, **fields)


def conversation(number: int, start: int, *, fails: bool, has_agent: bool) -> list[SpanRecord]:
    """Return two model calls, the later one with the result, in an agent's run or by themselves."""
    question = message("user", [text(f"question {number}")])
    request = message("assistant", [tool_call("search", WORD, f"c{number}")])
    response = "error: no page" if fails else "page"
    sent = message("tool", [tool_response(response, f"c{number}")])
    answer = message("assistant", [text("Done.")])
    first = 10 * number
    run = {"trace_id": f"{first:032x}", "parent_id": f"{first:016x}"} if has_agent else {}
    asks = Inference(provider="p", input=[question], output=[request])
    answers = Inference(provider="p", input=[question, request, sent], output=[answer])
    spans = [
        at(asks, first + 1, start, start + 10, **run),
        at(answers, first + 2, start + 20, start + 30, **run),
    ]
    if has_agent:
        spans.append(at(AgentInvocation(agent_name="clerk"), first, start, start + 40))
    return spans


def errors(spans: list[SpanRecord]) -> list[tuple[list[str | None], list[bool]]]:
    """Return the ids of the calls of each run, and whether each result is an error."""
    matches: list[tuple[list[str | None], list[bool]]] = []
    for run in rebuild(spans):
        steps = run.trace.to_dict()["steps"]
        calls = [step["tool_call"] for step in steps if step["type"] == "tool_call"]
        results = [step["tool_result"] for step in steps if step["type"] == "tool_result"]
        matches.append(
            ([call.get("id") for call in calls], ["error" in result for result in results])
        )
    return sorted(matches)


@settings(max_examples=many(200), deadline=None)
@given(
    st.randoms(use_true_random=False),
    st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=20),
)
def test_each_error_is_on_its_run(
    chance: random.Random, conversations: list[tuple[bool, bool]]
) -> None:
    spans: list[SpanRecord] = []
    for number, (fails, has_agent) in enumerate(conversations, 1):
        start = chance.randint(0, 1)
        spans += conversation(number, start, fails=fails, has_agent=has_agent)
        begin = chance.randint(12, 15)
        spans.append(at(FAILED if fails else FOUND, 1000 + number, begin, begin + 3))
    chance.shuffle(spans)
    assert errors(spans) == sorted(
        ([f"c{number}"], [fails]) for number, (fails, _) in enumerate(conversations, 1)
    )


@pytest.mark.parametrize("is_agent_first", [False, True])
def test_a_further_try_leaves_the_run_its_tool(is_agent_first: bool) -> None:
    """A loop takes a second span for its request only if no run waits for it."""
    first, second = (12, 14) if is_agent_first else (14, 12)
    spans = [
        *conversation(1, 0, fails=True, has_agent=True),
        *conversation(2, 1, fails=True, has_agent=False),
        at(FAILED, 1001, first, first + 2),
        at(FAILED, 1002, second, second + 2),
    ]
    assert errors(spans) == [(["c1"], [True]), (["c2"], [True])]


def test_an_executed_request_takes_no_other_tool() -> None:
    """A run that waits for one tool takes none for a request that a span in it executes."""
    lookup = tool_call("lookup", {"word": "b"}, "c2")
    root, call = f"{10:016x}", message("assistant", [tool_call("search", WORD, "c1"), lookup])
    run = {"trace_id": f"{10:032x}", "parent_id": root}
    executed = ToolExecution(name="search", call_id="c1", arguments=WORD, result="page")
    spans = [
        at(AgentInvocation(agent_name="clerk"), 10, 0, 40),
        at(Inference(provider="p", output=[call]), 11, 0, 10, **run),
        at(executed, 12, 12, 18, **run),
        at(FOUND, 1000, 13, 17),
    ]
    assert sorted(len(ids) for ids, _ in errors(spans)) == [1, 2]
