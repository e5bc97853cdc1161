"""Trajectories to verdicts: what must hold of a run, and whether it does.

verdicts     passed, failed or not evaluated, why, and by which steps
judged       a trace, and what of it cannot be seen
comparing    an expected value against one that was found
check        what every assertion type is
assertions/  the types, a family in each file; entry points of group `agentool_otel.assertions`
building     the assertion of a case to its check, and the check to its verdict
matching     which case a trace is a try of
results      the verdicts on a trace as an EvalResult
running      all of it over many traces
junit        results as CI servers read them
write_back   results as spans and events of the trace that was judged

A check that could not look, because something was masked, cut, not captured or never arrived,
neither passes nor fails: it is not evaluated, and says why. Nothing here needs a key or a network.
"""

from __future__ import annotations

from agentool_otel.evaluation.check import Check
from agentool_otel.evaluation.judged import Call, JudgedTrace
from agentool_otel.evaluation.running import evaluate
from agentool_otel.evaluation.verdicts import Verdict, failed, not_evaluated, passed

__all__ = [
    "Call",
    "Check",
    "JudgedTrace",
    "Verdict",
    "evaluate",
    "failed",
    "not_evaluated",
    "passed",
]
