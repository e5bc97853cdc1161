"""The questions to a judge, and its answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import msgspec

from agentool_otel.errors import AgentoolError
from agentool_otel.evaluation.judges.masking import mask_credentials

__all__ = [
    "CLAIM_VERDICTS",
    "PASSES_FROM",
    "Answer",
    "Claim",
    "Judge",
    "JudgeUnavailable",
    "NoVerdict",
    "Question",
]

ClaimVerdict = Literal["supported", "contradicted", "not_supported"]
CLAIM_VERDICTS: tuple[str, ...] = ("supported", "contradicted", "not_supported")
PASSES_FROM = 0.5
"""The lowest score of an answer whose criterion holds."""


class Question(msgspec.Struct, frozen=True, kw_only=True):
    """A question about one trace. Credentials in its texts and values are masked, whoever makes it.

    For a model, `instructions` is the system message and `text` the user's; `schema` is the form of
    the answer. A judge without a model has the values themselves in `input` and `output`.
    """

    assertion_type: str
    """The type of the assertion: `output_property`, `rubric`, `no_hallucination` or one's own."""
    criterion: str
    """The criterion, in the words of the case."""
    instructions: str
    """The task, the extent of the data, and the form of the answer."""
    text: str
    """The criterion and the trace, the trace inside a fence that no text in it can close."""
    schema: dict[str, Any]
    """JSON Schema of the answer, in the strict form that `response_format` takes."""
    input: Any = None
    """Input of the agent; None if unknown."""
    output: Any = None
    """The agent's full answer."""
    step_ids: tuple[str, ...] = ()
    """The steps that an answer may name. One that names another is void."""
    shortened: str | None = None
    """Parts of the trace that `text` leaves out because of their length; None if it is complete."""
    hidden: str | None = None
    """Parts of the trace that are masked, truncated or not recorded; None if there are none."""

    def __post_init__(self) -> None:
        clean = {
            "criterion": mask_credentials(self.criterion),
            "instructions": mask_credentials(self.instructions),
            "text": mask_credentials(self.text),
            "input": mask_credentials(self.input),
            "output": mask_credentials(self.output),
            "step_ids": tuple(map(mask_credentials, self.step_ids)),
            "shortened": mask_credentials(self.shortened),
            "hidden": mask_credentials(self.hidden),
        }
        for name, value in clean.items():
            msgspec.structs.force_setattr(self, name, value)


class Claim(msgspec.Struct, frozen=True, kw_only=True):
    """A claim of the output, and whether the evidence supports it."""

    claim: str
    verdict: ClaimVerdict
    step_ids: tuple[str, ...] = ()
    """The evidence; empty where there is none."""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of a judge. With neither `passed` nor `score` it is undecided."""

    passed: bool | None = None
    """Whether the criterion holds; None leaves that to the score."""
    score: float | None = None
    """Degree to which it holds, from 0 to 1. Next to `passed`, it is 0.5 or more exactly if that is
    True.
    """
    reason: str = ""
    step_ids: tuple[str, ...] = ()
    """The steps it rests on."""
    claims: tuple[Claim, ...] | None = None
    """`no_hallucination`: the claims of the output one by one; None if the judge listed none."""


Judge: TypeAlias = Callable[[Question], Any]
"""Takes a `Question` and returns whether the criterion holds: a bool, a score from 0 to 1, an
`Answer` or an object with its members, or an awaitable of one of these. It may raise `NoVerdict`.

It may have `model` (the name that results give), `concurrency` (questions at a time; 4),
`deadline_s` (seconds that a question may take; 300) and `max_chars` (characters of a trace that it
takes; 100,000). One that is no coroutine function is called in several threads. `open_session()`
returns an async context manager, whose value is called in its place while an evaluation lasts.
"""


class NoVerdict(AgentoolError):
    """A judge could not decide; the assertion is not evaluated, with the message as its reason."""


class JudgeUnavailable(NoVerdict):
    """A judge could not be reached.

    Args:
        reason: the reason, as a sentence.
        for_good: whether further questions would fail too, as with a refused key.
        silent: whether there was no response, not even an error.
    """

    def __init__(self, reason: str, *, for_good: bool = False, silent: bool = False):
        super().__init__(reason)
        self.for_good = for_good
        self.silent = silent
