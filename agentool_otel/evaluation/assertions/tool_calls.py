"""Assertions about calls of single tools: occurrence, arguments, count."""

from __future__ import annotations

from typing import Any

from msgspec import field

from agentool_otel.evaluation.assertions._arguments import (
    OLD_MODES,
    ArgumentMode,
    ExpectedArguments,
    describe_matches,
    differences_of,
)
from agentool_otel.evaluation.assertions._called import called_by_run
from agentool_otel.evaluation.assertions._patterns import check_pattern
from agentool_otel.evaluation.assertions._results import error_in, has_failed
from agentool_otel.evaluation.check import Amount, Check, Word, be, limit_text, list_words, times
from agentool_otel.evaluation.comparing import Match, short
from agentool_otel.evaluation.json_schema import check_schema
from agentool_otel.evaluation.trace_view import Call, TraceView
from agentool_otel.evaluation.verdicts import Verdict, failed, not_evaluated, passed
from agentool_otel.model.documents import EvalCase

__all__ = ["OLD_MODES", "ArgsMatch", "ContainsToolCall", "NoToolCall", "ToolCallCount"]


class ContainsToolCall(Check, frozen=True, kw_only=True):
    """A tool was called at least once; if arguments are named, with those among its own."""

    tool_name: Word
    """The tool."""
    tool_args: dict[str, Any] = field(default_factory=dict)
    """Arguments of the call and their values; it may have others. A value that is an object must be
    equal as a whole."""
    succeeded: bool | None = None
    """`true`: the call ended without an error; `false`: with one. By default either."""

    def check(self, trace: TraceView, case: EvalCase) -> Verdict:
        expected = ExpectedArguments(self.tool_args, {}, {})
        return _some_call(
            trace, self.tool_name, expected, trace.calls_of(self.tool_name), self.succeeded
        )


