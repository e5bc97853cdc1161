"""Fidelity of a rebuilt trace: the origin of each field."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

import msgspec

__all__ = ["Fidelity", "Note", "Outcome", "SpanReading"]

Outcome = Literal[
    "kept",
    "inferred",
    "normalised",
    "redacted",
    "truncated",
    "damaged",
    "lost",
    "duplicate",
    "not_captured",
    "unread",
]


class Note(msgspec.Struct, frozen=True, omit_defaults=True):
    """Origin of one field of a rebuilt trace."""

    outcome: Outcome
    field: str
    """Member of the trace, or of the step named."""
    step_id: str | None = None
    span_id: str | None = None
    attribute: str | None = None
    rule: str | None = None
    """Why, where it is not simply the attribute's value."""


class SpanReading(msgspec.Struct, frozen=True, omit_defaults=True):
    """Interpretation of one span."""

    span_id: str
    name: str
    dialect: str | None = None
    """The vocabulary it was read in; None if no dialect recognised it."""
    confidence: float = 0.0
    """Certainty of that dialect, up to 1."""
    why: str = ""


class Fidelity(msgspec.Struct):
    """The fidelity report of one rebuilt trace."""

    trace_id: str
    dialects: list[str] = []
    """The vocabularies of its spans."""
    spans: int = 0
    readings: list[SpanReading] = []
    """Interpretation of each span, with the reason."""
    model_calls: int = 0
    """Model calls in it, each once, however many spans report it."""
    notes: list[Note] = []
    unread: dict[str, int] = {}
    """Attributes that nothing in the trace was made of, and on how many spans they stood."""
    unread_spans: dict[str, int] = {}
    """Names of spans and log records of a known vocabulary that nothing in the trace was made of,
    and how many there were."""
    unread_events: dict[str, int] = {}
    """The same for events on spans."""
    ties: list[str] = []
    """Spans that two dialects claim with equal right, and which one was taken."""
    store_loses: list[str] = []
    """Data of a span that its store loses."""

    def summary(self) -> dict[str, int]:
        """Return how many fields had each outcome."""
        return dict(Counter(note.outcome for note in self.notes))

    def to_dict(self) -> dict[str, Any]:
        report: dict[str, Any] = msgspec.to_builtins(self)
        report["summary"] = self.summary()
        return report
