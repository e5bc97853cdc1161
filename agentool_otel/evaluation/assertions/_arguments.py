"""The arguments that a call is expected to have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Literal, NamedTuple

from agentool_otel.evaluation.check import list_words
from agentool_otel.evaluation.comparing import (
    Match,
    difference,
    equal,
    gap_in,
    hides_members,
    short,
)
from agentool_otel.evaluation.json_schema import violation
from agentool_otel.evaluation.time_limit import TimeLimit
from agentool_otel.evaluation.trace_view import Call
from agentool_otel.evaluation.verdicts import Difference
from agentool_otel.evaluation.visible_text import find, json_text
from agentool_otel.model.documents import UNSET
from agentool_otel.reading.rebuild.report.gaps import HIDING

__all__ = ["OLD_MODES", "ArgumentMode", "ExpectedArguments", "describe_matches", "differences_of"]

ArgumentMode = Literal["exact", "at_least", "at_most", "ignore", "subset", "superset"]
OLD_MODES = {"subset": "at_least", "superset": "at_most"}
"""Earlier words for modes. In `mode` of `tool_sequence` they mean the opposite directions."""


class ExpectedArguments(NamedTuple):
    """Expected arguments of a call, by name: values, JSON Schemas, regexes."""

    values: dict[str, Any]
    schemas: dict[str, dict[str, Any]]
    patterns: dict[str, str]
    mode: ArgumentMode = "at_least"

    def match(self, call: Call) -> Match:
        """Compare a call's arguments with them."""
        names = [*self.values, *self.schemas, *self.patterns]
        mode = OLD_MODES.get(self.mode, self.mode)
        if mode == "ignore" or (not names and mode == "at_least"):
            return Match(True)
        if call.arguments is UNSET:
            return Match(None, f"arguments whose content {call.gap}")
        if call.replaced is not None:
            return Match(None, f"arguments whose content {call.replaced}")
        if not isinstance(call.arguments, dict):
            unseen = call.gap or gap_in(call.arguments)
            why = unseen or "is not an object of arguments"
            return Match(None if unseen else False, f"{short(call.arguments)}, which {why}")
        matches = list(self._each(call, names))
        wrong = [match for match in matches if match.holds is False]
        unclear = [match for match in matches if match.holds is None]
        holds = False if wrong else None if unclear else True
        decisive = wrong or unclear
        differences = tuple(item for match in decisive for item in match.differences)
        return Match(holds, " and ".join(match.detail for match in decisive), differences)

    def _each(self, call: Call, names: list[str]) -> Iterator[Match]:
        mode = OLD_MODES.get(self.mode, self.mode)
        marked = gap_in(call.arguments) if hides_members(call.arguments) else None
        gap = call.gap or marked
        # Of an object that was cut, what is there is whole.
        gap_inside = None if (call.gap or "").startswith(HIDING["truncated"]) else call.gap
        for name in names:
            if name in call.arguments:
                yield self._one(name, call.arguments[name], gap_inside)
            elif mode != "at_most":
                one = Difference(name, self._expected_text(name), f"no {name}")
                detail = f"no {name}, expected {self._description_of(name)}"
                yield Match(None if gap else False, detail, (one,))
        if mode in ("exact", "at_most"):
            if gap:
                yield Match(None, f"arguments, one of which {gap}")
            for name in [argument for argument in call.arguments if argument not in names]:
                if not name.startswith("$") and gap_in(name) is None:
                    value = call.arguments[name]
                    one = difference(name, None, value)._replace(expected=f"no {name}")
                    yield Match(False, f"{name}={short(value)}, expected no {name}", (one,))

    def _one(self, name: str, value: Any, call_gap: str | None) -> Match:
        try:
            holds = self._holds(name, value, call_gap)
        except TimeLimit as error:  # another call may match: this one is unclear
            return Match(None, f"{name}={short(value)}: {error}")
        if holds:
            return Match(True)
        unseen = gap_in(value) or call_gap
        if holds is None:
            return Match(None, f"{name}={short(value)}, which {unseen}")
        one = difference(name, None, value)._replace(expected=self._expected_text(name))
        return Match(False, f"{name}={short(value)}, expected {self._description_of(name)}", (one,))

    def _holds(self, name: str, value: Any, call_gap: str | None) -> bool | None:
        """Return whether an argument is as expected; None if hidden data decides."""
        if name in self.values:
            holds = equal(self.values[name], value)
            return None if call_gap is not None and not holds else holds
        gap = gap_in(value) or call_gap
        if name in self.schemas:
            holds = violation(self.schemas[name], value) is None
            return holds if gap is None else None
        text = value if isinstance(value, str) else json_text(value)
        matches = find(self.patterns[name], text, ends=call_gap is None) is not None
        return matches if matches or gap is None else None

    def _description_of(self, name: str) -> str:
        if name in self.values:
            return f"{name}={short(self.values[name])}"
        if name in self.schemas:
            return f"{name} to match the schema {short(self.schemas[name])}"
        return f"{name} to match the regex {short(self.patterns[name])}"

    def _expected_text(self, name: str) -> str:
        if name in self.values:
            return difference(name, self.values[name], None).expected
        if name in self.schemas:
            return f"a match of the schema {short(self.schemas[name])}"
        return f"a match of the regex {short(self.patterns[name])}"


def describe_matches(matches: Iterable[tuple[Call, Match]]) -> str:
    """Return where calls were made and how their arguments differ, for a reason."""
    return list_words((_describe_match(call, match) for call, match in matches), "; ")


def _describe_match(call: Call, match: Match) -> str:
    detail = f" with {match.detail}" if match.detail else ""
    return f"{call.name} was called at {call.step_id}{detail}"


def differences_of(matches: Iterable[tuple[Call, Match]]) -> list[Difference]:
    """Return the arguments of calls that are not as expected."""
    return [
        item._replace(step_id=call.step_id) for call, match in matches for item in match.differences
    ]
