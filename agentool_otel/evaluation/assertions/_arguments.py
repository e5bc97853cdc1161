"""The arguments that a call is expected to have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, NamedTuple

from agentool_otel.evaluation.comparing import Match, equal, gap_in, hides_members, short
from agentool_otel.evaluation.json_schema import violation
from agentool_otel.evaluation.judged import Call
from agentool_otel.evaluation.time_limit import TimeLimit
from agentool_otel.evaluation.visible_text import find, json_text
from agentool_otel.model.documents import UNSET

__all__ = ["ArgumentMode", "ExpectedArguments", "describe_call"]

ArgumentMode = Literal["exact", "subset", "superset", "ignore"]


class ExpectedArguments(NamedTuple):
    """What is expected of the arguments of a call, by name: values, JSON Schemas, regexes."""

    values: dict[str, Any]
    schemas: dict[str, dict[str, Any]]
    patterns: dict[str, str]
    mode: ArgumentMode = "subset"

    def match(self, call: Call) -> Match:
        """Compare a call's arguments with them."""
        names = [*self.values, *self.schemas, *self.patterns]
        if self.mode == "ignore" or (not names and self.mode == "subset"):
            return Match(True)
        if call.arguments is UNSET:
            return Match(None, f"arguments that cannot be seen ({call.gap})")
        if call.replaced is not None:
            return Match(None, f"arguments that cannot be seen (what is there {call.replaced})")
        if not isinstance(call.arguments, dict):
            unseen = call.gap or gap_in(call.arguments)
            why = unseen or "is no object of arguments"
            return Match(None if unseen else False, f"{short(call.arguments)}, which {why}")
        matches = list(self._each(call, names))
        wrong = [match for match in matches if match.holds is False]
        unclear = [match for match in matches if match.holds is None]
        holds = False if wrong else None if unclear else True
        return Match(holds, "; ".join(match.detail for match in wrong or unclear))

    def _each(self, call: Call, names: list[str]) -> Iterator[Match]:
        marked = gap_in(call.arguments) if hides_members(call.arguments) else None
        gap = call.gap or marked
        for name in names:
            if name in call.arguments:
                yield self._one(name, call.arguments[name], gap)
            elif self.mode != "superset":
                yield Match(None if gap else False, f"no {name}{_expected(self._words(name))}")
        if self.mode in ("exact", "superset"):
            if gap:
                yield Match(None, f"arguments of which some may not be shown ({gap})")
            for name in call.arguments.keys() - set(names):
                if not name.startswith("$") and gap_in(name) is None:
                    yield Match(False, f"{name}={short(call.arguments[name])}, expected no {name}")

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
        return Match(False, f"{name}={short(value)}{_expected(self._words(name))}")

    def _holds(self, name: str, value: Any, call_gap: str | None) -> bool | None:
        """Return whether an argument is as expected; None where what is hidden decides."""
        if name in self.values:
            holds = equal(self.values[name], value)
            return None if call_gap is not None and not holds else holds
        gap = gap_in(value) or call_gap
        if name in self.schemas:
            holds = violation(self.schemas[name], value) is None
            return holds if gap is None else None
        text = value if isinstance(value, str) else json_text(value)
        found = find(self.patterns[name], text, ends=call_gap is None) is not None
        return found if found or gap is None else None

    def _words(self, name: str) -> str:
        if name in self.values:
            return f"{name}={short(self.values[name])}"
        if name in self.schemas:
            return f"{name} to match the schema {short(self.schemas[name])}"
        return f"{name} to match the regex {short(self.patterns[name])}"


def _expected(words: str) -> str:
    return f", expected {words}"


def describe_call(call: Call, match: Match) -> str:
    """Describe where a call was made and how its arguments differ, for a reason."""
    detail = f" with {match.detail}" if match.detail else ""
    return f"{call.name} was called at {call.step_id}{detail}"
