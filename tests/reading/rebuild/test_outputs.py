"""The output of a run: its own, else the last answer, and none where the run failed."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.loading import rebuild
from agentool_otel.model.documents import UNSET
from agentool_otel.model.messages import message, text, tool_call, tool_response
from agentool_otel.model.operations import AgentInvocation, Inference, WorkflowInvocation
from agentool_otel.reading.rebuild.trace import Rebuilt
from agentool_otel.tracing.capture import agent, run, tool
from agentool_otel.tracing.capture.model_calls import model_call
from tests.records import Collected, records

LAST = "output of the last model call"
FAILED = "the run ended with an error"


def answer(words: str | None, error: str | None = None) -> Inference:
    output = None if words is None else [message("assistant", [text(words)])]
    return Inference(provider="p", output=output, error_type=error)


def first(spans: Any) -> tuple[Rebuilt, tuple[str, str | None]]:
    """Return the first run, and the outcome and rule of its output."""
    entry = next(iter(rebuild(spans)))
    notes = [note for note in entry.fidelity.notes if note.field == "output"]
    return entry, (notes[0].outcome, notes[0].rule)


@given(
    kind=st.sampled_from([AgentInvocation, WorkflowInvocation]),
    own=st.none() | st.just("own"),
    error=st.none() | st.sampled_from(["RuntimeError", "timeout", "refusal", "_OTHER"]),
    answers=st.lists(st.none() | st.sampled_from(["one", "two"]), max_size=3),
    nested=st.booleans(),
)
def test_only_a_run_without_an_error_takes_the_last_answer(
    kind: Any, own: str | None, error: str | None, answers: list[str | None], nested: bool
) -> None:
    """With the model calls in the run itself, or in a run inside that fails as well. Where the last
    answer was not captured, an earlier one does not stand in for it."""
    spans = Collected()
    report_text = None if own is None else [message("assistant", [text(own)])]
    root = spans.add(kind(error_type=error, output=report_text), seconds=90)
    parent = spans.add(AgentInvocation(error_type=error), parent=root) if nested else root
    for words in answers:
        spans.add(answer(words), parent=parent)
    result, (outcome, rule) = first(spans.spans)
    output = result.trace.to_dict().get("output")
    inferred = answers[-1] if answers else None
    if own is not None:
        assert (output, outcome, rule) == (own, "kept", None)
    elif error is not None:
        assert (output, outcome, rule) == (None, "not_captured", FAILED)
    else:
        assert output == inferred
        assert outcome == ("not_captured" if inferred is None else "inferred")


@pytest.mark.parametrize("error", [None, "timeout"])
def test_without_a_span_of_its_own_a_run_ends_with_its_last_call(error: str | None) -> None:
    """It failed, or its answer was not captured: the one before is no output."""
    requests = [message("user", [text("x")])]
    texts = [message("assistant", [tool_call("search", {}, "c1")])]
    spans = Collected()
    spans.add(Inference(provider="p", input=requests, output=texts), trace=1)
    again = [*requests, *texts, message("tool", [tool_response("y", "c1")])]
    spans.add(Inference(provider="p", input=again, error_type=error), trace=1)
    [trace] = spans.rebuilt()
    assert trace.get("output") is None


def ask() -> None:
    requests = [{"role": "user", "content": "x"}]
    with model_call("m", messages=requests, provider="openai") as call:
        call.output("Your refund is booked.")


@agent
def returns_nothing() -> None:
    ask()


@agent
async def returns_nothing_later() -> None:
    ask()


@agent
def raises() -> None:
    ask()
    raise RuntimeError("payment failed")


def block_that_raises() -> None:
    with run("bot"):
        raises()


def block_with_a_failed_status() -> None:
    with run("bot") as block:
        ask()
        block.status = "error"


def block() -> None:
    with run("bot"):
        ask()


def tool_around_a_block() -> None:
    tool(block)()


def awaited() -> None:
    asyncio.run(returns_nothing_later())


@pytest.mark.parametrize(
    ("program", "output", "note"),
    [
        (returns_nothing, "null", ("kept", None)),
        (awaited, "null", ("kept", None)),
        (raises, "absent", ("not_captured", FAILED)),
        (block_that_raises, "absent", ("not_captured", FAILED)),
        (block_with_a_failed_status, "absent", ("not_captured", FAILED)),
        (block, "Your refund is booked.", ("inferred", LAST)),
        (tool_around_a_block, "Your refund is booked.", ("inferred", LAST)),
    ],
)
def test_what_a_program_returns_is_the_output(
    spans: Any, program: Any, output: str, note: tuple[str, str | None]
) -> None:
    with suppress(RuntimeError):
        program()
    result, noted = first(records(spans.finished()))
    value = result.trace.output
    assert {None: "null", UNSET: "absent"}.get(value, value) == output
    assert noted == note


def test_without_content_a_run_that_returned_none_has_no_output(spans: Any) -> None:
    spans.without_content()
    returns_nothing()
    assert "agentool.output" not in spans.finished()[-1].attributes
