"""Result of `status()`: attached libraries, destinations of telemetry, and counts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

__all__ = ["Counts", "Destination", "Framework", "Masked", "Prefilter", "Status"]


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """Spans, or log records, of this process and where they are by now."""

    created: int
    """Spans that have ended, log records that were emitted."""
    exported: int
    """Recorded, or accepted by the receiver."""
    spooled: int
    """Waiting for the receiver."""
    refused: int
    """Kept apart, because the receiver does not take them."""
    dropped: int
    """Lost."""


class Destination(msgspec.Struct, frozen=True, kw_only=True):
    """Destination of log records or metrics."""

    destination: str | None
    """In words; None before the first `instrument()`."""
    counts: Counts | None = None
    """Counts so far; None if they do not pass through this package."""


class Masked(msgspec.Struct, frozen=True, kw_only=True):
    """Values that were changed before they left."""

    passed: int
    """Spans and log records that were looked at."""
    changed: int
    """Of these, how many had something masked or left out on their way out."""
    masked_values: int
    """Credentials that were masked, at capture or on their way out."""
    dropped_attributes: int
    """Attributes left out: unwanted content, and what could not be cleaned."""


class Prefilter(msgspec.Struct, frozen=True, kw_only=True):
    """The engine that decides which texts are searched for credentials."""

    engine: str | None
    """Name and version, as in `agentool-otel doctor`; None if it is missing."""
    detail: str
    """Whether this process has loaded it by now, or why not."""


class Framework(msgspec.Struct, frozen=True, kw_only=True):
    """A framework that this package can attach to."""

    installed: str | None
    """Its version, None if it is not installed."""
    supports: list[str]
    enabled: bool
    """Whether `instrument()` has attached to it."""
    patches: list[dict[str, str]]
    """Each patch and its outcome; empty if the library is not installed."""
    replaces: list[str]
    """Scopes of the library's own spans, which are not written meanwhile; none where the tracer
    provider is the application's."""
    others: dict[str, list[str]]
    """Modules of other packages that wrap the same calls, by call."""


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """Attached libraries, destinations of telemetry, and counts.

    `print(status())` shows ten lines; `status()["spans"]` reads it as the JSON object that
    `to_dict()` returns.
    """

    enabled: bool
    """Whether calls are recorded."""
    destination: str | None
    """Destination of spans, in a phrase; None before the first `instrument()`."""
    joined_provider: bool
    """Whether the application has a tracer provider of its own, which receives the spans as well.
    """
    content: bool
    """Whether messages, arguments and results are captured."""
    journal: bool
    """Whether a span is on disk when its `end()` returns."""
    spans: Counts | None
    """None if the application's own provider alone gets them, uncounted."""
    logs: Destination
    metrics: Destination
    instrumentors: dict[str, Framework]
    """The frameworks there are instrumentors for, by name."""
    threads: list[dict[str, str]]
    """Patches that make threads and pools keep the span that started them, with their outcomes."""
    refused_variables: dict[str, str]
    """Environment variables whose values cannot be used and are not, with what holds instead."""
    recording: str | None = None
    """The file this process records into, None before its first span or if it records none."""
    masking: Masked | None = None
    prefilter: Prefilter | None = None
    """None if it cannot be read."""

    def to_dict(self) -> dict[str, Any]:
        """Return the status as a JSON object; `recording`, `masking` and `prefilter` are absent
        if unknown."""
        state: dict[str, Any] = msgspec.to_builtins(self)
        state["spans"] = state["spans"] or {}
        state["logs"] |= state["logs"].pop("counts") or {}
        del state["metrics"]["counts"]
        return {
            name: value
            for name, value in state.items()
            if value is not None or name not in ("recording", "masking", "prefilter")
        }

    def __repr__(self) -> str:
        from agentool_otel.tracing.setup.status_text import status_text

        return status_text(self)

    def __getitem__(self, name: str) -> Any:
        return self.to_dict()[name]

    def __contains__(self, name: object) -> bool:
        return name in self.to_dict()

    def get(self, name: str, default: Any = None) -> Any:
        """Return an entry of the JSON object, or a default where it is absent."""
        return self.to_dict().get(name, default)

    def keys(self) -> Iterable[str]:
        """Return the names of the JSON object, so that `dict(status())` is that object."""
        return self.to_dict().keys()
