"""Concurrent questions: their order, waiting, and the end."""

from __future__ import annotations

import asyncio
import gc
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel import ReasoningTrace, evaluate
from agentool_otel.errors import EvaluationError
from agentool_otel.evaluation.assertions.output_property import OutputProperty
from agentool_otel.evaluation.judges.asking import JudgePool
from agentool_otel.reading.rebuild.trace import Rebuilt
from agentool_otel.testing.loopback_model import LoopbackModel, Turn
from tests.evaluation.judges import (
    POLITE,
    RUBRIC,
    answering,
    asked,
    model_judge,
    trace,
    verdict,
    words,
)
from tests.evaluation.test_spans import rebuilt, spans_of

STATUS = {"type": "status"}
LONG_S = 20.0


def traces(count: int) -> list[ReasoningTrace]:
    return [trace(trace_id=f"tr_{n}", output=str(n)) for n in range(count)]


def threads() -> list[str]:
    return [item.name for item in threading.enumerate() if item.name.startswith("agentool-judge")]


@pytest.fixture(autouse=True)
def nothing_is_left() -> Iterator[None]:
    yield
    assert threads() == []


class Judge:
    """Answers by the output of the run, at its own pace."""

    model = "scripted"

    def __init__(self, concurrency: int = 4, pauses: list[int] | None = None):
        self.concurrency = concurrency
        self._pauses = pauses or [0]
        self.most = self._now = 0

    async def __call__(self, question: Any) -> dict[str, Any]:
        number = int(question.output)
        self._now += 1
        self.most = max(self.most, self._now)
        for _ in range(self._pauses[number % len(self._pauses)]):
            await asyncio.sleep(0)
        self._now -= 1
        return {"score": (number % 11) / 10, "reason": f"it is {number}"}


@settings(max_examples=15)
@given(st.integers(1, 8), st.lists(st.integers(0, 30), min_size=1, max_size=8), st.integers(0, 60))
def test_results_do_not_depend_on_the_number_of_concurrent_questions(
    concurrency: int, pauses: list[int], count: int
) -> None:
    contents = [POLITE, STATUS, RUBRIC]
    judge = Judge(concurrency, pauses)
    expected = words(evaluate(contents, traces(count), Judge(1)))
    assert words(evaluate(contents, traces(count), judge)) == expected
    assert [item["trace_id"] for item in expected] == [f"tr_{n}" for n in range(count)]
    assert judge.most <= concurrency


def test_what_needs_no_judge_never_waits_for_one() -> None:
    second_was_read = threading.Event()

    def source() -> Iterator[ReasoningTrace]:
        yield trace(trace_id="first")
        second_was_read.set()
        yield trace(trace_id="second")

    results = evaluate([POLITE, STATUS], source(), lambda _: second_was_read.wait(LONG_S))
    assert [(result.trace_id, result.passed) for result in results] == [
        ("first", True),
        ("second", True),
    ]


def test_few_traces_wait_for_a_slow_judge() -> None:
    read: list[int] = []
    counts: list[int] = []
    runs = [
        rebuilt(spans_of(trace(trace_id=f"{n + 1:032x}", output=str(n)).to_dict()))
        for n in range(100)
    ]

    def source() -> Iterator[Rebuilt]:
        for n, run in enumerate(runs):
            read.append(n)
            yield run

    def judge(question: Any) -> bool:
        if question.output == "0":
            until = time.monotonic() + LONG_S
            while len(read) < 33 and time.monotonic() < until:
                time.sleep(0.001)
            time.sleep(0.02)  # for more to come, if more would
            counts.append(len(read))
        return True

    assert len(list(evaluate(POLITE, source(), judge))) == 100
    assert counts == [33]


def test_callables_run_concurrently_in_threads() -> None:
    together = threading.Barrier(4, timeout=LONG_S)

    def judge(question: Any) -> bool:
        together.wait()
        return True

    assert all(item.passed for item in evaluate(POLITE, traces(8), judge))


# ------------------------------------------------------------------------------- closing early


def test_closing_early_drops_unanswered_questions(model: LoopbackModel) -> None:
    answering(model, lambda text: verdict() if '"0"' in text else Turn(delay_s=60))
    results = evaluate(POLITE, traces(50), model_judge(model, timeout_s=60))
    first = next(results)
    assert first.trace_id == "tr_0"
    results.close()
    assert threads() == []
    assert len(model.requests) < 10


