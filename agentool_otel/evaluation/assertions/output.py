"""Assertions on the output of a run."""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import Meta

from agentool_otel.evaluation.assertions._patterns import check_pattern
from agentool_otel.evaluation.check import Check, Word, be, list_words
from agentool_otel.evaluation.comparing import difference, equal, short
from agentool_otel.evaluation.json_schema import check_schema, violation
from agentool_otel.evaluation.trace_view import TraceView
from agentool_otel.evaluation.verdicts import Verdict, failed, not_evaluated, passed, with_note
from agentool_otel.evaluation.visible_text import MOST, find, texts_of
from agentool_otel.ground import json_codec
from agentool_otel.model.documents import UNSET, EvalCase
from agentool_otel.semconv.redaction import visible_parts

__all__ = ["OutputContains", "OutputEquals", "OutputMatches", "ResponseFormat"]


class _OnOutput(Check, frozen=True, kw_only=True):
    """An assertion on the output, which may be an answer that did not come to its end."""

    def check(self, trace: TraceView, case: EvalCase) -> Verdict:
        if trace.failed_before_answer:
            return failed("there is no output: the run failed before an answer")
        return with_note(self.verdict(trace), trace.output_end)

    def verdict(self, trace: TraceView) -> Verdict:
        raise NotImplementedError


class OutputEquals(_OnOutput, frozen=True, kw_only=True):
    """The output is this JSON value."""

    value: Any
    """The JSON value: an object has these members and no others; 1 and 1.0 are equal, 1 and "1"
    are not."""

    def verdict(self, trace: TraceView) -> Verdict:
        output, gap = trace.output()
        holds = UNSET if output is UNSET or trace.output_gap else equal(self.value, output)
        if holds is UNSET or holds is None:
            return not_evaluated(f"the output {gap}")
        if holds:
            return passed("the output is as expected")
        reason = f"the output is {short(output)}, expected {short(self.value)}"
        return failed(reason, differences=[difference("output", self.value, output)])


class OutputContains(_OnOutput, frozen=True, kw_only=True):
    """The output contains a text, or every one of several."""

    text: Word | Annotated[list[Word], Meta(min_length=1)]
    """A text, or several of which every one must be there."""
    ignore_case: bool = False
    """Whether to ignore the case of letters."""

    def verdict(self, trace: TraceView) -> Verdict:
        output, gap = trace.output()
        if output is UNSET or trace.output_replaced:
            return not_evaluated(f"the output {gap}")
        wanted = [self.text] if isinstance(self.text, str) else self.text
        within = [
            self._fold_case(part) for text in texts_of(output) for part in visible_parts(text)
        ]
        missing = [
            item for item in wanted if not any(self._fold_case(item) in part for part in within)
        ]
        if not missing:
            return passed(f"the output contains {list_words(map(short, wanted))}")
        reason = f"{list_words(map(short, missing))} {be(len(missing))} not in the output"
        if gap:
            return not_evaluated(f"{reason}, which {gap}")
        return failed(f"{reason} {short(output)}")

    def _fold_case(self, text: str) -> str:
        return text.casefold() if self.ignore_case else text


class OutputMatches(_OnOutput, frozen=True, kw_only=True):
    """A Python regular expression matches somewhere in the output."""

    pattern: Word
    """A regular expression of Python's `re`, searched for anywhere in the output."""

    def __post_init__(self) -> None:
        check_pattern(self.pattern, "pattern")

    def verdict(self, trace: TraceView) -> Verdict:
        output, gap = trace.output()
        if output is UNSET or trace.output_replaced:
            return not_evaluated(f"the output {gap}")
        texts = texts_of(output)
        for text in texts:
            matches = find(self.pattern, text, ends=not trace.output_gap)
            if matches is not None:
                return passed(f"the pattern matches {short(matches)} in the output")
        length = max(map(len, texts))
        if gap or length > MOST:
            why = gap or f"has {length:,} characters, of which {MOST:,} were searched"
            return not_evaluated(f"the output, in which {short(self.pattern)} has no match, {why}")
        return failed(f"{short(self.pattern)} has no match in the output {short(output)}")


class ResponseFormat(_OnOutput, frozen=True, kw_only=True):
    """The output matches a JSON Schema, as it is or, if it is a text, as the JSON in it."""

    schema: Annotated[dict[str, Any], Meta(min_length=1)]
    """The JSON Schema; an empty one would match every output. `format` in it is not checked."""

    def __post_init__(self) -> None:
        check_schema(self.schema, "schema")

    def verdict(self, trace: TraceView) -> Verdict:
        output, gap = trace.output()
        if gap:
            return not_evaluated(f"the output {gap}")
        wrong = violation(self.schema, output)
        if wrong is not None and isinstance(output, str):
            wrong = self._as_json(output)
        if wrong is None:
            return passed("the output matches the schema")
        return failed(f"the output does not match the schema: {wrong}")

    def _as_json(self, output: str) -> str | None:
        try:
            value = json_codec.loads(output)
        except ValueError:
            return f"it is not JSON: {short(output)}"
        return violation(self.schema, value)
