"""Names on the command line and in cases that no run has: a hint with those that there are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from agentool_otel.cli import _text
from agentool_otel.cli._output import say
from agentool_otel.evaluation.selecting import KNOWN_STATUSES, Selection
from agentool_otel.evaluation.trace_view import or_none
from agentool_otel.model.documents import Assertion, EvalCase, ReasoningTrace
from agentool_otel.reading.rebuild.endings import ending_of

__all__ = ["AgentNames", "ToolNames"]

_MOST = 1000
"""Limit of the names that are kept."""
_LISTED = 5
_NEAR = 0.75
"""Least similarity of a suggested tool name. A tool that must not be called is often in no run."""


class AgentNames:
    """The agents of the runs that were read, and how these ended.

    Args:
        selection: what selects runs, with names or patterns of agents and statuses.
    """

    def __init__(self, selection: Selection | None = None):
        self._unknown = list(selection.agents) if selection is not None else []
        self._names: dict[str, None] = {}
        statuses = selection.statuses if selection is not None else ()
        self._no_status = [status for status in statuses if status not in KNOWN_STATUSES]
        self._has_runs = False

    def see(self, trace: ReasoningTrace) -> None:
        """Note the agent of a run, and its status."""
        self._has_runs = True
        if self._no_status:
            ends = [
                item for item in (or_none(trace.status), ending_of(trace)) if isinstance(item, str)
            ]
            self._no_status = [
                item for item in self._no_status if not any(fnmatchcase(end, item) for end in ends)
            ]
        name = or_none(trace.agent_id)
        if self._unknown and isinstance(name, str) and name not in self._names:
            self._unknown = [item for item in self._unknown if not fnmatchcase(name, item)]
            if len(self._names) < _MOST:
                self._names[name] = None

    def say_unknown(self) -> None:
        """Name the patterns that fit no agent, and the agents that there are; likewise statuses."""
        for pattern in self._no_status if self._has_runs else ():
            known_ones = ", ".join(KNOWN_STATUSES)
            say(
                f" hint: no run has the status {_quote_all([pattern])}; known ones are {known_ones}"
            )
        for pattern in self._unknown if self._names else ():
            near = _nearest(pattern, self._names, 0.5)
            names = near or sorted(self._names)
            more = f", {len(names) - _LISTED:,} more" if len(names) > _LISTED else ""
            suggestion = (
                f"did you mean {_quote_all(near)}?"
                if near
                else f"there are {_quote_all(names)}{more}"
            )
            say(f" hint: no run has the agent {_quote_all([pattern])}; {suggestion}")


class ToolNames:
    """The tools that were called in the runs that were read.

    Args:
        documents: cases and assertions, which may name tools.
    """

    def __init__(self, documents: Iterable[EvalCase | Assertion]):
        assertions = [
            assertion
            for document in documents
            for assertion in (document.assertions if isinstance(document, EvalCase) else [document])
        ]
        wanted = (or_none(assertion.tool_name) for assertion in assertions)
        self._unknown = dict.fromkeys(name for name in wanted if isinstance(name, str))
        self._names: dict[str, None] = {}

    def see(self, trace: ReasoningTrace) -> None:
        """Note the tools that a run called."""
        if not self._unknown:
            return
        for call in trace.tool_calls():
            name = or_none(call.name)
            if isinstance(name, str) and name not in self._names:
                self._unknown.pop(name, None)
                if len(self._names) < _MOST:
                    self._names[name] = None

    def say_unknown(self) -> None:
        """Name the tools that no run calls, where a tool with a similar name is called."""
        for name in self._unknown:
            if near := _nearest(name, self._names, _NEAR):
                unknown, nearest = _quote_all([name]), _quote_all(near)
                say(f" hint: no run calls the tool {unknown}; did you mean {nearest}?")


def _nearest(name: str, names: Iterable[str], cutoff: float) -> list[str]:
    from difflib import get_close_matches

    return get_close_matches(name, list(names), n=1, cutoff=cutoff)


def _quote_all(names: Sequence[str]) -> str:
    return ", ".join(f"'{_text.line(name)}'" for name in names[:_LISTED])
