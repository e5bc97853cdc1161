"""A judge that is a model: its requests, and answers of good and bad servers."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from agentool_otel import evaluate
from agentool_otel.errors import ConfigurationError, MissingDependencyError
from agentool_otel.evaluation import NoVerdict, OpenAIJudge
from agentool_otel.evaluation.judges import endpoint
from agentool_otel.evaluation.judges.usage import JudgeUsage
from agentool_otel.testing.loopback_model import LoopbackModel, Turn
from tests.conftest import Spans
from tests.evaluation.judges import (
    GROUNDED,
    POLITE,
    RUBRIC,
    answering,
    asked,
    claims,
    judged,
    model_judge,
    trace,
    verdict,
)
from tests.evaluation.runs import Object

GOOD = verdict()


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """The seconds that were to be waited before another try."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(endpoint, "sleep", sleep)
    yield waited
    assert not [item for item in threading.enumerate() if item.name.startswith("agentool-judge")]


def refusing(message: str, status: int = 400, **members: Any) -> Turn:
    return Turn(status=status, error=message, **members)


def test_a_verdict_is_asked_for_by_schema_at_temperature_0(model: LoopbackModel) -> None:
    model.push(verdict(True, 0.9, reason="says please", step_ids=["step_002"]))
    value = judged(RUBRIC, model_judge(model))
    assert (value.passed, value.score, value.reason) == (True, 0.9, "says please")
    assert value.extra == {"step_ids": ["step_002"], "judge_model": "judge-1"}
    (request,) = model.requests
    assert (request.model, request.body["temperature"]) == ("judge-1", 0)
    form = request.body["response_format"]
    assert (form["type"], form["json_schema"]["strict"]) == ("json_schema", True)
    assert list(form["json_schema"]["schema"]["properties"]) == [
        "reason",
        "step_ids",
        "score",
        "passed",
    ]
    assert [message["role"] for message in request.messages] == ["system", "user"]


def test_claims_are_asked_for_one_by_one(model: LoopbackModel) -> None:
    model.push(json.dumps(claims(("a", "supported", ["step_002"]), reason="all there")))
    value = judged(GROUNDED, model_judge(model))
    assert (value.passed, value.score, value.reason) == (True, 1.0, "all there")
    schema = model.requests[0].schema
    assert schema is not None
    assert schema["properties"]["claims"]["items"]["properties"]["verdict"]["enum"] == [
        "supported",
        "contradicted",
        "not_supported",
    ]


@pytest.mark.parametrize(
    "text", [GOOD, f"```json\n{GOOD}\n```", f"<think>\nhm {{}}\n</think>\n{GOOD}", f"\n {GOOD}\n"]
)
def test_an_answer_may_be_wrapped_as_models_do(model: LoopbackModel, text: str) -> None:
    model.push(text)
    assert judged(POLITE, model_judge(model)).passed is True


# -------------------------------------------------------------------- forms that are not taken


def forms(model: LoopbackModel) -> list[tuple[str | None, bool]]:
    return [
        (request.option("response_format").get("type"), "temperature" in request.body)
        for request in model.requests
    ]


def test_a_server_without_schemas_gets_simpler_requests(
    model: LoopbackModel,
) -> None:
    model.push(
        refusing("response_format json_schema is not supported"),
        refusing("'response_format.type' must be text", status=422),
        GOOD,
        GOOD,
    )
    results = list(evaluate([POLITE, RUBRIC], [trace()], model_judge(model)))
    assert results[0].passed is True
    remembered = (None, True)
    assert forms(model) == [("json_schema", True), ("json_object", True), *[remembered] * 2]


def test_a_model_that_refuses_a_temperature_is_asked_without(model: LoopbackModel) -> None:
    model.push(refusing("Unsupported value: 'temperature' does not support 0"), GOOD, GOOD)
    (result,) = evaluate([POLITE, RUBRIC], [trace()], model_judge(model))
    assert result.passed is True
    assert forms(model) == [("json_schema", True), *[("json_schema", False)] * 2]


