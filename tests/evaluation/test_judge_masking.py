"""Credentials go to no judge, and none that a judge or its server repeats reaches a result."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel import evaluate
from agentool_otel.evaluation import Answer, NoVerdict, Question
from agentool_otel.testing.loopback_model import LoopbackModel, Turn
from tests.evaluation.judges import GROUNDED, POLITE, RUBRIC, asked, judged, model_judge, trace
from tests.evaluation.runs import Object
from tests.security.masking_examples import CREDENTIALS, IN_CLEAR, Example, leaks, made

KEY = f"sk-proj-{made(48)}"
EXAMPLES = st.sampled_from(
    [credential for credential in CREDENTIALS if credential.kind not in IN_CLEAR]
)
ASSERTIONS = st.sampled_from([POLITE, RUBRIC, GROUNDED])


def steps(arguments: Any = None, result: Any = "found", content: str = "hm") -> list[Object]:
    call = {"id": "c1", "name": "read", "arguments": arguments or {}}
    return [
        {"step_id": "s1", "type": "reasoning", "content": content},
        {"step_id": "s2", "type": "tool_call", "tool_call": call},
        {
            "step_id": "s3",
            "type": "tool_result",
            "tool_result": {"call_id": "c1", "output": result},
        },
    ]


PLACES: dict[str, Callable[[str], Object]] = {
    "input": lambda text: {"input": text},
    "input object": lambda text: {"input": {"messages": [{"role": "user", "content": text}]}},
    "arguments": lambda text: {"steps": steps(arguments={"q": [text]})},
    "arguments as JSON": lambda text: {"steps": steps(arguments={"q": json.dumps({"note": text})})},
    "result": lambda text: {"steps": steps(result=text)},
    "result object": lambda text: {"steps": steps(result={"rows": [{"note": text}]})},
    "thought": lambda text: {"steps": steps(content=text)},
    "output": lambda text: {"output": text},
}


def whole(question: Question) -> str:
    """Return all that a judge can see of a question, with JSON escapes undone where they hide."""
    members = (question.criterion, question.instructions, question.input, question.output)
    return "\n".join((question.text, question.text.replace("\\\\", "\\"), repr(members)))


@given(EXAMPLES, ASSERTIONS, st.sampled_from(sorted(PLACES)))
def test_no_credential_is_in_a_question(example: Example, assertion: Object, place: str) -> None:
    members = {"steps": steps(), "metrics": ...} | PLACES[place](example.text)
    question = asked(assertion, **members)
    assert not leaks(example, whole(question))


@given(EXAMPLES)
def test_no_credential_is_in_a_question_of_a_plug_in(example: Example) -> None:
    question = Question(
        assertion_type="mine",
        criterion=example.text,
        instructions=example.text,
        text=example.text,
        schema={},
        input=example.text,
        output={"note": example.text},
        hidden=example.text,
    )
    assert not leaks(example, whole(question) + repr(question))


def test_the_judge_gets_masked_text_with_a_note(model: LoopbackModel) -> None:
    model.push('{"reason": "ok", "step_ids": [], "score": 1, "passed": true}')
    run = trace(input=f"my key is {KEY}", metadata={"password": "hunter22hunter"})
    rubric = {"type": "rubric", "rubric": f"keeps {KEY} to itself"}
    list(evaluate(rubric, [run], model_judge(model)))
    sent = json.dumps(model.requests[0].body)
    assert KEY[:12] not in sent
    assert "my key is [masked]" in sent
    assert "credentials are masked" in sent
    assert run.input == f"my key is {KEY}", "the trace itself stays"


def test_a_claim_is_not_refuted_by_evidence_that_was_masked() -> None:
    answer = {"claims": [{"claim": "a", "verdict": "not_supported"}]}
    value = judged(GROUNDED, lambda _: answer, steps=steps(result=f"a {KEY}"), metrics=...)
    assert value.passed is None
    assert "credentials are masked" in str(value.reason)


def test_a_run_without_credentials_is_shown_as_it_is() -> None:
    question = asked(
        RUBRIC, input={"a": [1, "b"]}, steps=steps({"q": 1.5}), output="c", metrics=...
    )
    assert (question.input, question.output, question.hidden) == ({"a": [1, "b"]}, "c", None)


# ------------------------------------------------------------------------- what comes back


def verdict_quoting(words: str) -> str:
    return json.dumps({"reason": words, "step_ids": [], "score": 1, "passed": True})


def status_of(status: int) -> Callable[[str], Turn | str]:
    return lambda words: Turn(status=status, error=words)


BEHIND = [0, 60, 160, 190, 1_990]
"""Characters before a credential: a text is cut after 80, 200 or 2,000."""
RESPONSES: dict[str, Callable[[str], Turn | str]] = {
    **{
        f"HTTP {status}": status_of(status)
        for status in (300, 307, 400, 401, 402, 403, 404, 409, 413, 422, 429, 500, 503)
    },
    "redirect": lambda words: Turn(
        status=307, headers={"location": f"http://{KEY}.local/{KEY}?key={KEY}"}, error="x"
    ),
    "refusal": lambda words: Turn(text=words, stop="refusal"),
    "reason": verdict_quoting,
    "no JSON": lambda words: words,
    "other JSON": lambda words: json.dumps({"verdict": words}),
    "a member twice": lambda words: f'{{"passed": {json.dumps(words)}, "passed": true}}',
    "unknown step": lambda words: json.dumps(
        {"reason": "", "step_ids": [words], "score": 1, "passed": True}
    ),
    "wrong type": lambda words: json.dumps({"passed": words, "score": words}),
}


@pytest.mark.parametrize("behind", BEHIND)
@pytest.mark.parametrize("response", RESPONSES)
def test_no_credential_of_a_server_is_in_a_result(
    model: LoopbackModel, caplog: pytest.LogCaptureFixture, response: str, behind: int
) -> None:
    words = ("quota of it " * 200)[:behind] + f" {KEY} exceeded"
    model.rule(lambda request: RESPONSES[response](words))
    (result,) = evaluate(POLITE, [trace()], model_judge(model, retries=0))
    assert result.assertion_results[0].reason
    assert KEY[:12] not in result.to_json() + caplog.text


def raises(kind: type[Exception], words: str) -> Any:
    raise kind(words)


@pytest.mark.parametrize(
    "judge",
    [
        lambda _: raises(ValueError, f"no luck with {KEY}"),
        lambda _: raises(NoVerdict, f"no luck with {KEY}"),
        lambda _: f"no luck with {KEY}",
        lambda _: Answer(passed=True, reason=f"seen {KEY}"),
        lambda _: {"passed": True, "reason": ("x" * 1_990) + f" {KEY}"},
        lambda _: {"claims": [{"claim": f"it is {KEY}", "verdict": "not_supported"}]},
        lambda _: {"claims": [{"claim": "it is", "verdict": KEY}]},
        lambda _: {"passed": True, "step_ids": [KEY]},
    ],
)
def test_no_credential_of_a_callable_is_in_a_result(judge: Any) -> None:
    run = trace(steps=steps(), metrics=...)
    (result,) = evaluate(GROUNDED, [run], judge)
    assert KEY[:12] not in result.to_json()
