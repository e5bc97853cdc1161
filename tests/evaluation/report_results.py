"""Results and runs for the tests of reports, and a report of them."""

from __future__ import annotations

import io
from typing import Any

from hypothesis import strategies as st

from agentool_otel import AssertionResult, EvalResult, ReasoningTrace
from agentool_otel.evaluation.reports import Report, Subject
from agentool_otel.evaluation.reports.junit import JUnit

__all__ = ["OUTCOMES", "TRACE", "about", "held", "result", "saying", "scored", "texts", "written"]

OUTCOMES = (False, None, True)
TRACE = Subject(ReasoningTrace(trace_id="tr_1", agent_id="researcher", steps=[]))
HOSTILE = (
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}", "`", "``` ` ",
    "</details>", "| a | b |\n| --- |", "@octocat #1 https://x.example a@b.example :+1:", "&lt;",
    "]]>", "\x00\x1b[31m", "\ud800", "\u202etxt", "-->", "[x](javascript:alert(1))", "\\`|", "",
    "</style>", "</li>\n\n# heading", "    code", "~~~", "<!--", "\u2028", "*_~", "' onload='x",
)  # fmt: skip
texts = st.text(max_size=20) | st.sampled_from(HOSTILE)


def held(passed: bool | None, kind: str = "status", reason: str = "why") -> AssertionResult:
    return AssertionResult(
        assertion_type=kind, passed=passed, reason=reason, extra={"step_ids": ["step_001"]}
    )


def scored(passed: bool, score: float) -> AssertionResult:
    return AssertionResult(assertion_type="rubric", passed=passed, score=score)


def result(passed: bool | None, *results: AssertionResult, **members: Any) -> EvalResult:
    return EvalResult(
        case_id=members.pop("case_id", "case"),
        trace_id=members.pop("trace_id", "tr_1"),
        passed=passed,
        assertion_results=list(results) or [held(passed)],
        **members,
    )


def written(make: Any, *results: EvalResult, subject: Subject = TRACE) -> str:
    stream = io.BytesIO()
    report: Report = make(stream) if make is JUnit else make(stream, "agent")
    for each in results:
        report.add(each, subject)
    report.finish()
    return stream.getvalue().decode()


def saying(text: str) -> list[EvalResult]:
    """Return one result of each outcome, with a text in every field for texts."""
    difference = {"name": text, "expected": text, "actual": text, "step_id": text}
    extra = {
        "step_ids": [text, text + text],
        "failing_step_ids": [text],
        "differences": [difference],
    }
    return [
        result(
            passed,
            *(
                AssertionResult(assertion_type=text, passed=outcome, reason=text, extra=extra)
                for outcome in OUTCOMES
            ),
            case_id=text,
            trace_id=text,
            evaluated_at=text,
        )
        for passed in OUTCOMES
    ]


def about(text: str) -> Subject:
    texts = {"model": text, "tags": [text]}
    call = {"id": "c", "name": text, "arguments": {text: text}}
    steps = [
        {"step_id": text, "type": "reasoning", "content": text},
        {"step_id": "s2", "type": "tool_call", "tool_call": call},
        {"step_id": "s3", "type": "tool_result", "tool_result": {"call_id": "c", "error": text}},
        {"step_id": "s4", "type": "handoff", "to_agent": text, "message": text},
    ]
    trace = ReasoningTrace.from_dict(
        {
            "trace_id": text,
            "agent_id": text,
            "started_at": text,
            "metadata": texts,
            "input": text,
            "output": {text: text},
            "steps": steps,
            "status": "success",
        }
    )
    return Subject(trace)
