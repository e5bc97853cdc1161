"""A trace as checks see it: tool calls with their results, and what cannot be seen.

What cannot be seen is known from two places. Content tells by itself that it was masked or
shortened, by the marks of `semconv.marks`. Where the trace was rebuilt from spans, its fidelity
report tells the rest: attributes that a Collector masked, a store cut or an SDK never captured.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from functools import cached_property
from typing import Any, NamedTuple

from agentool_otel.evaluation.comparing import gap_in
from agentool_otel.model.documents import UNSET, ReasoningTrace, Step, TraceMetrics
from agentool_otel.reconstruction.report.fidelity import Fidelity, Note
from agentool_otel.reconstruction.trace import Rebuilt

__all__ = ["ARGUMENTS", "RESULT", "Call", "JudgedTrace", "known"]

ARGUMENTS = "tool_call.arguments"
RESULT = "tool_result.output"
_CALLS = "calls"
"""Stands for the calls that an attribute would have told of, had it been whole."""
_ANSWERS = {"output", ARGUMENTS}
"""The members that a model's answers hold, and so its calls."""
_HIDING = {
    "redacted": "is redacted",
    "truncated": "is truncated",
    "damaged": "is damaged",
    "lost": "is lost",
    "not_captured": "was not captured",
}
_CONTENT = ("input", "output", ARGUMENTS, RESULT, "content")


def known(value: Any) -> Any:
    """Return a member of a document, None if it is absent."""
    return None if value is UNSET else value


class Call(NamedTuple):
    """A tool call of a trace and its result."""

    step_id: str
    name: str
    arguments: Any
    """`UNSET` where they are not in this store."""
    gap: str | None
    """Why the arguments may not be all there; None where nothing says so."""
    result: Any
    """A ToolResult; None where there is none."""
    result_step_id: str | None


