"""Formats: their protocol, the installed ones, and files of their values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any, BinaryIO, Literal, NamedTuple, Protocol, cast

from agentool_otel.errors import ConfigurationError
from agentool_otel.ground.json_codec import dumps
from agentool_otel.ground.plugins import plugins
from agentool_otel.model.documents import ReasoningTrace

__all__ = [
    "LINES",
    "Converted",
    "Format",
    "Framing",
    "Loss",
    "Writer",
    "format_named",
    "formats",
    "loss_sentences",
]


class Loss(NamedTuple):
    """A member of a trace that a format changes or drops."""

    outcome: Literal["lost", "normalised"]
    """`normalised` where it is there in another form."""
    member: str
    """Member of the trace, `type.member` for that of a step, or the type of a whole step."""
    reason: str
    step_id: str | None = None


class Converted(NamedTuple):
    """A trace in a format."""

    value: Any
    """JSON value."""
    losses: list[Loss]


class Framing(NamedTuple):
    """Way to put the values of several traces into one file, one value per line."""

    head: bytes = b""
    between: bytes = b""
    tail: bytes = b""


LINES = Framing()
"""JSON Lines: any number of values, nothing around them."""


class Format(Protocol):
    """One shape. See the package docstring for the law."""

    name: str

    @property
    def framing(self) -> Framing: ...

    def write(self, trace: ReasoningTrace) -> Converted: ...


def formats() -> list[str]:
    """Return the names of the installed formats, ours and third parties'."""
    return sorted(plugins("agentool_otel.formats"))


def format_named(name: str) -> Format:
    """Return an installed format.

    Raises:
        ConfigurationError: if no format has that name.
    """
    points = plugins("agentool_otel.formats")
    if name not in points:
        raise ConfigurationError(f"no format {name!r}; there are {', '.join(sorted(points))}")
    return cast("type[Format]", points[name].load())()


class Writer:
    """Writes traces in one format to a file, as they arrive."""

    def __init__(self, out: BinaryIO, format: Format):
        self._out = out
        self._format = format
        self._framing = format.framing
        self._between = b""
        self.kinds: Counter[tuple[str, str, str]] = Counter()
        """Number of losses of each kind: outcome, member, reason."""
        if self._framing.head:
            out.write(self._framing.head + b"\n")

    def write(self, trace: ReasoningTrace) -> None:
        """Write a trace."""
        value, losses = self._format.write(trace)
        self.put(dumps(value).encode(), losses)

    def put(self, value: bytes, losses: Iterable[Loss] = ()) -> None:
        """Write a trace that is in this format already, as JSON, and note its losses."""
        self._out.write(self._between + value + b"\n")
        self._between = self._framing.between
        self.kinds.update((loss.outcome, loss.member, loss.reason) for loss in losses)

    def finish(self) -> None:
        """Write the end of the file."""
        if self._framing.tail:
            self._out.write(self._framing.tail + b"\n")


def loss_sentences(losses: Counter[tuple[str, str, str]]) -> list[str]:
    """Return a sentence per kind of loss, `(outcome, member, reason)`, the most frequent first."""
    return [
        f"{outcome}: {member} ({times:,} times): {reason}"
        if times > 1
        else f"{outcome}: {member}: {reason}"
        for (outcome, member, reason), times in losses.most_common()
    ]
