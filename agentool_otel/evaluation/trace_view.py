"""A trace as checks see it: tool calls with their results, and notes on hidden data.

Two places show which data is missing. Content has marks where it was masked or shortened, by
`semconv.marks` and `semconv.redaction`. For a trace that was rebuilt from spans, its fidelity
report adds attributes that a Collector masked, a store truncated or an SDK never captured. Notes on
a span are also in the metadata of its trace, so that documents keep them.
"""

from __future__ import annotations

from collections import defaultdict, deque
from functools import cached_property
from typing import Any, NamedTuple

from agentool_otel.dialects.kit.cut_json import is_cut_json
from agentool_otel.evaluation.comparing import gap_in, hides_members
from agentool_otel.model.documents import UNSET, ReasoningTrace, Step, TraceMetrics
from agentool_otel.reading.rebuild.answer_ends import UNKNOWN_ENDS, ends_in, output_end
from agentool_otel.reading.rebuild.failures import ended_well
from agentool_otel.reading.rebuild.report.content_marks import REPLACED
from agentool_otel.reading.rebuild.report.fidelity import Fidelity
from agentool_otel.reading.rebuild.report.gaps import (
    ARGUMENTS,
    CALLS,
    HIDDEN,
    HIDING,
    NAME,
    RESULT,
    TO_AGENT,
    Gaps,
    gaps_of,
    hidden_in,
)
from agentool_otel.reading.rebuild.run_spans import UNMATCHED_TOOLS
from agentool_otel.reading.rebuild.trace import Rebuilt

__all__ = ["ARGUMENTS", "NAME", "NO_COST", "RESULT", "TO_AGENT", "Call", "TraceView", "or_none"]

NO_COST = "was not recorded; --cost computes it where the price of the model is known"
"""Why the cost of a run is unknown, in words that follow what it is."""


def or_none(value: Any) -> Any:
    """Return a member of a document, None if it is absent."""
    return None if value is UNSET else value


class Call(NamedTuple):
    """A tool call of a trace and its result."""

    step_id: str
    name: str
    arguments: Any
    """`UNSET` where they were not recorded."""
    gap: str | None
    """Why the arguments may not be all there; None without a sign of it."""
    replaced: str | None
    """Why nothing in the arguments may be as it was; None without a sign of it."""
    name_gap: str | None
    """Why the tool may have another name; None without a sign of it."""
    result: Any
    """A ToolResult; None if there is none."""
    result_step_id: str | None

    def __repr__(self) -> str:
        fields = ((k, v) for k, v in self._asdict().items() if or_none(v) is not None)
        return f"Call({', '.join(f'{name}={value!r}' for name, value in fields)})"


