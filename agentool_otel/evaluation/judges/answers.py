"""Read a judge's answer strictly: one that would have to be guessed is no answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

import msgspec

from agentool_otel.evaluation.check import listed
from agentool_otel.evaluation.comparing import short
from agentool_otel.evaluation.judges.questions import Answer, NoVerdict, Question
from agentool_otel.ground import json_codec

__all__ = ["UnreadableAnswer", "read", "read_text"]

_LONGEST = 2_000
"""Characters of a reason that are kept."""


class UnreadableAnswer(NoVerdict):
    """The answer cannot be used; the message says why, and quotes it."""


def read_text(text: str, question: Question) -> Answer:
    """Read the answer of a model. Its whole text has to be one JSON object: an object inside other
    text might be a quotation from the trace.

    Raises:
        UnreadableAnswer: it is none.
        NoVerdict: it names steps that do not exist.
    """
    try:
        value = json_codec.loads(_bare(text))
    except ValueError:
        raise _unreadable("a JSON object and nothing else", text) from None
    if not isinstance(value, dict):
        raise _unreadable("a JSON object", value)
    missing = [name for name in _needed(question) if name not in value]
    if missing:
        raise _unreadable(f"a member {missing[0]!r}", value)
    return read(value, question)


def read(value: object, question: Question) -> Answer:
    """Read the answer of a callable.

    Raises:
        UnreadableAnswer: it is none.
        NoVerdict: it names steps that do not exist.
    """
    answer = _answer(value)
    if answer.score is not None and not 0 <= answer.score <= 1:
        raise _unreadable("a score from 0 to 1", answer.score)
    unknown = [name for name in _named(answer) if name not in question.step_ids]
    if unknown:
        raise NoVerdict(
            "the judge's verdict is void: it rests on steps that it was not shown: "
            + listed(map(short, dict.fromkeys(unknown)))
        )
    for n, claim in enumerate(answer.claims or (), 1):
        if claim.verdict != "not_supported" and not claim.step_ids:
            raise UnreadableAnswer(
                f"claim {n} is called {claim.verdict} and names no step: {short(claim.claim)}"
            )
    return answer


def _bare(text: str) -> str:
    """Strip the thoughts that some models write before an answer, and a code fence around it."""
    bare = text.strip()
    if bare.startswith("<think>"):
        bare = bare.partition("</think>")[2].strip()
    if bare.startswith("```") and bare.endswith("```"):
        bare = bare[3:-3].removeprefix("json")
    return bare


def _answer(value: object) -> Answer:
    if isinstance(value, Answer):
        answer = value
    elif isinstance(value, bool):
        return Answer(passed=value)
    elif isinstance(value, (int, float)):
        return Answer(score=float(value))
    elif isinstance(value, Mapping):
        answer = _of_object(cast("Mapping[str, Any]", value))
    else:
        raise _unreadable("a bool, a score, an Answer or an object with its members", value)
    if len(answer.reason) > _LONGEST:
        answer = msgspec.structs.replace(answer, reason=f"{answer.reason[:_LONGEST]}…")
    return answer


def _of_object(value: Mapping[str, Any]) -> Answer:
    if not {"passed", "score", "claims"} & value.keys():
        raise _unreadable("a member 'passed', 'score' or 'claims'", dict(value))
    if "passed" in value and value["passed"] is None:
        value = {**value, "score": None}  # said that it cannot tell
    if value.get("reason", "") is None:
        value = {**value, "reason": ""}
    try:
        return msgspec.convert(dict(value), Answer)
    except msgspec.ValidationError as error:
        raise UnreadableAnswer(f"{error}: {short(dict(value))}") from None


def _needed(question: Question) -> list[str]:
    return ["claims"] if "claims" in question.schema.get("required", ()) else ["passed"]


def _named(answer: Answer) -> Iterator[str]:
    yield from answer.step_ids
    for claim in answer.claims or ():
        yield from claim.step_ids


def _unreadable(expected: str, actual: Any) -> UnreadableAnswer:
    return UnreadableAnswer(f"expected {expected}, got {short(actual)}")
