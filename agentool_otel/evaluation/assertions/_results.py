"""The results of tool calls, and what they show of a call: an error, a denial."""

from __future__ import annotations

from typing import Any, NamedTuple

from agentool_otel.evaluation.check import list_words
from agentool_otel.evaluation.comparing import gap_in
from agentool_otel.evaluation.trace_view import RESULT, Call, TraceView, or_none
from agentool_otel.evaluation.verdicts import Verdict, not_evaluated
from agentool_otel.model.denials import DENIED
from agentool_otel.model.documents import UNSET
from agentool_otel.model.error_results import error_rule
from agentool_otel.reading.rebuild.values import plain
from agentool_otel.semconv.redaction import visible_parts

__all__ = [
    "ERROR",
    "NamedResult",
    "all_answered",
    "error_in",
    "has_failed",
    "hidden_output",
    "named_results",
    "unknown_endings",
    "was_denied",
]

ERROR = "error"
"""The member of a step with the error of a tool, as the notes on hidden data name it."""


class NamedResult(NamedTuple):
    """A result and the tool that it is of."""

    step_id: str | None
    result: Any
    name: str
    """The tool, or words for one that is not known."""


def named_results(trace: TraceView, tool_name: str | None) -> list[NamedResult]:
    """Return the results of a tool; without a name those of all tools, also of calls that are not
    shown."""
    calls = trace.calls_of(tool_name)
    results = [NamedResult(call.result_step_id, call.result, call.name) for call in calls]
    if tool_name is None:
        lone = trace.lone_results
        results += [NamedResult(*lone_result, "a call that is not shown") for lone_result in lone]
    return [item for item in results if item.result]


def all_answered(trace: TraceView) -> bool:
    """Return whether there is a result without an id, and without an error, for every call that has
    none of its own."""
    nameless = [item for _, item in trace.lone_results if not isinstance(item.call_id, str)]
    waiting = sum(call.result is None for call in trace.calls)
    return len(nameless) >= waiting and all(or_none(item.error) is None for item in nameless)


def unknown_endings(trace: TraceView, tool_name: str | None) -> Verdict | None:
    """Return the verdict on a tool, by default all, some of whose calls have an end that is not
    known; None if all are known."""
    silent = [call.step_id for call in trace.calls_of(tool_name) if call.result is None]
    if silent and not all_answered(trace):
        reason = f"no result of the calls at {list_words(silent)} was recorded"
        return not_evaluated(reason, silent)
    unseen = trace.unmatched_call(tool_name) or trace.unseen_calls_of(tool_name)
    return not_evaluated(unseen) if unseen else None


def has_failed(trace: TraceView, call: Call) -> bool | None:
    """Return whether a call ended in an error; None if that is not known."""
    if call.result is None:
        return False if all_answered(trace) else None
    if or_none(call.result.error) is not None:
        return True
    hidden = trace.gap(ERROR, call.result_step_id) or trace.unmatched_call(call.name)
    return None if hidden else False


def error_in(result: Any) -> str | None:
    """Return the rule by which a result looks like an error, in words; None if it does not."""
    output = result.output
    return None if output is UNSET else error_rule(plain(output))


def hidden_output(trace: TraceView, item: NamedResult) -> str | None:
    """Return why the output of a result may have been another one; None without a sign of it."""
    output = item.result.output
    if output is UNSET:
        return trace.why_missing(RESULT, item.step_id)
    return gap_in(output) or trace.gap(RESULT, item.step_id)


def was_denied(trace: TraceView, result: Any, step_id: str | None) -> bool | None:
    """Return whether the call with a result was denied; None if hidden data decides."""
    error = or_none(result.error)
    start = visible_parts(error)[0] if isinstance(error, str) else ""
    if start.startswith(DENIED):
        return True
    if trace.gap(ERROR, step_id) is not None:
        return None
    return None if gap_in(error) and DENIED.startswith(start) else False
