"""Grade the output of a decorated tool's program and the spans that arrived."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks.guest._table import Cell, Outcome, no, partly, yes

__all__ = [
    "HUGE",
    "PAUSE_S",
    "as_cancelled",
    "as_it_was",
    "bounded",
    "covered",
    "ended",
    "exported",
    "harmless",
    "no_context_error",
    "not_swallowed",
    "nothing_lost",
    "parent_kept",
    "stays_a_class",
    "two_spans",
    "unchanged",
    "without_self",
    "yielded",
]

PAUSE_S = 0.05
"""Duration of a tool that its span has to cover."""
HUGE = 20_000_000
"""Characters of an argument that is too large to be recorded as a whole."""


def covered(name: str) -> Callable[[Outcome], Cell]:
    def judge(outcome: Outcome) -> Cell:
        spans = outcome.named(name)
        if not spans:
            return no("span lost")
        long = spans[0].duration_s
        if long < PAUSE_S * 0.9:
            return no(f"ended after {1000 * long:.0f} of {1000 * PAUSE_S:.0f} ms")
        return yes()

    return judge


def parent_kept(outcome: Outcome) -> Cell:
    outer, inner = outcome.named("outer"), outcome.named("inner")
    if not outer or not inner:
        return no("span lost")
    strays = [span for span in inner if span.parent_id != outer[0].span_id]
    return no("parent lost") if strays else yes()


def not_swallowed(outcome: Outcome) -> Cell:
    outer, inner = outcome.named("outer"), outcome.named("inner")
    if not outer or not inner:
        return no("span lost")
    below = [span for span in inner if span.parent_id == outer[0].span_id]
    return no("consumer's spans become its children") if below else yes()


def exported(outcome: Outcome) -> Cell:
    return yes() if outcome.named("rows") else no("span lost")


def no_context_error(outcome: Outcome) -> Cell:
    if "different Context" in outcome.stderr:
        return no("error log")
    return yes()


def yielded(outcome: Outcome) -> Cell:
    spans = outcome.named("rows")
    if not spans:
        return no("span lost")
    results = [text for text in ("alpha-7391", "beta-7391") if spans[0].holds(text)]
    return yes() if len(results) == 2 else no("not recorded")


def nothing_lost(outcome: Outcome) -> Cell:
    lost = outcome.facts
    if not lost:
        return yes()
    return partly(f"{lost[0]} lost") if len(lost) == 1 else no(f"lost: {', '.join(lost)}")


def unchanged(outcome: Outcome) -> Cell:
    if not outcome.facts:
        return yes()
    text = f"changed: {', '.join(outcome.facts)}"
    return partly(text) if len(outcome.facts) == 1 else no(text)


def two_spans(result: Any) -> Callable[[Outcome], Cell]:
    def judge(outcome: Outcome) -> Cell:
        if outcome.facts != result:
            return no(f"gave {outcome.facts!r} instead of {result!r}")
        count = len([span for span in outcome.spans if span.ended])
        return yes() if count == 2 else partly(f"{count} of 2 spans")

    return judge


def stays_a_class(outcome: Outcome) -> Cell:
    if outcome.facts:
        return no("; ".join(outcome.facts))
    return yes() if outcome.spans else partly("but no span")


def without_self(outcome: Outcome) -> Cell:
    spans = outcome.named("opened")
    if not spans:
        return no("span lost")
    if any(span.holds("myself-7391") or span.holds("Box object") for span in spans):
        return no("recorded")
    if not any(span.holds("argument-7391") for span in spans):
        return partly("no argument recorded at all")
    return yes()


def harmless(outcome: Outcome) -> Cell:
    if outcome.facts is not True:
        return no("gave something else")
    return yes() if outcome.named("taking") else no("span lost")


def as_it_was(outcome: Outcome) -> Cell:
    spans = outcome.named("taking")
    if not spans:
        return no("span lost")
    if spans[0].holds("before-7391") and not spans[0].holds("after-7391"):
        return yes()
    return no("as it was after" if spans[0].holds("after-7391") else "not recorded")


def bounded(outcome: Outcome) -> Cell:
    spans = outcome.named("taking")
    if not spans:
        return no("span lost")
    if not any(span.holds("huge-7391") for span in spans):
        return no("dropped silently")
    size = max(span.size for span in spans)
    text = "kept whole" if size >= HUGE else f"cut to {size / 1000:,.0f} kB"
    if outcome.facts > 1:
        return partly(f"{text}, {outcome.facts:.1f} s of the caller's thread")
    return yes(text)


def ended(outcome: Outcome) -> Cell:
    if outcome.facts != ["KeyboardInterrupt", "SystemExit"]:
        return no(f"raised {outcome.facts}")
    spans = [*outcome.named("pressed"), *outcome.named("leaving")]
    if len(spans) != 2:
        return no(f"{2 - len(spans)} of 2 spans lost")
    if any(span.parent_id for span in outcome.named("later")):
        return no("its context leaks")
    status = "/".join(sorted({span.status for span in spans}))
    return partly("says OK") if "OK" in status else yes(status)


def as_cancelled(outcome: Outcome) -> Cell:
    if outcome.facts is not True:
        return no("the task is not cancelled")
    spans = outcome.named("waiting")
    if not spans:
        return no("span lost")
    return no("says OK") if spans[0].status == "OK" else yes(spans[0].status)