def test_after_an_unexplained_refusal_plainer_requests_are_tried(model: LoopbackModel) -> None:
    model.push(*[refusing("Bad Request")] * 3, GOOD)
    assert judged(POLITE, model_judge(model)).passed is True
    assert forms(model)[-1] == (None, False)


def test_after_one_success_a_refusal_concerns_the_question(
    model: LoopbackModel,
) -> None:
    model.push(GOOD, refusing("Bad Request"))
    (result,) = evaluate([POLITE, RUBRIC], [trace()], model_judge(model))
    first, second = result.assertion_results
    assert (first.passed, second.passed) == (True, None)
    assert "answers HTTP 400: Bad Request" in str(second.reason)
    assert len(model.requests) == 2


def test_extra_parameters_are_sent(model: LoopbackModel) -> None:
    model.push(GOOD)
    judged(POLITE, model_judge(model, parameters={"seed": 7, "temperature": 1}))
    assert (model.requests[0].body["seed"], model.requests[0].body["temperature"]) == (7, 1)


# ------------------------------------------------------------------------------- no verdicts


NO_VERDICT: list[tuple[list[Turn | str], str, int]] = [
    (["Yes, it is polite."] * 2, "could not be read, twice: expected a JSON object and", 2),
    ([f"{GOOD} {GOOD}"] * 2, "a JSON object and nothing else", 2),
    (["[true]"] * 2, "expected a JSON object, got [true]", 2),
    (['{"verdict": true}'] * 2, "expected a member 'passed'", 2),
    ([verdict(score=9)] * 2, "expected a score from 0 to 1, got 9.0", 2),
    ([""] * 2, "could not be read, twice", 2),
    (['{"passed": tr'] * 2, "could not be read, twice", 2),
    (
        [verdict(step_ids=["step_77"])],
        'void: it rests on steps that it was not shown: "step_77"',
        1,
    ),
    ([verdict(None, None)], "the judge could not decide: because", 1),
    ([Turn(text="I must not", stop="refusal")], "the judge refuses: I must not", 1),
    ([Turn(text="I", stop="content_filter")], "the judge refuses: its content filter", 1),
    ([refusing("no", status=401)], "refuses the key (HTTP 401)", 1),
    ([refusing("no", status=403)], "does not let this key in (HTTP 403)", 1),
    ([refusing("no", status=404)], "knows no model 'judge-1' (HTTP 404)", 1),
    ([refusing("too long", status=413)], "answers HTTP 413: too long", 1),
    ([Turn(text="{", stop="length")], "cut off at its limit of tokens", 1),
    ([refusing("slow down", status=429)] * 7, "answers HTTP 429: slow down", 7),
    ([refusing("oh", status=500)] * 7, "answers HTTP 500: oh", 4),
    ([refusing("oh", status=503)] * 7, "answers HTTP 503: oh", 4),
    ([Turn(malformed=True)] * 3, "gave no answer", 3),
    ([Turn(cut_after=0)] * 3, "gave no answer", 3),
]


@pytest.mark.parametrize(("turns", "reason", "calls"), NO_VERDICT)
def test_an_unusable_answer_is_not_evaluated_with_the_reason(
    model: LoopbackModel, turns: list[Turn | str], reason: str, calls: int
) -> None:
    model.push(*turns)
    value = judged(POLITE, model_judge(model))
    assert (value.passed, value.to_dict().get("score")) == (None, None)
    assert reason in str(value.reason)
    assert len(model.requests) == calls


def test_an_unreadable_answer_is_asked_for_a_second_time(model: LoopbackModel) -> None:
    model.push("Yes! passed: true", GOOD)
    assert judged(POLITE, model_judge(model)).passed is True
    assert "passed: true" not in model.requests[1].last_user


