"""Read a judge's answer strictly: one that would have to be guessed is no answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import msgspec

from agentool_otel.content.masking.credentials import mask_text
from agentool_otel.evaluation.check import list_words
from agentool_otel.evaluation.comparing import short
from agentool_otel.evaluation.judges.masking import mask_credentials
from agentool_otel.evaluation.judges.questions import PASSES_FROM, Answer, NoVerdict, Question

__all__ = ["UnreadableAnswer", "read", "read_text"]

_LONGEST = 2_000
"""Characters of a reason that are kept."""


class UnreadableAnswer(NoVerdict):
    """The answer cannot be used; the message has the reason, and quotes it without its
    credentials.
    """


def read_text(text: str, question: Question) -> Answer:
    """Read the answer of a model. Its whole text has to be one JSON object with each member once:
    an object inside other text might be a quotation from the trace.

    Raises:
        UnreadableAnswer: it is none.
        NoVerdict: it names steps that do not exist.
    """
    try:
        value = json.loads(_bare(text), object_pairs_hook=_members)
    except (ValueError, RecursionError):
        raise _unreadable("a JSON object and nothing else", text) from None
    if not isinstance(value, dict):
        raise _unreadable("a JSON object", value)
    missing = [name for name in _needed(question) if name not in value]
    if missing:
        raise _unreadable(f"a member {missing[0]!r}", value)
    return read(value, question)


def read(value: object, question: Question) -> Answer:
    """Read the answer of a callable, and mask the credentials in its words.

    Raises:
        UnreadableAnswer: it is none, or contradicts itself.
        NoVerdict: it names steps that do not exist.
    """
    answer = _answer(value)
    if answer.score is not None and not 0 <= answer.score <= 1:
        raise _unreadable("a score from 0 to 1", answer.score)
    _check_agreement(answer)
    unknown = [name for name in _named(answer) if name not in question.step_ids]
    if unknown:
        raise NoVerdict(
            "the judge's verdict is void: it rests on steps that it was not shown: "
            + list_words(short(mask_text(name)) for name in dict.fromkeys(unknown))
        )
    for n, claim in enumerate(answer.claims or (), 1):
        if claim.verdict != "not_supported" and not claim.step_ids:
            raise UnreadableAnswer(
                f"claim {n} is called {claim.verdict} and names no step: {short(claim.claim)}"
            )
    return answer


def _members(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return the members of a JSON object.

    Raises:
        UnreadableAnswer: one stands twice. Which of the two counts would be a guess.
    """
    members: dict[str, Any] = {}
    for name, value in pairs:
        if name in members:
            raise _unreadable("each member once", [{name: members[name]}, {name: value}])
        members[name] = value
    return members


def _check_agreement(answer: Answer) -> None:
    """Check that the parts of an answer lead to one verdict.

    Raises:
        UnreadableAnswer: they do not.
    """
    if answer.passed is None:
        return
    word = "passed" if answer.passed else "not passed"
    if answer.score is not None and answer.passed != (answer.score >= PASSES_FROM):
        raise UnreadableAnswer(
            f"the answer contradicts itself: {word}, with score {answer.score:g}"
        )
    verdicts = {claim.verdict for claim in answer.claims or ()}
    if answer.passed and "contradicted" in verdicts:
        raise UnreadableAnswer(f"the answer contradicts itself: {word}, with a claim contradicted")
    if not answer.passed and verdicts == {"supported"}:
        raise UnreadableAnswer(f"the answer contradicts itself: {word}, with each claim supported")


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
    reason = mask_text(answer.reason)
    if len(reason) > _LONGEST:
        reason = f"{reason[:_LONGEST]}…"
    claims = answer.claims and tuple(
        msgspec.structs.replace(claim, claim=mask_text(claim.claim)) for claim in answer.claims
    )
    return msgspec.structs.replace(answer, reason=reason, claims=claims)


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
        reason = mask_text(f"{error}: ")
        raise UnreadableAnswer(reason + short(mask_credentials(dict(value)))) from None


def _needed(question: Question) -> list[str]:
    return ["claims"] if "claims" in question.schema.get("required", ()) else ["passed"]


def _named(answer: Answer) -> Iterator[str]:
    yield from answer.step_ids
    for claim in answer.claims or ():
        yield from claim.step_ids


def _unreadable(expected: str, actual: Any) -> UnreadableAnswer:
    return UnreadableAnswer(f"expected {expected}, got {short(_clean(actual))}")


def _clean(actual: Any) -> Any:
    try:
        return mask_credentials(actual)
    except (TypeError, ValueError):  # no JSON: `short` gives its type
        return object()
