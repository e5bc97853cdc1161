"""A judge that is a model: endpoint, timeout and number of calls."""

from __future__ import annotations

import asyncio
import math
import re
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from agentool_otel import evaluate
from agentool_otel.errors import ConfigurationError
from agentool_otel.evaluation import OpenAIJudge
from agentool_otel.evaluation.judges import endpoint
from agentool_otel.testing.loopback_model import LoopbackModel, Turn
from tests.evaluation.judges import POLITE, RUBRIC, asked, judged, model_judge, trace, verdict

MANY = [trace(trace_id=f"tr_{n}", output=str(n)) for n in range(20)]


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """The seconds that were to be waited before another try."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(endpoint, "sleep", sleep)
    yield waited
    assert not [item for item in threading.enumerate() if item.name.startswith("agentool-judge")]


# ----------------------------------------------------------------------------- redirects


@pytest.mark.parametrize("status", [300, 301, 302, 303, 307, 308])
@pytest.mark.parametrize("scheme", ["http://me:hunter22hunter@", "//"])
def test_a_redirect_is_not_followed_and_its_host_is_named(
    model: LoopbackModel, monkeypatch: pytest.MonkeyPatch, status: int, scheme: str
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-mine")
    with LoopbackModel() as loopback_model:
        host = loopback_model.root_url.removeprefix("http://").replace("127.0.0.1", "localhost")
        location = f"{scheme}{host}/v1/chat/completions?a=b"
        model.rule(lambda request: Turn(status=status, error="-", headers={"location": location}))
        results = list(evaluate([POLITE, RUBRIC], MANY, model_judge(model)))
        assert loopback_model.requests == []
    reasons = {
        str(assertion_result.reason)
        for result in results
        for assertion_result in result.assertion_results
    }
    assert len(model.requests) == 1
    (reason,) = reasons
    assert f"redirects to {host} (HTTP {status})" in reason
    assert "hunter22" not in reason


@pytest.mark.parametrize(
    "location", ["", "http://[", "/v1/elsewhere", "http://x\x7fy/", "a" * 9_000]
)
def test_a_redirect_that_names_no_host_is_not_followed_either(
    model: LoopbackModel, location: str
) -> None:
    model.rule(lambda request: Turn(status=302, error="-", headers={"location": location}))
    value = judged(POLITE, model_judge(model))
    assert value.passed is None
    # httpx2 before 2.16 raises where it cannot read the location, which it would not follow anyway:
    # the client takes that for a lost connection, and asks the same endpoint again.
    is_read = "(HTTP 302)" in str(value.reason)
    assert is_read or "location header" in str(value.reason)
    assert len(str(value.reason)) < 500
    assert len(model.requests) == (1 if is_read else 3)


# ----------------------------------------------------------------------------- silence


def test_a_judge_that_never_answers_is_asked_one_question(
    model: LoopbackModel, waits: list[float], caplog: pytest.LogCaptureFixture
) -> None:
    model.rule(lambda request: Turn(delay_s=60))
    judge = model_judge(model, timeout_s=0.2)
    results = list(evaluate([POLITE, RUBRIC, {"type": "status"}], MANY, judge))
    assert len(model.requests) == 1
    assert waits == []
    assert [assertion_result.passed for assertion_result in results[0].assertion_results] == [
        None,
        None,
        True,
    ]
    reason = str(results[-1].assertion_results[0].reason)
    assert (
        "gave no answer in 0.2 s; it has never answered, and no more questions were sent" in reason
    )
    assert "--judge-timeout" in reason
    assert caplog.text.count("no more questions are sent") == 1
    assert (judge.usage.calls, judge.usage.answers, judge.usage.timeouts) == (1, 0, 1)


def test_a_server_with_a_fault_is_given_up_within_seconds(
    model: LoopbackModel, waits: list[float]
) -> None:
    model.rule(lambda request: Turn(status=500))
    results = list(evaluate(POLITE, MANY, model_judge(model, concurrency=1)))
    assert "no more questions were sent after 5 in a row" in str(
        results[-1].assertion_results[0].reason
    )
    assert len(model.requests) == 5 * 4
    assert max(waits) <= 5


def test_a_judge_that_has_answered_outlives_a_silent_question(model: LoopbackModel) -> None:
    silent = {"3", "7"}

    def answer(request: Any) -> Turn | str:
        (last,) = re.findall(r'^{"output":"(.*)"}$', request.last_user, re.MULTILINE)
        return Turn(delay_s=60) if last in silent else verdict()

    model.rule(answer)
    results = list(evaluate(POLITE, MANY, model_judge(model, timeout_s=0.3, concurrency=2)))
    assert [result.passed for result in results] == [
        None if n in (3, 7) else True for n in range(20)
    ]


# ----------------------------------------------------------------------------- the budget


@pytest.mark.parametrize("limit", [1, 2, 7])
@pytest.mark.parametrize("concurrency", [1, 4])
def test_no_call_is_made_beyond_the_limit(
    model: LoopbackModel, limit: int, concurrency: int
) -> None:
    model.rule(lambda request: verdict())
    judge = model_judge(model, max_calls=limit, concurrency=concurrency)
    results = list(evaluate(POLITE, MANY, judge))
    assert len(model.requests) == judge.usage.calls == limit
    assert [result.passed for result in results].count(True) == limit
    reason = str(results[-1].assertion_results[0].reason)
    calls = "1 call" if limit == 1 else f"{limit} calls"
    assert f"the limit of {calls} of the judge is reached" in reason


def test_retries_and_other_forms_are_calls_too(model: LoopbackModel) -> None:
    model.push(Turn(status=429), Turn(status=400, error="response_format"), "no JSON", verdict())
    judge = model_judge(model, max_calls=3)
    assert "the limit of 3 calls" in str(judged(POLITE, judge).reason)
    assert len(model.requests) == 3


def test_an_answer_in_the_cache_takes_no_call(model: LoopbackModel, tmp_path: Any) -> None:
    model.rule(lambda request: verdict())
    options = {"cache": tmp_path, "max_calls": 20}
    list(evaluate(POLITE, MANY, model_judge(model, **options)))
    again = model_judge(model, cache=tmp_path, max_calls=1)
    assert all(item.passed for item in evaluate(POLITE, MANY, again))
    assert (again.usage.calls, again.usage.kept) == (0, 20)


@pytest.mark.parametrize(
    "options",
    [
        {"timeout_s": 0},
        {"timeout_s": -1},
        {"timeout_s": math.nan},
        {"timeout_s": math.inf},
        {"concurrency": 0},
        {"max_calls": 0},
    ],
)
def test_a_limit_out_of_range_is_an_error(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        OpenAIJudge("judge-1", "http://127.0.0.1:1/v1", cache=None, **options)


def test_a_judge_calls_back_when_its_usage_changes(model: LoopbackModel) -> None:
    model.rule(lambda request: verdict())
    judge = model_judge(model)
    used = judge.usage
    counts: list[tuple[int, int, int]] = []
    used.changed = lambda: counts.append((used.waiting, used.calls, used.answers))
    asyncio.run(judge(asked(POLITE)))
    assert counts == [(1, 0, 0), (1, 1, 0), (0, 1, 1)]