class TraceView:
    """A trace, and how faithfully it was recorded."""

    def __init__(self, source: ReasoningTrace | Rebuilt, is_session: bool = False):
        """Wrap a trace, best as rebuilt: a document alone has only the marks in its values.

        Args:
            source: the trace.
            is_session: whether all runs of its session are in the view.
        """
        self.source = source
        """The trace, document or rebuilt trace that this view was made of."""
        self._rebuilt = source if isinstance(source, Rebuilt) else None
        self.trace = source.trace if isinstance(source, Rebuilt) else source
        """The document."""
        self.is_session = is_session

    @property
    def fidelity(self) -> Fidelity | None:
        """The fidelity report, made on first use; None if there were no spans."""
        return self._rebuilt.fidelity if self._rebuilt is not None else None

    @cached_property
    def metadata(self) -> dict[str, Any]:
        """The metadata of the trace, empty if it has none."""
        return or_none(self.trace.metadata) or {}

    @cached_property
    def metrics(self) -> TraceMetrics:
        """The totals of the trace; without any, all members are absent."""
        return or_none(self.trace.metrics) or TraceMetrics()

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
        return self._paired[0]

    @cached_property
    def lone_results(self) -> list[tuple[str, Any]]:
        """The tool results that belong to no call that is shown, each with the id of its step."""
        return self._paired[1]

    @cached_property
    def _paired(self) -> tuple[list[Call], list[tuple[str, Any]]]:
        answers: defaultdict[str, deque[tuple[str, Any]]] = defaultdict(deque)
        lone: list[tuple[str, Any]] = []
        for step_id, step in self.steps:
            if (result := or_none(step.tool_result)) is None:
                continue
            if isinstance(result.call_id, str):
                answers[result.call_id].append((step_id, result))
            else:
                lone.append((step_id, result))
        calls: list[Call] = []
        for step_id, step in self.steps:
            if (call := or_none(step.tool_call)) is None:
                continue
            waiting = answers.get(call.id) if isinstance(call.id, str) else None
            at, result = waiting.popleft() if waiting else (None, None)
            gap = self._why_unseen(step_id, call.arguments)
            replaced = self.replaced(call.arguments, ARGUMENTS, step_id)
            name_gap = self.hides(call.name, NAME, step_id)
            item = Call(step_id, call.name, call.arguments, gap, replaced, name_gap, result, at)
            calls.append(item)
        for waiting in answers.values():
            lone += waiting
        return calls, lone

    def _why_unseen(self, step_id: str, arguments: Any) -> str | None:
        if arguments is UNSET:
            return self.why_missing(ARGUMENTS, step_id)
        if isinstance(arguments, str) and is_cut_json(arguments):
            return "is cut: its JSON ends in the middle"
        return self.gap(ARGUMENTS, step_id)

    def calls_of(self, tool_name: str | None) -> list[Call]:
        """Return the calls of a tool, or all calls if none is named. A call whose name is hidden is
        of no tool that can be named."""
        if tool_name is None:
            return self.calls
        return [call for call in self.calls if call.name == tool_name and call.name_gap is None]

    def unseen_calls_of(self, tool_name: str | None) -> str | None:
        """Return why a tool, or any tool if none is named, may have been called without a sign of
        it among `calls_of`; None if it cannot."""
        if tool_name is not None:
            for call in self.calls:
                if call.name_gap is not None:
                    return f"the name of the tool called at {call.step_id} {call.name_gap}"
        return self.unseen_calls

    # ------------------------------------------------------------------------ what is not seen

    @cached_property
    def unfinished(self) -> str | None:
        """Why more may have happened than the trace shows; None without a sign of it."""
        if self.metadata.get("incomplete"):
            return "the run is incomplete, parts of it were not found"
        if or_none(self.trace.status) == "in_progress":
            return "the run has not ended"
        return None

    @property
    def turns(self) -> int:
        """Number of the runs that no other run is around."""
        return 1

    @property
    def outside_turns(self) -> str | None:
        """Why other turns of the session are not looked at; None if the view has all of them."""
        session = or_none(self.trace.session_id)
        if self.is_session or not session:
            return None
        return f"this is one turn of session {session}; --scope session counts all of them"

    @property
    def uncounted_turns(self) -> str | None:
        """Why there may be more such runs; None without a sign of it."""
        return self.unfinished

    def uncounted(self, member: str) -> str | None:
        """Return why a total may be more than its metrics have; None without a sign of it.

        Args:
            member: `metrics.total_tokens` or `metrics.total_cost_usd`.
        """
        return self.unfinished or self.gap(member)

    @cached_property
    def unseen_calls(self) -> str | None:
        """Why there may be tool calls that the trace does not show; None if it shows all."""
        if self.unfinished is not None:
            return self.unfinished
        if self.answered_alone:
            where = ", ".join(step_id for step_id, _ in self.answered_alone[:3])
            return f"the call whose result is at {where} was not recorded"
        call_count = or_none(self.metrics.tool_call_count)
        if isinstance(call_count, (int, float)) and call_count > len(self.calls):
            return f"its metrics count {call_count} tool calls, and the trace has {len(self.calls)}"
        if why := self.gap(CALLS):
            return why
        if not self.calls and self.trace.output is UNSET and not self._raised:
            return "neither tool calls nor an output were captured"
        return None

    @cached_property
    def answered_alone(self) -> list[tuple[str, Any]]:
        """The results of calls that are not shown: the `lone_results` that no call can have.

        A result without a call id may be that of any call without a result, and one with an id that
        of a call without an id.
        """
        unanswered = {call.step_id for call in self.calls if call.result is None}
        calls = [or_none(step.tool_call) for at, step in self.steps if at in unanswered]
        nameless = sum(call is not None and not isinstance(call.id, str) for call in calls)
        with_id = [
            lone_result
            for lone_result in self.lone_results
            if isinstance(lone_result[1].call_id, str)
        ]
        without_id = [
            lone_result
            for lone_result in self.lone_results
            if not isinstance(lone_result[1].call_id, str)
        ]
        left = len(unanswered) - min(len(with_id), nameless)
        return [*with_id[nameless:], *without_id[left:]]

    @cached_property
    def _raised(self) -> bool:
        """True if the run has no output because it ended in an error. Its input shows that content
        was captured."""
        return or_none(self.trace.status) == "error" and self.trace.input is not UNSET

    def unmatched_call(self, tool_name: str | None) -> str | None:
        """Return why a tool, or any tool if none is named, may have ended in another way than its
        result shows; None without a sign of it.
        """
        names = self.metadata.get(UNMATCHED_TOOLS)
        for name in names if isinstance(names, list) else ():
            if tool_name in (None, name):
                return f"{name} was called outside the run, and it is unknown by which run"
        return None

    @cached_property
    def status_gap(self) -> str | None:
        """Why the run may have had another status; None without a sign of it."""
        status = or_none(self.trace.status)
        if not self.metadata.get("incomplete") or status == "in_progress":
            return gap_in(status)
        return None if self._is_stated("status") else self.unfinished

    def _is_stated(self, field: str) -> bool:
        """Return whether a span of the run states a member, which is then not an inference."""
        notes = self.fidelity.notes if self.fidelity is not None else ()
        return any(note.field == field and note.outcome == "kept" for note in notes)

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
        return self.gap(field, step_id) or gap_in(value)

    def replaced(self, value: Any, field: str, step_id: str | None = None) -> str | None:
        """Return why a member that is present may be a replacement, without a marker that shows
        where; None without a sign of it.
        """
        why = self.gap(field, step_id)
        if why is None or not why.startswith(HIDING["redacted"]):
            return None
        return why if REPLACED in why or gap_in(value) is None else None

    def why_missing(self, field: str, step_id: str | None = None) -> str:
        """Return why a member is absent, as `gap` does."""
        if self._rebuilt is not None and not self._may_hide:
            return HIDING["not_captured"]  # as its report would say: no span holds anything else
        if (gap := self._gaps.get((step_id, field))) is not None:
            return gap
        return "was not recorded" + (f": {self.unfinished}" if self.unfinished else "")

    @cached_property
    def _may_hide(self) -> bool:
        """Return whether the fidelity report is needed: it takes as long as rebuilding the trace
        did.
        """
        if HIDDEN in self.metadata:
            return True
        return self._rebuilt is not None and self._rebuilt.may_hide()

    @cached_property
    def _gaps(self) -> Gaps:
        gaps = hidden_in(self.metadata)
        return gaps | gaps_of(self.fidelity) if self.fidelity is not None else gaps

    def output(self) -> tuple[Any, str | None]:
        """Return the output, and why it may not be the agent's whole answer."""
        value = self.trace.output
        if value is UNSET:
            return value, self.why_missing("output")
        return value, gap_in(value) or self.output_gap

    @property
    def output_gap(self) -> str | None:
        """Why the output may differ where no mark in it shows; None without a sign of it."""
        if (gap := self.gap("output")) is not None:
            return gap
        if self.unfinished is None or self._states_output:
            return None
        return f"may not be the last one: {self.unfinished}"

    @property
    def failed_before_answer(self) -> bool:
        """Whether the run is known to have no output: it failed, and what was said is captured."""
        status = or_none(self.trace.status)
        if self.trace.output is not UNSET or self.trace.input is UNSET or self.unfinished:
            return False
        if status is None or ended_well(status) or gap_in(self.trace.input):
            return False
        return self.gap("output") in (None, HIDING["not_captured"])

    @property
    def answer_ends(self) -> list[dict[str, Any]]:
        """The answers that did not come to their end, as members of `metadata.unfinished`."""
        return ends_in(self.metadata)

    @property
    def shows_answers(self) -> bool:
        """Whether a model call shows or, in a document, an answer."""
        if or_none(self.metrics.total_tokens) is not None or self.models:
            return True
        return self._rebuilt is None and self.trace.output is not UNSET

    @property
    def unknown_end(self) -> str | None:
        """Why an answer may have ended in another way than the trace shows; None without a sign."""
        if self.unfinished is not None:
            return self.unfinished
        if (gap := self.gap(CALLS)) is not None:
            return gap
        if hides_members(self.metadata):
            return f"the metadata {gap_in(self.metadata)}"
        unknown = self.metadata.get(UNKNOWN_ENDS)
        if not isinstance(unknown, int) or unknown < 1:
            return None
        return f"how {unknown} of its answers ended is not known: they have no finish reason"

    @property
    def may_have_failed_before_answer(self) -> bool:
        """Whether the run failed, and whether it had an answer before cannot be seen."""
        status = or_none(self.trace.status)
        has_failed = status is not None and not ended_well(status)
        return has_failed and self.trace.output is UNSET

    @property
    def output_end(self) -> str | None:
        """How the answer that is the output ended, as a clause; None if it is whole."""
        words = output_end(self.metadata)
        return None if words is None else f"the answer {words}"

    @property
    def output_replaced(self) -> str | None:
        """Why nothing of an output that is present may be the agent's; None without a sign
        of it.
        """
        if (why := self.replaced(self.trace.output, "output")) is not None:
            return why
        incomplete = self.metadata.get("incomplete") and not self._states_output
        return self.unfinished if incomplete else None

    @cached_property
    def _states_output(self) -> bool:
        return bool(self.metadata.get("incomplete")) and self._is_stated("output")
