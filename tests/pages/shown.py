"""Contents of a page about the programs' runs, read from the API that the page reads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Kind", "Run", "Shown", "Span"]

Kind = Literal["agent", "tool", "model", "retriever", "other", ""]
"""The mark that a span has on the page; "" is none, or one that says unknown."""


@dataclass(frozen=True, kw_only=True)
class Span:
    """One row of an opened run. Texts are what the page shows, "" where it shows nothing."""

    name: str
    kind: Kind = ""
    input: str = ""
    output: str = ""
    asked: tuple[str, ...] = ()
    """Texts of the messages that are rendered as a chat: those that came in."""
    answered: tuple[str, ...] = ()
    """Texts of the messages that were given back."""
    documents: tuple[str, ...] = ()
    """Texts of the documents that are listed."""
    model: str = ""
    tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost_usd: float | None = None
    first_token_s: float | None = None
    error: str = ""
    """The error's text, where the span is marked as failed."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """One row of the list of runs, with its details."""

    listed_input: str = ""
    """The run's input in the list."""
    session: str = ""
    user: str = ""
    spans: tuple[Span, ...]
    """In any order."""


@dataclass(frozen=True)
class Shown:
    """Everything a backend shows, by program."""

    programs: dict[str, tuple[Run, ...]] = field(default_factory=dict[str, tuple[Run, ...]])

    def runs(self, program: str) -> tuple[Run, ...]:
        return self.programs.get(program, ())

    def spans(self, program: str, name: str = "") -> list[Span]:
        """Return a program's spans whose names begin so."""
        every = [span for run in self.runs(program) for span in run.spans]
        return [span for span in every if span.name.startswith(name)]

    def everywhere(self, name: str) -> list[Span]:
        """Return the spans of all programs whose names begin so."""
        return [span for program in self.programs for span in self.spans(program, name)]