class ArgsMatch(Check, frozen=True, kw_only=True):
    """A tool was called with the named arguments: a value, JSON Schema or regex for each.

    Modes: `exact`, these and no others; `at_least`, these, and the call may have more; `at_most`,
    none besides these, and the call may leave some out; `ignore`, any arguments. Earlier words:
    `subset` for `at_least`, `superset` for `at_most`.
    """

    tool_name: Word
    """The tool."""
    tool_args: dict[str, Any] = field(default_factory=dict)
    """Arguments and their values. A value that is an object must be equal as a whole."""
    arg_schemas: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Arguments and a JSON Schema for each. `format` in it is not checked."""
    arg_patterns: dict[str, Word] = field(default_factory=dict)
    """Arguments and a regular expression for each, searched for anywhere in the text."""
    mode: ArgumentMode = "at_least"
    """Comparison of the named arguments with the call's: `exact`, no others; `at_least`, the call
    has these and perhaps more; `at_most`, the call has none besides these; `ignore`, any.
    """

    def __post_init__(self) -> None:
        named = [*self.tool_args, *self.arg_schemas, *self.arg_patterns]
        twice = {name for name in named if named.count(name) > 1}
        if twice:
            raise ValueError(
                f"argument {min(twice)!r} is named by two of tool_args, arg_schemas, arg_patterns"
            )
        for name, pattern in self.arg_patterns.items():
            check_pattern(pattern, f"arg_patterns.{name}")
        for name, schema in self.arg_schemas.items():
            check_schema(schema, f"arg_schemas.{name}")

    def check(self, trace: TraceView, case: EvalCase) -> Verdict:
        expected = ExpectedArguments(self.tool_args, self.arg_schemas, self.arg_patterns, self.mode)
        return _some_call(trace, self.tool_name, expected, trace.calls_of(self.tool_name))


class NoToolCall(Check, frozen=True, kw_only=True):
    """A tool was not called, or not with these arguments; without a name, no tool was."""

    tool_name: Word | None = None
    """The tool; by default any."""
    tool_args: dict[str, Any] = field(default_factory=dict)
    """Arguments and their values: a call with others is allowed. A value that is an object must be
    equal as a whole."""

    def check(self, trace: TraceView, case: EvalCase) -> Verdict:
        expected = ExpectedArguments(self.tool_args, {}, {})
        matches = [(call, expected.match(call)) for call in trace.calls_of(self.tool_name)]
        called = [call for call, match in matches if match.holds]
        if called:
            with_args = f" with {short(self.tool_args)}" if self.tool_args else ""
            return failed(_calls(called) + with_args, [call.step_id for call in called])
        unclear = [(call, match) for call, match in matches if match.holds is None]
        if unclear:
            ids = [call.step_id for call, _ in unclear]
            return not_evaluated(describe_matches(unclear), ids)
        if unseen := trace.unseen_calls_of(self.tool_name):
            return not_evaluated(unseen)
        if self.tool_name is None:
            return passed("no tool was called")
        with_args = f" with {short(self.tool_args)}" if self.tool_args else ""
        return passed(f"{self.tool_name} was not called{with_args}; {called_by_run(trace.calls)}")


class ToolCallCount(Check, frozen=True, kw_only=True):
    """The number of calls, of one tool if named, is between two bounds, inclusive."""

    tool_name: Word | None = None
    """The tool; by default all tools together."""
    min_calls: Amount | None = None
    """At least so many calls."""
    max_calls: Amount | None = None
    """At most so many calls."""

    def __post_init__(self) -> None:
        if self.min_calls is None and self.max_calls is None:
            raise ValueError("neither min_calls nor max_calls is given")
        if self.max_calls is None and not self.min_calls:
            raise ValueError("min_calls is 0, which every run has")
        least, most = self.min_calls or 0, self.max_calls
        if most is not None and least > most:
            raise ValueError(f"min_calls {least} is more than max_calls {most}")

    def check(self, trace: TraceView, case: EvalCase) -> Verdict:
        calls = trace.calls_of(self.tool_name)
        ids = [call.step_id for call in calls]
        reason = self._count(ids)
        if self.max_calls is not None and len(calls) > self.max_calls:
            most = int(self.max_calls)
            return failed(f"{reason}; {self._bounds()}", ids, failing=ids[most:])
        enough = self.min_calls is None or len(calls) >= self.min_calls
        unseen = trace.unseen_calls_of(self.tool_name)
        if unseen and not (enough and self.max_calls is None):
            return not_evaluated(f"{reason}; there may be more: {unseen}", ids)
        if enough:
            return passed(reason, ids)
        return failed(f"{reason}; {self._bounds()}", ids, failing=[])

    def _count(self, ids: list[str]) -> str:
        if not ids:
            return f"{self.tool_name or 'no tool'} was {'not ' if self.tool_name else ''}called"
        name = f"{self.tool_name} was" if self.tool_name else "tools were"
        return f"{name} called {times(len(ids))} ({list_words(ids)})"

    def _bounds(self) -> str:
        least, most = self.min_calls, self.max_calls
        if least == most:
            return f"exactly {least} {be(most or 0)} required"
        words: list[str] = []
        if least is not None:
            words.append(f"at least {least} {be(least)} required")
        if most is not None:
            words.append(limit_text(most))
        return " and ".join(words)


def _some_call(
    trace: TraceView,
    tool_name: str,
    expected: ExpectedArguments,
    calls: list[Call],
    succeeded: bool | None = None,
) -> Verdict:
    matches = [(call, expected.match(call)) for call in calls]
    if succeeded is not None:
        matches = [(call, _with_end(trace, call, match, succeeded)) for call, match in matches]
    good = [call.step_id for call, match in matches if match.holds]
    if good:
        # The wording of the spec's example, for which it has no "was".
        return passed(f"{tool_name} called at {list_words(good)}", good)
    ids = [call.step_id for call, _ in matches]
    unclear = [(call, match) for call, match in matches if match.holds is None]
    if unclear:
        return not_evaluated(describe_matches(unclear), ids)
    reason = describe_matches(matches) or f"{tool_name} was not called"
    if unseen := trace.unseen_calls_of(tool_name):
        return not_evaluated(f"{reason}, but {unseen}", ids)
    if not matches:
        reason = f"{reason}; {called_by_run(trace.calls)}"
    return failed(reason, ids, differences=differences_of(matches))


def _with_end(trace: TraceView, call: Call, match: Match, succeeded: bool) -> Match:
    """Return whether a call that matches also ended as it has to."""
    if match.holds is False:
        return match
    has_error = has_failed(trace, call)
    if has_error is None:
        return Match(None, "an end that is not known")
    rule = None if has_error or call.result is None else error_in(call.result)
    if rule is not None:
        return Match(None, f"a result that looks like an error: it {rule}")
    if has_error is succeeded:
        return Match(False, "an error" if has_error else "no error")
    return match


def _calls(calls: list[Call]) -> str:
    """Return calls in words: `pay was called at s1, s3; ask was called at s2`."""
    steps: dict[str, list[str]] = {}
    for call in calls:
        steps.setdefault(call.name, []).append(call.step_id)
    return "; ".join(f"{name} was called at {list_words(ids)}" for name, ids in steps.items())
