"""The differences of two traces, as records and as JSON."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import msgspec

from agentool_otel.evaluation.trace_diff.actions import Action, name_of
from agentool_otel.model.documents import UNSET

__all__ = ["Change", "Kind", "Measure", "StepChange", "TraceDiff", "Unknown"]

Kind: TypeAlias = Literal["added", "lost", "moved", "reordered", "changed"]
"""added: only in B. lost: only in A. moved: equal, or with an equal request, at another place;
reordered: so, among calls that were made together. changed: the same call or the same kind of step,
with other content.
"""


class Change(msgspec.Struct, frozen=True, kw_only=True, repr_omit_defaults=True):
    """The smallest piece in which two values differ."""

    path: str
    """Of a trace `input`, `output`, `status`, `error.message`, ...; of a step what is inside its
    `arguments`, `result`, `error`, `content`, `message`, `query`, `results`."""
    a: Any = UNSET
    """Value in A; `UNSET` where there is none."""
    b: Any = UNSET

    def to_dict(self) -> dict[str, Any]:
        """Return it as a JSON object, without `a` or `b` if the value was absent there."""
        return {"path": self.path, **_there(a=self.a, b=self.b)}


class Unknown(msgspec.Struct, frozen=True, kw_only=True):
    """Something that may or may not differ: the deciding data is masked, truncated or not
    recorded.
    """

    path: str
    """As in `Change`; `step` for a whole step."""
    why: str
    a: Action | None = None
    """The step in A; None for a member of the trace, or where there is none."""
    b: Action | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {"path": self.path, "why": self.why, **_places(self.a, self.b)}


class StepChange(msgspec.Struct, frozen=True, kw_only=True):
    """A step that is not the same in both traces."""

    kind: Kind
    a: Action | None
    """The step in A; None if it was added."""
    b: Action | None
    """The step in B; None if it was lost."""
    changes: tuple[Change, ...] = ()
    """Differences inside the step, also of a step that moved."""

    @property
    def action(self) -> Action:
        """The step in B, or in A where it was lost."""
        action = self.b or self.a
        assert action is not None
        return action

    def to_dict(self) -> dict[str, Any]:
        """Return it as a JSON object, with the content of steps that were added or lost."""
        record: dict[str, Any] = {"kind": self.kind, "type": self.action.step.type}
        if (name := name_of(self.action)) is not None:
            record["name"] = name
        record |= _places(self.a, self.b)
        if self.kind in ("added", "lost"):
            record["step"] = self.action.step.to_dict()
            if self.action.result is not None:
                record["result"] = self.action.result.to_dict()
        if self.changes:
            record["changes"] = [change.to_dict() for change in self.changes]
        return record


class Measure(msgspec.Struct, frozen=True, kw_only=True):
    """A total of each trace."""

    name: str
    """`steps`, `tool_calls`, `tokens`, `input_tokens`, `output_tokens`, `cost_usd` (US dollars),
    `duration_ms` (milliseconds)."""
    a: int | float | None
    """None if unknown, which is not 0."""
    b: int | float | None
    differs: bool | None = False
    """Whether the two are further apart than the tolerance: False without a tolerance, None if a
    number is unknown.
    """

    def to_dict(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        return {"name": self.name, "a": self.a, "b": self.b, "differs": self.differs}


class TraceDiff(msgspec.Struct, frozen=True, kw_only=True):
    """The differences of two traces."""

    a: str | None
    """The id of the one; None if it has no partner, and all of the other was added."""
    b: str | None
    changes: tuple[Change, ...] = ()
    """Differences outside of the steps."""
    steps: tuple[StepChange, ...] = ()
    """Differences in the steps, in their order."""
    equal_steps: int = 0
    """Number of equal steps. A call and its result count once."""
    measures: tuple[Measure, ...] = ()
    """Totals of both, those that are known of one at least."""
    unknown: tuple[Unknown, ...] = ()
    """Values that cannot be compared: neither different nor equal."""

    @property
    def same(self) -> bool:
        """Return whether there is no known difference."""
        return (
            None not in (self.a, self.b)
            and not self.changes
            and not self.steps
            and not any(measure.differs for measure in self.measures)
        )

    @property
    def certain(self) -> bool:
        """Return whether everything could be compared."""
        return not self.unknown and all(measure.differs is not None for measure in self.measures)

    def to_dict(self) -> dict[str, Any]:
        """Return it as a JSON object."""
        if self.a is None or self.b is None:
            kind = "added" if self.a is None else "lost"
            return {"a": self.a, "b": self.b, "same": False, "kind": kind}
        return {
            "a": self.a,
            "b": self.b,
            "same": self.same,
            "changes": [change.to_dict() for change in self.changes],
            "steps": [step.to_dict() for step in self.steps],
            "equal_steps": self.equal_steps,
            "measures": [measure.to_dict() for measure in self.measures],
            "unknown": [unknown.to_dict() for unknown in self.unknown],
        }


def _there(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not UNSET}


def _places(a: Action | None, b: Action | None) -> dict[str, Any]:
    return {
        f"{side}_step": {"step_id": action.step_id, "place": action.place}
        for side, action in (("a", a), ("b", b))
        if action is not None
    }
