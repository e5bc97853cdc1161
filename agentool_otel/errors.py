"""Every error this package raises on purpose.

    AgentoolError
    ├── ConfigurationError        an option or variable that cannot be used as it is
    ├── MissingDependencyError    an optional library that is not installed
    ├── SourceError               a place spans are read from
    │   ├── SourceUnreachable     it does not answer, or does not exist
    │   └── SourceDenied          it answers, and says no
    ├── DecodeError               bytes or a document that are not what they should be
    └── EvaluationError           a case that cannot be evaluated
        └── CasesError            cases and checks that are wrong as they are written

A message says what, where and how to mend it, on one clean line: it quotes names of files, columns
and servers, in which invisible characters and line ends are spelled out. `args` has it as it was
built. Instrumented user code never sees one of these: they
are raised by offline code and by explicit configuration only.
"""

from __future__ import annotations

from collections.abc import Sequence

from agentool_otel.ground.untrusted_text import flat

__all__ = [
    "AgentoolError",
    "CasesError",
    "ConfigurationError",
    "DecodeError",
    "EvaluationError",
    "MissingDependencyError",
    "SourceDenied",
    "SourceError",
    "SourceUnreachable",
]

_SHOWN = 20
"""Problems of cases that a message lists."""


class AgentoolError(Exception):
    """The base of all errors of this package."""

    def __str__(self) -> str:
        return flat(super().__str__())


class ConfigurationError(AgentoolError):
    """An option or an environment variable has a value that cannot be used."""


class MissingDependencyError(AgentoolError):
    """A library that was requested by name is not installed."""


class SourceError(AgentoolError):
    """Spans could not be read from a place."""


class SourceUnreachable(SourceError):
    """The place does not exist or does not answer."""


class SourceDenied(SourceError):
    """The place answers and refuses."""


class DecodeError(AgentoolError, ValueError):
    """Data is not the document or the encoding it should be.

    Attributes:
        path: JSON path of the offending value, `$` for the whole document.
        expected: what should stand there.
        actual: what does, shortened.
        where: the file or record it happened in, None if it is not known.
        hint: what the user can do, None if nothing general helps.
    """

    def __init__(
        self,
        expected: str,
        actual: str,
        path: str = "$",
        *,
        where: str | None = None,
        hint: str | None = None,
    ):
        self.expected = expected
        self.actual = actual
        self.path = path
        self.where = where
        self.hint = hint
        place = f"at {path} in {where}" if where else f"at {path}"
        if where and path == "$":
            place = f"in {where}"
        end = f"; hint: {hint}" if hint else ""
        super().__init__(f"expected {expected}, got {actual} - {place}{end}")

    def within(self, where: str) -> DecodeError:
        """Return the same error, naming the file or record it happened in."""
        return DecodeError(self.expected, self.actual, self.path, where=where, hint=self.hint)


class EvaluationError(AgentoolError):
    """An evaluation case cannot be carried out as written."""


class CasesError(EvaluationError):
    """Cases, or checks in them, that are wrong as they are written: a line for each.

    Attributes:
        problems: each with its place: `checks.yaml:3: latency has no parameter 'max_sec'; ...`.
    """

    def __init__(self, problems: Sequence[str]):
        self.problems = tuple(problems)
        super().__init__("\n  ".join(self.lines()))

    def __str__(self) -> str:
        return "\n  ".join(map(flat, self.lines()))

    def lines(self) -> list[str]:
        """Return the message as lines: the only problem, or a count and then a line per problem."""
        shown = [*self.problems[:_SHOWN]]
        if len(self.problems) == 1:
            return shown
        if more := len(self.problems) - len(shown):
            shown.append(f"... and {more} more")
        return [f"{len(self.problems)} problems in the cases, and nothing was evaluated:", *shown]