def test_a_hanging_judge_is_abandoned_and_everything_else_is_delivered(
    model: LoopbackModel,
) -> None:
    answering(model, lambda text: Turn(delay_s=60) if "reads a page" in text else GOOD)
    judge = model_judge(model, timeout_s=0.2, retries=1)
    contents = [POLITE, RUBRIC, {"type": "status"}]
    (result,) = evaluate(contents, [trace()], judge)
    assert [assertion_result.passed for assertion_result in result.assertion_results] == [
        True,
        None,
        True,
    ]
    assert "gave no answer in 0.2 s" in str(result.assertion_results[1].reason)


class _Dripping(BaseHTTPRequestHandler):
    """Sends a space every 20 ms, which is JSON so far, until nobody listens."""

    def do_POST(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.end_headers()
        with suppress(OSError):
            for _ in range(500):
                self.wfile.write(b" ")
                time.sleep(0.02)

    def log_message(self, format: str, *args: Any) -> None:
        """Stay silent."""


def test_a_server_that_trickles_its_answer_is_abandoned_too() -> None:
    """The client's own timeout starts anew with each byte; a call of ours has one for all."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Dripping) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/v1"
        judge = OpenAIJudge("judge-1", url, cache=None, timeout_s=0.3, retries=0)
        value = judged(POLITE, judge)
        server.shutdown()
    assert "gave no answer in 0.3 s" in str(value.reason)


@pytest.mark.parametrize("wait", ["7", "0.25"])
def test_a_request_to_wait_is_obeyed(model: LoopbackModel, waits: list[float], wait: str) -> None:
    model.push(refusing("slow", status=429, headers={"retry-after": wait}), GOOD)
    assert judged(POLITE, model_judge(model)).passed is True
    assert waits == [float(wait)]


@pytest.mark.parametrize(
    ("wait", "words"),
    [("3600", "asks to wait 3,600 s"), ("Fri, 01 Jan 2100 00:00:00 GMT", "asks to wait ")],
)
def test_a_request_to_wait_too_long_ends_the_question(
    model: LoopbackModel, waits: list[float], wait: str, words: str
) -> None:
    model.push(refusing("slow", status=429, headers={"retry-after": wait}))
    value = judged(POLITE, model_judge(model))
    assert words in str(value.reason)
    assert waits == []


def test_without_a_requested_wait_the_waits_get_longer(
    model: LoopbackModel, waits: list[float]
) -> None:
    model.push(*[refusing("slow", status=429)] * 6, GOOD)
    assert judged(POLITE, model_judge(model)).passed is True
    assert waits == sorted(waits)
    assert len(waits) == 6
    assert max(waits) <= 60 < sum(waits) * 1.4, "a limit of calls in a minute is outlasted"


@pytest.mark.parametrize("status", [401, 403, 404])
def test_after_a_denial_the_judge_is_asked_only_once(model: LoopbackModel, status: int) -> None:
    answering(model, lambda text: refusing("no", status=status))
    many = [trace(trace_id=f"tr_{n}") for n in range(20)]
    results = list(evaluate([POLITE, RUBRIC], many, model_judge(model)))
    reasons = {
        assertion_result.reason
        for result in results
        for assertion_result in result.assertion_results
    }
    assert len(reasons) == 1
    assert len(model.requests) == 1


def test_a_server_that_is_gone_is_not_asked_forever(waits: list[float]) -> None:
    with LoopbackModel() as gone:
        judge = model_judge(gone, retries=1, concurrency=1)
    many = [trace(trace_id=f"tr_{n}") for n in range(50)]
    results = list(evaluate(POLITE, many, judge))
    assert [result.passed for result in results] == [None] * 50
    assert "never answered, and no more questions were sent" in str(
        results[-1].assertion_results[0].reason
    )
    assert len(waits) == 1


def test_a_key_repeated_by_a_server_is_in_no_reason(model: LoopbackModel) -> None:
    model.push(refusing("bad key sk-secret-123456 given", status=413))
    value = judged(POLITE, model_judge(model, api_key="sk-secret-123456"))
    assert "[masked]" in str(value.reason)
    assert "sk-secret" not in str(value.reason)


# ------------------------------------------------------------------------------- its bookkeeping


def test_the_usage_of_judging_is_counted_apart(model: LoopbackModel) -> None:
    model.push("nonsense", Turn(text=GOOD, input_tokens=10, output_tokens=3))
    model.push(Turn(text=GOOD, input_tokens=100, output_tokens=20))
    judge = model_judge(model)
    (result,) = evaluate([POLITE, RUBRIC], [trace()], judge)
    assert result.judge_model == "judge-1"
    used = judge.usage
    assert (used.calls, used.answers) == (3, 3)
    assert used.input_tokens > 110
    assert used.output_tokens >= 23
    assert used.cost_usd is None, "a server of one's own has no price"


def test_the_price_of_a_model_is_that_of_its_endpoint() -> None:
    pytest.importorskip("genai_prices")

    class Counts:
        prompt_tokens = 1_000_000
        completion_tokens = 0

    used = JudgeUsage()
    used.add(Counts(), "gpt-4o-mini", "https://api.openai.com/v1")
    assert used.cost_usd == 0.15
    used.add(None, "gpt-4o-mini", "https://api.openai.com/v1")
    assert used.cost_usd is None


def test_the_calls_of_a_judge_leave_no_spans(model: LoopbackModel, spans: Spans) -> None:
    from agentool_otel.integrations.openai.instrumentor import OpenAIInstrumentor

    def by_hand(question: Any) -> Any:
        import openai

        with openai.OpenAI(base_url=model.base_url, api_key="none") as client:
            result = client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": question.text}]
            )
        return json.loads(result.choices[0].message.content or "")

    question = asked(POLITE)
    model.push(GOOD, GOOD, GOOD)
    instrumentor = OpenAIInstrumentor()
    instrumentor.instrument()
    try:
        assert judged(POLITE, model_judge(model)).passed is True
        assert judged(POLITE, by_hand).passed is True
        assert spans.finished() == []
        by_hand(question)
        assert spans.only().name == "chat m", "of the agent's own call there is one"
    finally:
        instrumentor.uninstrument()


def test_a_judge_can_be_asked_by_hand(model: LoopbackModel) -> None:
    import asyncio

    model.push(verdict(False, 0.1), refusing("no", status=401))
    judge = model_judge(model)

    async def twice() -> tuple[bool | None, str]:
        answer = await judge(asked(POLITE))
        try:
            await judge(asked(POLITE))
        except NoVerdict as error:
            return answer.passed, str(error)
        return answer.passed, ""

    passed, error = asyncio.run(twice())
    assert passed is False
    assert "refuses the key" in error


# ------------------------------------------------------------------------------- making one


@pytest.mark.parametrize("variables", [{}, {"OPENAI_API_KEY": ""}])
def test_a_judge_without_a_key_and_without_an_endpoint_is_an_error(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]
) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(ConfigurationError, match="set OPENAI_API_KEY, or name the base URL"):
        OpenAIJudge("judge-1", cache=None)


def test_a_missing_library_is_reported_with_the_command_that_installs_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "openai", None)
    with pytest.raises(MissingDependencyError, match=r"pip install .*\[judge\]"):
        OpenAIJudge("judge-1", "http://127.0.0.1:1", cache=None)


def test_a_password_in_the_endpoint_is_in_no_reason(model: LoopbackModel) -> None:
    model.push(refusing("no", status=401))
    url = model.base_url.replace("://", "://me:secret@")
    obj: Object = judged(POLITE, OpenAIJudge("judge-1", url, "k", cache=None)).to_dict()
    assert "refuses the key" in obj["reason"]
    assert "secret" not in obj["reason"]
