"""From trajectories to verdicts: conditions on a run, and their results.

verdicts          passed, failed or not evaluated, why, and by which steps
trace_view        a trace, and what cannot be seen of it
comparing         an expected value against the actual one
check             the base of every assertion type
assertions/       the types, a family in each file; entry points of group `agentool_otel.assertions`
judge_check       the base of the types that need a judge
judges/           a model as a judge, or a callable of the user's
assertion_types   the types by name; from an assertion to its check, or to what is wrong with it
assertion_checks  from a check to its verdict
results           the verdicts on a trace as an EvalResult
pending           a queue of traces that wait for a judge
scopes            which runs one result is about
joined            several runs as one trace
running           all of it over many traces
lazy_results      results that are computed as they are read
in_tests          the same for one trace, in a test: `assert_trace`
steps             the steps of a trace as short lines
cases/            files of cases, and which case a trace is a try of
reports/          results for people, for pull requests, for CI servers
write_back        results as spans and events of the trace that was judged
emitting          the same through the providers of this process: `emit_results`
trace_diff/       what differs between two traces

A check whose data was masked, truncated, not captured or lost neither passes nor fails: it is not
evaluated, with the reason. Nothing here needs a key or a network, except a judge that needs one.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agentool_otel.evaluation.check import Check as Check
    from agentool_otel.evaluation.emitting import emit_results as emit_results
    from agentool_otel.evaluation.in_tests import assert_trace as assert_trace
    from agentool_otel.evaluation.judge_check import JudgeCheck as JudgeCheck
    from agentool_otel.evaluation.judges.openai import OpenAIJudge as OpenAIJudge
    from agentool_otel.evaluation.judges.questions import Answer as Answer
    from agentool_otel.evaluation.judges.questions import Claim as Claim
    from agentool_otel.evaluation.judges.questions import NoVerdict as NoVerdict
    from agentool_otel.evaluation.judges.questions import Question as Question
    from agentool_otel.evaluation.running import evaluate as evaluate
    from agentool_otel.evaluation.trace_diff.diffing import diff as diff
    from agentool_otel.evaluation.trace_diff.records import TraceDiff as TraceDiff
    from agentool_otel.evaluation.trace_view import Call as Call
    from agentool_otel.evaluation.trace_view import TraceView as TraceView
    from agentool_otel.evaluation.verdicts import Verdict as Verdict
    from agentool_otel.evaluation.verdicts import failed as failed
    from agentool_otel.evaluation.verdicts import not_evaluated as not_evaluated
    from agentool_otel.evaluation.verdicts import passed as passed

_HOMES = {
    "check": ("Check",),
    "emitting": ("emit_results",),
    "in_tests": ("assert_trace",),
    "judge_check": ("JudgeCheck",),
    "trace_view": ("Call", "TraceView"),
    "judges.openai": ("OpenAIJudge",),
    "judges.questions": ("Answer", "Claim", "NoVerdict", "Question"),
    "running": ("evaluate",),
    "trace_diff.diffing": ("diff",),
    "trace_diff.records": ("TraceDiff",),
    "verdicts": ("Verdict", "failed", "not_evaluated", "passed"),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Answer",
    "Call",
    "Check",
    "Claim",
    "JudgeCheck",
    "NoVerdict",
    "OpenAIJudge",
    "Question",
    "TraceDiff",
    "TraceView",
    "Verdict",
    "assert_trace",
    "diff",
    "emit_results",
    "evaluate",
    "failed",
    "not_evaluated",
    "passed",
]


def __getattr__(name: str) -> Any:
    home = _HOME_OF.get(name)  # commands that only select runs need none of them
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return list(__all__)
