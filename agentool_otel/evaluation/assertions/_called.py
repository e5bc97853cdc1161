"""The calls of a run in the words of a reason."""

from __future__ import annotations

from collections.abc import Iterable

from agentool_otel.evaluation.check import list_words
from agentool_otel.evaluation.trace_view import Call

__all__ = ["called_by_run"]


def called_by_run(calls: Iterable[Call]) -> str:
    """Return which tools a run called, and at which steps: `the run called pay (s1), ask (s3)`."""
    where = list_words(f"{call.name} ({call.step_id})" for call in calls)
    return f"the run called {where or 'no tool'}"
