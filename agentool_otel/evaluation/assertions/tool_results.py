"""Assertions about what a tool returned."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from msgspec import Meta

from agentool_otel.evaluation.assertions._called import called_by_run
from agentool_otel.evaluation.assertions._patterns import check_pattern
from agentool_otel.evaluation.assertions._results import has_failed
from agentool_otel.evaluation.check import Check, Word, list_words
from agentool_otel.evaluation.comparing import Match, gap_in, short
from agentool_otel.evaluation.json_schema import check_schema, violation
from agentool_otel.evaluation.time_limit import TimeLimit
from agentool_otel.evaluation.trace_view import RESULT, Call, TraceView, or_none
from agentool_otel.evaluation.verdicts import Verdict, failed, not_evaluated, passed
from agentool_otel.evaluation.visible_text import MOST, find, texts_of
from agentool_otel.ground import json_codec
from agentool_otel.model.documents import UNSET, EvalCase
from agentool_otel.semconv.redaction import visible_parts

__all__ = ["ResultContains", "ResultMatches", "ResultSchema"]


class ResultContains(Check, frozen=True, kw_only=True):
    """A call of a tool returned a text, or every one of several. A call that failed returned
    nothing."""

    tool_name: Word
    """The tool."""
    text: Word | Annotated[list[Word], Meta(min_length=1)]
    """A text, or several of which every one must be in the result of the same call."""
    ignore_case: bool = False
    """Whether to ignore the case of letters."""

    def check(self, trace: TraceView, case: EvalCase) -> Verdict:
        wanted = [self.text] if isinstance(self.text, str) else self.text
        words = f"{list_words(map(short, wanted))}"
        return _some_result(trace, self.tool_name, f"a result with {words}", self._match)

    def _match(self, output: Any, gap: str | None) -> Match:
        wanted = [self.text] if isinstance(self.text, str) else self.text
        within = [self._fold(part) for text in texts_of(output) for part in visible_parts(text)]
        holds = all(any(self._fold(item) in part for part in within) for item in wanted)
        return Match(holds or (None if gap else False), short(output))

    def _fold(self, text: str) -> str:
        return text.casefold() if self.ignore_case else text


class ResultMatches(Check, frozen=True, kw_only=True):
    """A call of a tool returned something that a regular expression matches. A call that failed
    returned nothing."""

    tool_name: Word
    """The tool."""
    pattern: Word
    """A regular expression of Python's `re`, searched for anywhere in the result."""

    def __post_init__(self) -> None:
        check_pattern(self.pattern, "pattern")

    def check(self, trace: TraceView, case: EvalCase) -> Verdict:
        wanted = f"a result that {short(self.pattern)} matches"
        return _some_result(trace, self.tool_name, wanted, self._match)

    def _match(self, output: Any, gap: str | None) -> Match:
        texts = texts_of(output)
        try:
            holds = any(find(self.pattern, text, ends=gap is None) is not None for text in texts)
        except TimeLimit as error:
            return Match(None, f"{short(output)}: {error}")
        is_open = gap is not None or max(map(len, texts), default=0) > MOST
        return Match(holds or (None if is_open else False), short(output))


class ResultSchema(Check, frozen=True, kw_only=True):
    """A call of a tool returned something that matches a JSON Schema, as it is or, if it is a text,
    as the JSON in it. A call that failed returned nothing."""

    tool_name: Word
    """The tool."""
    schema: Annotated[dict[str, Any], Meta(min_length=1)]
    """The JSON Schema; an empty one would match every result. `format` in it is not checked."""

    def __post_init__(self) -> None:
        check_schema(self.schema, "schema")

    def check(self, trace: TraceView, case: EvalCase) -> Verdict:
        wanted = f"a result that matches the schema {short(self.schema)}"
        return _some_result(trace, self.tool_name, wanted, self._match)

    def _match(self, output: Any, gap: str | None) -> Match:
        if gap is not None:
            return Match(None, short(output))
        wrong = violation(self.schema, output)
        if wrong is not None and isinstance(output, str):
            try:
                wrong = violation(self.schema, json_codec.loads(output))
            except ValueError:
                wrong = "it is not JSON"
        return Match(wrong is None, short(output) if wrong is None else f"{short(output)}: {wrong}")


def _some_result(
    trace: TraceView, tool_name: str, wanted: str, match: Callable[[Any, str | None], Match]
) -> Verdict:
    """Return the verdict where the result of one call of a tool has to match."""
    calls = trace.calls_of(tool_name)
    matches = [(call, _match_call(trace, call, match)) for call in calls]
    good = [call.step_id for call, found in matches if found.holds]
    if good:
        return passed(f"{tool_name} returned {wanted} at {list_words(good)}", good)
    ids = [call.step_id for call in calls]
    words = list_words((f"{call.name} at {call.step_id}: {m.detail}" for call, m in matches), "; ")
    reason = f"{tool_name} did not return {wanted}"
    if any(found.holds is None for _, found in matches):
        return not_evaluated(f"{reason} that can be seen; {words}", ids)
    if unseen := trace.unseen_calls_of(tool_name):
        return not_evaluated(f"{reason}, but {unseen}", ids)
    if not calls:
        return failed(f"{tool_name} was not called; {called_by_run(trace.calls)}")
    return failed(f"{reason}; {words}", ids)


def _match_call(trace: TraceView, call: Call, match: Callable[[Any, str | None], Match]) -> Match:
    if call.result is None:
        return Match(None, "its result was not recorded")
    if or_none(call.result.error) is not None:
        return Match(False, f"it failed: {short(call.result.error)}")
    output, field, step_id = call.result.output, RESULT, call.result_step_id
    if output is UNSET or trace.replaced(output, field, step_id) is not None:
        return Match(None, f"its result {trace.why_missing(field, step_id)}")
    if has_failed(trace, call) is None:
        return Match(None, "it may have failed")
    return match(output, gap_in(output) or trace.gap(field, step_id))
