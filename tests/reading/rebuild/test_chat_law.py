"""Every message of the user and every answer in a recorded chat is in some run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.loading import rebuild
from agentool_otel.model.messages import (
    Message,
    message,
    parts_of,
    role_of,
    text,
    text_of,
    tool_call,
    tool_response,
)
from agentool_otel.model.operations import Inference
from agentool_otel.reading.rebuild.evaluation_spans import separate_evaluations
from agentool_otel.reading.rebuild.runs import _split
from agentool_otel.reading.sources.opening import open_source
from tests.records import Collected
from tests.right_answers.answers import answers

CUT = {"gemini-B.llm_call.json"}
"""Fixtures whose senders cut the messages."""


def loose_calls(spans: Sequence[Any]) -> Iterable[Inference]:
    """Yield the model calls below no agent's span."""
    traces: dict[str, list[Any]] = {}
    for span in spans:
        traces.setdefault(span.trace_id, []).append(span)
    for trace in traces.values():
        for node in _split(separate_evaluations(trace).nodes)[1]:
            if isinstance(node.operation, Inference):
                yield node.operation


def texts_of(calls: Iterable[Inference]) -> set[str]:
    """Return the texts of the user, and the answers without tool calls."""
    texts: set[str] = set()
    for call in calls:
        asked = [item for item in call.input or () if role_of(item) == "user"]
        answered = [item for item in call.output or () if not _requests(item)]
        texts.update(words for item in (*asked, *answered) if (words := text_of(item)))
    return texts


def _requests(item: Message) -> bool:
    return any(part.get("type") == "tool_call" for part in parts_of(item))


def missing(spans: Sequence[Any]) -> set[str]:
    """Return the texts that no run has."""
    runs = str([item.trace.to_dict() for item in rebuild(spans)])
    return {words for words in texts_of(loose_calls(spans)) if repr(words)[1:-1] not in runs}


FIXTURES = [answer.fixture for answer in answers() if answer.fixture.name not in CUT]


@pytest.mark.parametrize("fixture", FIXTURES, ids=lambda path: path.name)
def test_no_message_of_a_real_chat_is_lost(fixture: Any) -> None:
    assert missing([*open_source(fixture).spans()]) == set()


def chat_spans(turns: list[int], recorded: set[int]) -> list[Any]:
    """Return the model calls of a chat.

    Args:
        turns: how many tool calls each turn has.
        recorded: the calls that are recorded, by their number.
    """
    spans = Collected()
    history: list[Message] = []
    number = 0
    for turn, calls in enumerate(turns):
        history.append(message("user", [text(f"question {turn}")]))
        for place in range(calls + 1):
            call_id = f"c{turn}-{place}"
            part = text(f"answer {turn}") if place == calls else tool_call("f", {}, call_id)
            answer = message("assistant", [part])
            if number in recorded:
                spans.add(Inference(provider="p", input=[*history], output=[answer]), trace=number)
            number += 1
            history.append(answer)
            if place < calls:
                history.append(message("tool", [tool_response("x", call_id)]))
    return spans.spans


@given(
    turns=st.lists(st.integers(0, 2), min_size=1, max_size=5),
    recorded=st.sets(st.integers(0, 14), min_size=1),
)
def test_no_message_of_a_chat_is_lost_whichever_calls_are_recorded(
    turns: list[int], recorded: set[int]
) -> None:
    assert missing(chat_spans(turns, recorded)) == set()


@given(turns=st.lists(st.integers(0, 2), min_size=1, max_size=6))
def test_each_turn_of_a_whole_chat_is_one_run_of_one_session(turns: list[int]) -> None:
    traces = [item.trace.to_dict() for item in rebuild(chat_spans(turns, {*range(99)}))]
    assert [(trace["input"], trace["output"]) for trace in traces] == [
        (f"question {turn}", f"answer {turn}") for turn in range(len(turns))
    ]
    assert [trace["metrics"]["tool_call_count"] for trace in traces] == turns
    assert len({trace.get("session_id") for trace in traces}) == 1
    assert ("session_id" in traces[0]) == (len(turns) > 1)


def test_turns_that_continue_a_response_are_one_session() -> None:
    spans = Collected()
    for turn, previous in enumerate([None, "resp_0"]):
        spans.add(
            Inference(
                provider="p",
                input=[message("user", [text(f"question {turn}")])],
                output=[message("assistant", [text(f"answer {turn}")])],
                response_id=f"resp_{turn}",
                previous_response_id=previous,
            ),
            trace=turn + 1,
        )
    one, other = (item.trace.to_dict() for item in rebuild(spans.spans))
    assert (one["input"], other["input"]) == ("question 0", "question 1")
    assert one["session_id"] == other["session_id"]