def test_closing_early_waits_for_a_callable_in_progress() -> None:
    over = threading.Event()
    called: list[Any] = []

    def judge(question: Any) -> bool:
        called.append(question)
        return question.output == "0" or over.wait(LONG_S)

    results = evaluate(POLITE, traces(50), judge)
    assert next(results).passed is True
    over.set()
    results.close()
    assert threads() == []
    assert len(called) < 50


def test_dropping_the_results_ends_the_judges_thread_too(model: LoopbackModel) -> None:
    answering(model, lambda text: verdict() if '"0"' in text else Turn(delay_s=60))
    results = evaluate(POLITE, traces(50), model_judge(model, timeout_s=60))
    next(results)
    del results
    gc.collect()
    assert threads() == []


def test_results_may_be_closed_from_the_judges_own_thread() -> None:
    contents: dict[str, Any] = {}

    async def judge(question: Any) -> bool:
        if question.output == "1":
            contents["closing"] = contents.pop("asking").close()
        return True

    asking = contents["asking"] = JudgePool(judge)
    for n in range(2):
        promised = asking.ask(OutputProperty(property="x"), asked(POLITE, output=str(n)))
        assert promised.result(LONG_S).passed is True
    until = time.monotonic() + LONG_S
    while threads() and time.monotonic() < until:
        time.sleep(0.001)
    assert contents == {"closing": None}


def test_an_error_of_the_trace_source_reaches_the_caller() -> None:
    def source() -> Iterator[ReasoningTrace]:
        yield from traces(1)
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        list(evaluate(POLITE, source(), Judge()))


# ------------------------------------------------------------------------------- hanging


class Hanging:
    """A callable that does not return before the test is over."""

    concurrency = 1
    deadline_s = 0.02

    def __init__(self) -> None:
        self.over = threading.Event()
        self.asked = 0

    def __call__(self, question: Any) -> bool:
        self.asked += 1
        return self.over.wait(LONG_S)


def test_a_callable_that_never_answers_is_called_once() -> None:
    judge = Hanging()
    results = []
    for result in evaluate([POLITE, STATUS], traces(12), judge):
        results.append(result)
        judge.over.set()
    reasons = [str(result.assertion_results[0].reason) for result in results]
    assert reasons[0] == "the judge gave no answer in 0.02 s"
    assert (
        reasons[-1]
        == "the judge timed out once, and had never answered; no more questions were sent"
    )
    assert judge.asked == 1


class HangingLater(Hanging):
    """A callable that answers once."""

    def __call__(self, question: Any) -> bool:
        return super().__call__(question) if question.output != "0" else True


def test_a_hanging_judge_is_abandoned_after_five_timeouts() -> None:
    judge = HangingLater()
    results = []
    for result in evaluate([POLITE, STATUS], traces(12), judge):
        results.append(result)
        if len(results) == 11:
            judge.over.set()
    reasons = [str(result.assertion_results[0].reason) for result in results]
    assert reasons[1] == "the judge gave no answer in 0.02 s"
    assert reasons[-1] == "the judge timed out 5 times in a row; no more questions were sent"
    assert [result.assertion_results[1].passed for result in results] == [True] * 12
    assert judge.asked == 5


def test_a_judge_that_fails_to_open_costs_no_other_verdict() -> None:
    class Broken(Judge):
        def open_session(self) -> Any:
            raise TypeError("the client does not fit")

    (result,) = evaluate([POLITE, STATUS], [trace()], Broken())
    first, second = result.assertion_results
    assert (first.passed, second.passed) == (None, True)
    assert first.reason == "the judge cannot be reached: the client does not fit"


# ------------------------------------------------------------------------------- no judge


def test_without_a_judge_nothing_is_started_and_nothing_connects(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-somebodys")

    def never(*_: object, **__: object) -> None:
        raise AssertionError("this was not asked for")

    monkeypatch.setattr(threading.Thread, "start", never)
    monkeypatch.setattr(socket.socket, "connect", never)
    (result,) = evaluate([POLITE, STATUS], [trace()])
    assert [assertion_result.passed for assertion_result in result.assertion_results] == [
        None,
        True,
    ]
    assert result.to_dict().get("judge_model") is None
    (result,) = evaluate(STATUS, [trace()], Judge())
    assert result.passed is True
    assert result.to_dict().get("judge_model") is None


def test_a_judge_has_to_be_callable() -> None:
    with pytest.raises(EvaluationError, match="a judge is called with a question; str cannot be"):
        evaluate(POLITE, [], "gpt-4o-mini")  # type: ignore[arg-type]
