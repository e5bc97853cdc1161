"""What the messages of a call prove, for messages of any shape."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.model.messages import message, text, tool_call, tool_response
from agentool_otel.model.operations import Inference
from agentool_otel.tracing.loops.history import history_of, links_of

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)
PARTS = st.dictionaries(
    st.sampled_from(["type", "id", "name", "arguments", "response", "content"]),
    JSON | st.sampled_from(["text", "tool_call", "tool_call_response"]),
)
MESSAGES = st.lists(
    st.fixed_dictionaries(
        {}, optional={"role": JSON | st.sampled_from(["user", "assistant", "tool"]),
                      "parts": JSON | st.lists(PARTS, max_size=3)}
    ),
    max_size=8,
)  # fmt: skip


@given(messages=MESSAGES, output=MESSAGES)
def test_messages_of_any_shape_are_read(messages: Any, output: Any) -> None:
    history = history_of(Inference(), messages)
    for link in (*history.answers, *links_of(history, Inference(output=output))):
        hash(link)


def user(words: str) -> Any:
    return message("user", [text(words)])


def answer(words: str) -> Any:
    return message("assistant", [text(words)])


@given(before=st.lists(st.text(max_size=3), max_size=30), count=st.integers(0, 30))
def test_the_end_of_a_history_says_what_the_whole_says(before: list[str], count: int) -> None:
    turns: list[Any] = []
    for words in before:
        turns += [user(words), answer(words)]
    tail: list[Any] = []
    for number in range(6):
        tail += [user(f"q{number}"), answer(f"a{number}")]
    long = history_of(Inference(), [*turns, *tail, user("now")])
    short = history_of(Inference(), [*tail, user("now")])
    assert long.answers == short.answers
    assert long.turn == short.turn == [user("now")]
    assert long.question == short.question


def test_an_answer_is_the_same_when_it_is_sent_back() -> None:
    asked = history_of(Inference(), [user("Q")])
    given_back = [answer("  An answer.\n")]
    offered = links_of(asked, Inference(output=given_back))
    later = history_of(Inference(), [user("Q"), answer("An answer."), user("And?")])
    assert set(offered) & set(later.answers)


def test_the_calls_of_an_answer_are_one_however_they_are_sent_back() -> None:
    calls = [tool_call("f", {"a": 1, "b": 2}, "c1"), tool_call("g", {}, "c2")]
    asked = history_of(Inference(), [user("Q")])
    offered = links_of(asked, Inference(output=[message("assistant", [text("Well."), *calls])]))
    apart = [message("assistant", [call]) for call in calls]
    results = [
        message("tool", [tool_response("x", "c1")]),
        message("tool", [tool_response("y", "c2")]),
    ]
    later = history_of(Inference(), [user("Q"), *apart, *results])
    assert set(offered) & set(later.answers)
    assert {*later.results} == {"c1", "c2"}
    assert later.turn == [user("Q")]
