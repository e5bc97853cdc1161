"""Assertions for coding agents: commands, changed files, tests, denied calls and turns.

Which tools run commands and which change files is what the installed dialects declare
(`AgentTools`). Any agent with tools of these names is covered.
"""

from __future__ import annotations

from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

from agentool_otel.evaluation.assertions._commands import (
    exit_code,
    hidden_command,
    is_command,
    match_command,
)
from agentool_otel.evaluation.assertions._edits import has_changed, is_edit, match_edit
from agentool_otel.evaluation.assertions._patterns import check_pattern
from agentool_otel.evaluation.assertions._results import (
    named_results,
    unknown_endings,
    was_denied,
)
from agentool_otel.evaluation.assertions._test_commands import TEST_COMMANDS
from agentool_otel.evaluation.check import Check, Word, count_text, limit_text, list_words
from agentool_otel.evaluation.comparing import Match, short
from agentool_otel.evaluation.trace_view import Call, TraceView
from agentool_otel.evaluation.verdicts import Verdict, failed, not_evaluated, passed
from agentool_otel.model.documents import EvalCase

__all__ = ["ChangedFile", "LastChangeTested", "MaxTurns", "NoDeniedTool", "RanCommand"]


class RanCommand(Check, frozen=True, kw_only=True):
    """A shell command that matches a pattern was run; if an exit code is given, it ended with that
    code.

    The exit code is the shell's: that of `pytest | tail` is the one of `tail`. A call that was
    denied ran nothing.
    """

    pattern: Word
    """A regular expression of Python's `re`, searched for anywhere in the command."""
    exit_code: int | None = None
    """The exit code of the command; by default any."""

    def __post_init__(self) -> None:
        check_pattern(self.pattern, "pattern")

    def check(self, trace: TraceView, case: EvalCase) -> Verdict:
        code = "" if self.exit_code is None else f" with exit code {self.exit_code}"
        commands = filter(is_command, trace.calls)
        matches = [(call, self._match(trace, call)) for call in commands]
        wanted = f"no command that matches {short(self.pattern)} was run{code}"
        return _some_call(trace, matches, "ran", wanted)

    def _match(self, trace: TraceView, call: Call) -> Match:
        match = match_command(trace, call, self.pattern)
        if self.exit_code is None or match.holds is False:
            return match
        code = exit_code(trace, call)
        if code is None:
            return Match(None, f"{match.detail}, whose exit code is not known")
        detail = f"{match.detail} with exit code {code}"
        return Match(match.holds if code == self.exit_code else False, detail)


class ChangedFile(Check, frozen=True, kw_only=True):
    """A call of an editing tool changed a file whose path matches.

    A call that ended in an error changed nothing. Commands that change files, such as `sed -i` and
    `git apply`, are not looked at; with a command that is hidden, a run is not evaluated.
    """

    path: Word
    """A glob such as `src/**/*.py`. It has to match the end of the path that the tool was given, or
    the whole path if it is absolute. `**` stands for any folders or none."""

    def check(self, trace: TraceView, case: EvalCase) -> Verdict:
        matches = [
            (call, match) for call in trace.calls if (match := self._match(trace, call)) is not None
        ]
        wanted = f"no file that matches {short(self.path)} was changed"
        return _some_call(trace, matches, "changed", wanted)

    def _match(self, trace: TraceView, call: Call) -> Match | None:
        """Return whether a call changed such a file; None for one that is not looked at."""
        if is_edit(call):
            return match_edit(trace, call, self.path)
        if is_command(call) and (hidden := hidden_command(call)) is not None:
            return Match(None, hidden)
        return None


State: TypeAlias = Literal["unchanged", "untested", "passed", "failed"]
"""State of the files after a call: as before the run, changed and not tested since, tested."""
Event: TypeAlias = Literal["edit", "passed", "failed", "other"]
"""What a call is: a change of a file, a test run with its outcome, or anything else."""


class LastChangeTested(Check, frozen=True, kw_only=True):
    """After the last change of a file, tests were run, and the last test run succeeded.

    A run that changes no file passes. Changes are successful calls of editing tools, in the order
    of the calls: commands can change files too, such as `sed -i` and `git apply`, and are not
    looked at.
    """

    pattern: Word | None = None
    """A regular expression of Python's `re`, searched for anywhere in a command: which commands are
    tests. By default those of well-known programs, such as `pytest`, `python -m unittest`,
    `npm test`, `npx jest`, `go test`, `cargo test`, `mvn test`, `make check` and `dotnet test`."""
    passed: bool = True
    """Whether the last test run must have exit code 0."""

    def __post_init__(self) -> None:
        if self.pattern is not None:
            check_pattern(self.pattern, "pattern")

    def check(self, trace: TraceView, case: EvalCase) -> Verdict:
        events = [(call, self._events(trace, call)) for call in trace.calls]
        states: set[State] = {"unchanged"}
        for _, possible in events:
            states = {_after(state, event) for state in states for event in possible}
        unclear = [(call, possible) for call, possible in events if len(possible) > 1]
        last_edit = _last(events, "edit")
        tests = [at for kind in ("passed", "failed") if (at := _last(events, kind))]
        ids = [call.step_id for call in trace.calls if call.step_id in (last_edit, *tests)]
        if unseen := trace.unseen_calls:
            return not_evaluated(f"a change or a test run may be missing: {unseen}", ids)
        good = {state in ("unchanged", "passed") for state in states}
        if len(good) > 1:
            doubts = list_words((_doubt(call, possible) for call, possible in unclear), "; ")
            return not_evaluated(doubts, [call.step_id for call, _ in unclear])
        return self._verdict(states, last_edit, ids)

    def _events(self, trace: TraceView, call: Call) -> set[Event]:
        """Return what a call may be; several where hidden data decides."""
        if call.name_gap is not None:
            return {"edit", "passed", "failed", "other"}
        events: set[Event] = set()
        if is_edit(call):
            events |= _by_outcome(has_changed(trace, call), {"edit"}, {"other"})
        if is_command(call):
            holds = match_command(trace, call, self.pattern or TEST_COMMANDS).holds
            events |= _by_outcome(holds, self._test_runs(trace, call), {"other"})
            if hidden_command(call) is not None:
                events.add("edit")
        return events or {"other"}

    def _test_runs(self, trace: TraceView, call: Call) -> set[Event]:
        if not self.passed:
            return {"passed"}
        code = exit_code(trace, call)
        return _by_outcome(None if code is None else code == 0, {"passed"}, {"failed"})

    def _verdict(self, states: set[State], last_edit: str | None, ids: list[str]) -> Verdict:
        if states == {"unchanged"}:
            return passed("no file was changed by an editing tool")
        change = f"the last change, at {last_edit}," if last_edit else "the last change"
        if "untested" in states:
            return failed(f"no test was run after {change.rstrip(',')}", ids)
        if "failed" in states:
            return failed(f"{change} was tested, and the last test run did not succeed", ids)
        outcome = "the last test run succeeded" if self.passed else "its outcome is not checked"
        return passed(f"{change} was tested; {outcome}", ids)


