"""Evaluation results and scores of a trace, as lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rich.text import Text

from agentool_otel.cli import _text
from agentool_otel.cli._text import or_none
from agentool_otel.model.documents import AssertionResult, EvalResult
from agentool_otel.reading.rebuild.trace import Rebuilt

__all__ = ["score_lines"]

_SHOWN = 3
"""Number of results shown, the latest ones; four times as many scores."""
_MARKS = {True: ("✓", "green"), False: ("✗", "red"), None: ("-", "yellow")}
_WORDS = {True: "passed", False: "failed", None: "not evaluated"}


def score_lines(rebuilt: Rebuilt, full: bool = False) -> Iterator[Text]:
    """Yield lines with the results and scores of a trace; nothing if it has none.

    Args:
        rebuilt: the trace.
        full: show all results and scores, not only the latest.
    """
    results, scores = rebuilt.results, rebuilt.scores
    if not results and not scores:
        return
    yield Text()
    yield Text("  judged", "dim")
    most = len(results) + len(scores) if full else _SHOWN
    for result in results[-most:]:
        yield from _result(result)
    for score in scores[-4 * most :]:
        yield _score(score)
    hidden = max(0, len(results) - most) + max(0, len(scores) - 4 * most)
    if hidden:
        yield Text(f"  ... and {hidden:,} earlier; --full shows all", "dim")


def _result(result: EvalResult) -> Iterator[Text]:
    value = None if result.passed is None else or_none(result.composite_score)
    yield Text.assemble(
        "  ",
        _outcome(result.passed),
        "  ",
        (_text.line(result.case_id), "bold"),
        f"  {_text.number(value)}" if value is not None else "",
        (f"  {_text.when(or_none(result.evaluated_at))}", "dim"),
    )
    for assertion_result in result.assertion_results:
        yield Text.assemble(
            "    ", _outcome(assertion_result.passed), "  ", *_details(assertion_result)
        )


def _score(score: AssertionResult) -> Text:
    at = (f"  {_text.when(score.extra.get('evaluated_at'))}", "dim")
    label = score.extra.get("label")
    mark = _outcome(score.passed) if score.passed is not None else Text("score".ljust(_WIDTH))
    suffix = f"  {_text.line(label)}" if isinstance(label, str) and score.passed is None else ""
    return Text.assemble("  ", mark, "  ", *_details(score, suffix), at)


def _details(assertion_result: AssertionResult, suffix: str = "") -> Iterator[Any]:
    yield _text.line(assertion_result.assertion_type)
    if assertion_result.score is not None and or_none(assertion_result.score) is not None:
        yield f"  {_text.number(assertion_result.score)}"
    yield suffix
    if isinstance(assertion_result.reason, str):
        yield (f"  {_text.line(assertion_result.reason)}", "dim")


_WIDTH = 2 + max(map(len, _WORDS.values()))


def _outcome(passed: bool | None) -> Text:
    mark, style = _MARKS[passed]
    return Text(f"{mark} {_WORDS[passed]}".ljust(_WIDTH), style)