class JudgedTrace:
    """A trace, and how faithfully it was recorded."""

    def __init__(self, source: ReasoningTrace | Rebuilt):
        """Wrap a trace, best as rebuilt: a document alone has only the marks in its values."""
        self.source = source
        """What it was made of."""
        self._rebuilt = source if isinstance(source, Rebuilt) else None
        self.trace = source.trace if isinstance(source, Rebuilt) else source
        """The document."""

    @property
    def fidelity(self) -> Fidelity | None:
        """The fidelity report, made on first use; None if there were no spans."""
        return self._rebuilt.fidelity if self._rebuilt is not None else None

    @cached_property
    def metadata(self) -> dict[str, Any]:
        """The metadata of the trace, empty if it has none."""
        return known(self.trace.metadata) or {}

    @cached_property
    def metrics(self) -> TraceMetrics:
        """The totals of the trace; without any, all members are absent."""
        return known(self.trace.metrics) or TraceMetrics()

    @cached_property
    def models(self) -> list[str]:
        """The models that were called; empty if unknown."""
        if self._rebuilt is not None:
            return self._rebuilt.models()
        named = self.metadata.get("model")
        return [named] if isinstance(named, str) and named else []

    @cached_property
    def steps(self) -> list[tuple[str, Step]]:
        """The steps with their ids; a step without one is identified by its position."""
        return [
            (step.step_id if isinstance(step.step_id, str) else f"step {n}", step)
            for n, step in enumerate(self.trace.steps, 1)
        ]

    @cached_property
    def calls(self) -> list[Call]:
        """The tool calls in order, each with its result, as `ReasoningTrace.pairs` pairs them."""
        answers: defaultdict[str, deque[tuple[str, Any]]] = defaultdict(deque)
        for step_id, step in self.steps:
            if (result := known(step.tool_result)) and isinstance(result.call_id, str):
                answers[result.call_id].append((step_id, result))
        calls: list[Call] = []
        for step_id, step in self.steps:
            if (call := known(step.tool_call)) is None:
                continue
            waiting = answers.get(call.id) if isinstance(call.id, str) else None
            at, result = waiting.popleft() if waiting else (None, None)
            gap = self._why_unseen(step_id, call.arguments)
            calls.append(Call(step_id, call.name, call.arguments, gap, result, at))
        return calls

    def _why_unseen(self, step_id: str, arguments: Any) -> str | None:
        if arguments is UNSET:
            return self.why_missing(ARGUMENTS, step_id)
        return self.gap(ARGUMENTS, step_id)

    def calls_of(self, tool_name: str | None) -> list[Call]:
        """Return the calls of a tool, or all calls if none is named."""
        return [call for call in self.calls if tool_name in (None, call.name)]

    # ------------------------------------------------------------------------ what is not seen

    @cached_property
    def unfinished(self) -> str | None:
        """Why more may have happened than the trace shows; None if nothing says so."""
        if self.metadata.get("incomplete"):
            return "the run is not whole in this store"
        if known(self.trace.status) == "in_progress":
            return "the run has not ended"
        return None

    @property
    def uncounted(self) -> str | None:
        """Why the run may have used more tokens and money than its metrics have; None if nothing
        says so."""
        return self.unfinished

    @cached_property
    def unseen_calls(self) -> str | None:
        """Why there may be tool calls that the trace does not show; None if it shows all."""
        if self.unfinished is not None:
            return self.unfinished
        call_count = known(self.metrics.tool_call_count)
        if isinstance(call_count, (int, float)) and call_count > len(self.calls):
            return (
                f"its metrics tell of {call_count} tool calls, {len(self.calls)} are in this store"
            )
        if not self.calls and self.trace.output is UNSET:
            return "neither tool calls nor an output were captured"
        return self.gap(_CALLS)

    def gap(self, field: str, step_id: str | None = None) -> str | None:
        """Return why a member may differ from the original; None if there is no reason to think so.

        Args:
            field: `input`, `output`, `calls` for tool calls that may not be shown at all, or of a
                step `content`, `tool_call.arguments`, `tool_result.output`.
            step_id: the step it is a member of.
        """
        return self._gaps.get((step_id, field)) if self._may_hide else None

    def hides(self, value: Any, field: str, step_id: str | None = None) -> str | None:
        """Return why a member that is present may differ from the original, by its own marks or by
        `gap`; None if there is no reason to think so."""
        return gap_in(value) or self.gap(field, step_id)

    def why_missing(self, field: str, step_id: str | None = None) -> str:
        """Return why a member is absent, as `gap` does."""
        if self._rebuilt is not None and not self._may_hide:
            return _HIDING["not_captured"]  # as its report would say: no span holds anything else
        return self._gaps.get((step_id, field)) or self.unfinished or "is not in this store"

    @cached_property
    def _may_hide(self) -> bool:
        """Whether the fidelity report is worth making: it takes as long as rebuilding the trace
        did."""
        return self._rebuilt is not None and self._rebuilt.may_hide()

    @cached_property
    def _gaps(self) -> dict[tuple[str | None, str], str]:
        if self.fidelity is None:
            return {}
        gaps: dict[tuple[str | None, str], str] = {}
        owners: defaultdict[str | None, set[str | None]] = defaultdict(set)
        for note in self.fidelity.notes:
            if note.step_id is not None or note.field in ("input", "output"):
                owners[note.span_id].add(note.step_id)
        for note in self.fidelity.notes:
            if note.outcome not in _HIDING:
                continue
            why = _words(note)
            if note.field in _CONTENT:
                gaps.setdefault((note.step_id, note.field), why)
            elif note.attribute is not None:
                fields = _possible_fields(note.attribute, note.attribute in self.fidelity.unread)
                for owner in owners[note.span_id]:
                    for field in fields:
                        gaps.setdefault((owner, field), why)
                # What hides content is no reason to think that calls had no spans of their own.
                if {*fields} >= _ANSWERS and note.outcome in ("truncated", "damaged"):
                    gaps.setdefault((None, _CALLS), f"{note.attribute} {why}")
        return gaps

    def output(self) -> tuple[Any, str | None]:
        """Return the output, and why it may not be the agent's whole answer."""
        value = self.trace.output
        if value is UNSET:
            return value, self.why_missing("output")
        return value, gap_in(value) or self.gap("output") or self.unfinished


def _words(note: Note) -> str:
    return _HIDING[note.outcome] + (f": {note.rule}" if note.rule else "")


_FIELDS_BY_NAME = tuple(
    (re.compile(pattern), fields)
    for pattern, fields in (
        ("argument", (ARGUMENTS,)),
        ("(?=.*tool).*(result|output|response)", (RESULT,)),
        ("(?=.*message).*(input|prompt|request)", ("input", RESULT)),
        ("input|prompt|request", ("input", RESULT, ARGUMENTS)),
        ("output|completion|response", ("output", RESULT, ARGUMENTS, "content")),
    )
)
"""The members that an attribute may belong to, by words in its name; the first that fits counts."""


def _possible_fields(attribute: str, unread: bool) -> tuple[str, ...]:
    """Return the members that an attribute may belong to, by the words that vocabularies use.

    If none of the words fits, it may be any of them, or none if no dialect reads the attribute.
    """
    for pattern, fields in _FIELDS_BY_NAME:
        if pattern.search(attribute.lower()):
            return fields
    return () if unread else _CONTENT
