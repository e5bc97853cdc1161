"""The course of a run: handoffs, its end, loops and failing tools."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from itertools import groupby, pairwise
from typing import Annotated

from msgspec import Meta

from agentool_otel.evaluation.assertions._results import (
    error_in,
    hidden_output,
    named_results,
    unknown_endings,
)
from agentool_otel.evaluation.check import Check, Word, count_text, limit_text, list_words, times
from agentool_otel.evaluation.comparing import gap_in, same, short
from agentool_otel.evaluation.trace_view import TO_AGENT, Call, TraceView, or_none
from agentool_otel.evaluation.verdicts import Verdict, failed, not_evaluated, passed
from agentool_otel.model.documents import UNSET, EvalCase
from agentool_otel.model.statuses import STATUSES
from agentool_otel.reading.rebuild.answer_ends import end_text
from agentool_otel.reading.rebuild.endings import error_text

__all__ = ["Finished", "Handoff", "NoLoop", "NoToolError", "StatusIs"]

_NEARLY = 0.85
"""Least similarity of a misspelt status to a known one: `succes` counts, `errored` does not."""


class Handoff(Check, frozen=True, kw_only=True):
    """The agent handed over, to the named agent if one is named."""

    to_agent: Word | None = None
    """The agent that takes over; by default any."""

    def check(self, trace: TraceView, case: EvalCase) -> Verdict:
        handoffs = [
            (step_id, or_none(step.to_agent))
            for step_id, step in trace.steps
            if step.type == "handoff"
        ]
        hidden = {
            step_id
            for step_id, agent in handoffs
            if agent is None or trace.hides(agent, TO_AGENT, step_id)
        }
        good = [
            step_id
            for step_id, agent in handoffs
            if self.to_agent is None or (agent == self.to_agent and step_id not in hidden)
        ]
        to_agent = f" to {self.to_agent}" if self.to_agent else ""
        if good:
            return passed(f"the run handed over{to_agent} at {list_words(good)}", good)
        ids = [step_id for step_id, _ in handoffs]
        if hidden:
            where = list_words(step_id for step_id in ids if step_id in hidden)
            return not_evaluated(f"the agent of the handoff at {where} cannot be seen", ids)
        where = list_words(f"{agent} at {step_id}" for step_id, agent in handoffs)
        reason = f"the run did not hand over{to_agent}"
        if where:
            reason = f"the run handed over to {where}, expected a handoff{to_agent}"
        if unseen := trace.unseen_calls_of("a handoff"):
            return not_evaluated(f"{reason}, but {unseen}", ids)
        return failed(reason, ids)


class StatusIs(Check, frozen=True, kw_only=True):
    """The run ended with a status, or with one of several."""

    status: Word | Annotated[list[Word], Meta(min_length=1)] = "success"
    """One status, or several of which one must hold: success, error, timeout, loop_detected,
    context_overflow, refusal, in_progress, or a word of your own. A word that is nearly one of
    these is a mistake."""

    def __post_init__(self) -> None:
        words = self.status if isinstance(self.status, list) else [self.status]
        for word in words:
            if not isinstance(word, str) or word in STATUSES:
                continue
            if similar := get_close_matches(word.lower(), STATUSES, n=1, cutoff=_NEARLY):
                raise ValueError(f"unknown status {word!r}; did you mean {similar[0]!r}?")

    def check(self, trace: TraceView, case: EvalCase) -> Verdict:
        expected = [self.status] if isinstance(self.status, str) else self.status
        status = or_none(trace.trace.status)
        if status is None:
            return not_evaluated("the trace has no status")
        if trace.status_gap:
            if hidden := gap_in(status):
                return not_evaluated(f"the status {hidden}")
            return not_evaluated(f"{_ending_text(status)}, but {trace.status_gap}")
        if status in expected:
            return passed(_ending_text(status))
        if trace.unfinished:
            return not_evaluated(trace.unfinished)
        words = error_text(trace.metadata.get("error"))
        why = f" ({short(words)})" if words else ""
        wanted = " or ".join(map(short, expected))
        return failed(f"{_ending_text(status)}{why}, expected {wanted}")


class Finished(Check, frozen=True, kw_only=True):
    """Every answer of a model came to its end: none was cut by a limit, ended by a filter, refused
    or broken off.

    A run with an answer without a finish reason, or without a model call, is not evaluated.
    """

    def check(self, trace: TraceView, case: EvalCase) -> Verdict:
        ends = [end for end in trace.answer_ends if end["end"] != "left"]
        if ends:
            first = end_text(ends[0])
            others = f", and {len(ends) - 1} more did not come to their end" if ends[1:] else ""
            which = "the answer" if ends[0].get("is_output") else "an answer"
            return failed(f"{which} {first}{others}")
        if trace.failed_before_answer:
            return failed("there is no answer: the run failed before one")
        if (unknown := trace.unknown_end) is not None:
            return not_evaluated(unknown)
        if (left := trace.output_end) is not None:
            return not_evaluated(left)
        if trace.may_have_failed_before_answer:
            return not_evaluated("the run failed, perhaps before an answer: its output is missing")
        if not trace.shows_answers:
            return not_evaluated("no answer of a model was recorded")
        return passed("no answer was cut, filtered, refused or broken off")


class NoLoop(Check, frozen=True, kw_only=True):
    """No tool was called with equal arguments more than so many times in a row.

    The default of 4 makes the fifth call a loop, as Gemini CLI's own detector has it.
    """

    max_repeats: Annotated[int, Meta(ge=1)] = 4
    """Equal calls in a row that are no loop yet."""

    def check(self, trace: TraceView, case: EvalCase) -> Verdict:
        if or_none(trace.trace.status) == "loop_detected":
            return failed(_ending_text("loop_detected"))
        in_a_row = (list(alike) for _, alike in groupby(trace.calls, key=lambda call: call.name))
        long = [run for run in in_a_row if len(run) > self.max_repeats]
        loops = [run for alike in long for run in _equal(alike) if len(run) > self.max_repeats]
        unseen = trace.unseen_calls
        if unseen and or_none(trace.trace.status) == "in_progress" and not trace.answered_alone:
            unseen = None  # calls that follow end no loop that is there
        if loops and unseen:
            return not_evaluated(f"other calls may lie between the equal ones: {unseen}")
        if loops:
            worst = max(loops, key=len)
            ids = [call.step_id for call in worst]
            reason = f"{worst[0].name} was called {len(worst)} times in a row with equal arguments"
            return failed(
                f"{reason} ({list_words(ids)}); {limit_text(self.max_repeats)}",
                ids,
                failing=ids[self.max_repeats :],
            )
        for run in long:
            if any(map(_unclear, run)):
                ids = [call.step_id for call in run]
                reason = f"{run[0].name} was called {len(run)} times in a row ({list_words(ids)})"
                return not_evaluated(f"{reason} with arguments that cannot all be seen", ids)
        unnamed = [call.step_id for call in trace.calls if call.name_gap is not None]
        if unnamed and len(trace.calls) > self.max_repeats:
            reason = f"the names of the tools called at {list_words(unnamed)} cannot be seen"
            return not_evaluated(reason, unnamed)
        if trace.unseen_calls:
            return not_evaluated(trace.unseen_calls)
        most = times(self.max_repeats)
        return passed(f"no tool was called more than {most} in a row with equal arguments")


class NoToolError(Check, frozen=True, kw_only=True):
    """No tool call ended in an error; with a name, no call of that tool.

    A loop that catches what a tool raises sends the error as a result, such as `{"error": "…"}`.
    """

    tool_name: Word | None = None
    """The tool whose calls count; by default every tool."""
    in_results: bool | None = None
    """Results that look like an error: `true`, they fail the check; `false`, they are ignored. By
    default, a run with one is not evaluated."""

    def check(self, trace: TraceView, case: EvalCase) -> Verdict:
        calls = trace.calls_of(self.tool_name)
        results = named_results(trace, self.tool_name)
        errors = [item for item in results if or_none(item.result.error) is not None]
        if errors:
            words = (f"{name} failed at {at}: {short(item.error)}" for at, item, name in errors)
            where = list_words(words, "; ")
            return failed(where, [at for at, _, _ in errors if at is not None])
        if (unknown := unknown_endings(trace, self.tool_name)) is not None:
            return unknown
        if not calls:
            return passed(
                f"{self.tool_name} was not called" if self.tool_name else "no tool was called"
            )
        ids = [call.step_id for call in calls]
        if self.in_results is False:
            what = "a recorded error; results are not looked at"
            return passed(f"{count_text(len(calls), 'call')} ended without {what}", ids)
        alike = [(item, rule) for item in results if (rule := error_in(item.result)) is not None]
        if alike:
            words = (f"the result of {item.name} at {item.step_id} {rule}" for item, rule in alike)
            where = f"{list_words(words, '; ')}: it looks like an error"
            found = [item.step_id for item, _ in alike if item.step_id is not None]
            return failed(where, found) if self.in_results else not_evaluated(where, found)
        hidden = [item.step_id for item in results if hidden_output(trace, item) is not None]
        if hidden and self.in_results:
            at = [step_id for step_id in hidden if step_id is not None]
            return not_evaluated(f"the result at {list_words(at)} cannot be seen", at)
        seen = "; not all results can be seen" if hidden else ""
        return passed(f"{count_text(len(calls), 'call')} ended without an error{seen}", ids)


def _ending_text(status: str) -> str:
    if status == "in_progress":
        return "the run has not ended"
    return f"the run ended with {short(status)}"


def _equal(calls: list[Call]) -> Iterator[list[Call]]:
    """Yield the calls of a tool that have equal arguments, one after another."""
    run = calls[:1]
    for before, call in pairwise(calls):
        if not same(before.arguments, call.arguments) or _unclear(before) or _unclear(call):
            yield run
            run = []
        run.append(call)
    yield run


def _unclear(call: Call) -> bool:
    hidden = call.gap or call.name_gap or gap_in(call.arguments)
    return call.arguments is UNSET or hidden is not None