def _by_outcome(holds: bool | None, if_true: set[Event], if_false: set[Event]) -> set[Event]:
    return if_true | if_false if holds is None else if_true if holds else if_false


def _after(state: State, event: Event) -> State:
    if event == "edit":
        return "untested"
    return state if event == "other" or state == "unchanged" else event


def _doubt(call: Call, possible: set[Event]) -> str:
    """Return why a call may be several events."""
    if possible == {"passed", "failed"}:
        return f"the exit code of the tests at {call.step_id} is not known"
    return f"what {call.name} did at {call.step_id} is not known"


def _last(events: list[tuple[Call, set[Event]]], event: str) -> str | None:
    """Return the step of the last call that is an event for certain."""
    steps = [call.step_id for call, possible in events if possible == {event}]
    return steps[-1] if steps else None


class NoDeniedTool(Check, frozen=True, kw_only=True):
    """No tool call was denied by the user, a policy or a hook; with a name, no call of that tool.

    The error of a denied call begins with `permission_denied`.
    """

    tool_name: Word | None = None
    """The tool whose calls count; by default every tool."""

    def check(self, trace: TraceView, case: EvalCase) -> Verdict:
        denials = [
            (item, was_denied(trace, item.result, item.step_id))
            for item in named_results(trace, self.tool_name)
        ]
        denied = [item for item, is_denied in denials if is_denied]
        if denied:
            where = list_words(f"{item.name} was denied at {item.step_id}" for item in denied)
            return failed(where, [item.step_id for item in denied if item.step_id is not None])
        unclear = [item.step_id for item, is_denied in denials if is_denied is None]
        if unclear:
            ids = [step_id for step_id in unclear if step_id is not None]
            return not_evaluated(f"the error at {list_words(ids)} cannot be seen", ids)
        calls = trace.calls_of(self.tool_name)
        if (unknown := unknown_endings(trace, self.tool_name)) is not None:
            return unknown
        if not calls:
            return passed(
                f"{self.tool_name or 'no tool'} was {'not ' * bool(self.tool_name)}called"
            )
        return passed(f"{count_text(len(calls), 'call')} without a denial")


class MaxTurns(Check, frozen=True, kw_only=True):
    """A session has no more than so many turns, which are its prompts; for the scope `session`.

    A turn is a run that is inside no other run. In another scope, a run with a session id is not
    evaluated.
    """

    max_turns: Annotated[int, Meta(ge=1)]
    """Turns that the session may have."""

    def check(self, trace: TraceView, case: EvalCase) -> Verdict:
        if elsewhere := trace.outside_turns:
            return not_evaluated(elsewhere)
        reason = f"the session has {count_text(trace.turns, 'turn')}"
        if trace.turns > self.max_turns:
            return failed(f"{reason}; {limit_text(self.max_turns)}")
        if gap := trace.uncounted_turns:
            return not_evaluated(f"{reason}; there may be more: {gap}")
        return passed(reason)


def _some_call(
    trace: TraceView, matches: list[tuple[Call, Match]], verb: str, wanted: str
) -> Verdict:
    """Return the verdict where one call has to match."""
    good = [(call, match) for call, match in matches if match.holds]
    if good:
        return passed(_describe(good, f" {verb}"), [call.step_id for call, _ in good])
    ids = [call.step_id for call, _ in matches]
    unclear = [(call, match) for call, match in matches if match.holds is None]
    if unclear:
        return not_evaluated(f"{wanted} that can be seen; {_describe(unclear)}", ids)
    if unseen := trace.unseen_calls_of("a tool"):
        return not_evaluated(f"{wanted} that can be seen, but {unseen}", ids)
    return failed(f"{wanted}; {_describe(matches) or f'no tool {verb} anything'}", ids)


def _describe(matches: list[tuple[Call, Match]], verb: str = ":") -> str:
    words = (f"{call.name} at {call.step_id}{verb} {match.detail}" for call, match in matches)
    return list_words(words, "; ")
