"""The limits of one reading of a server, independent of single answers."""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import NamedTuple

from agentool_otel.errors import SourceError

__all__ = ["Limits", "Reading", "ReadingLimit"]


class Limits(NamedTuple):
    """Limits of one reading. Parameters of the same names in a SOURCE change them."""

    max_traces: int = 1_000_000
    max_requests: int = 2_000_000
    max_services: int = 10_000
    within_s: float = 3600.0
    """Seconds of waiting for the server, in all; the parameter is `within`."""


class ReadingLimit(SourceError):
    """A reading has reached one of its limits."""


class Reading:
    """Totals of one reading so far.

    Args:
        name: of the server, for messages.
        limits: which `count_` methods and `seconds_left` hold it to.
    """

    def __init__(self, name: str, limits: Limits):
        self.limits = limits
        self.traces = self.requests = 0
        self._name = name
        self._waited_s = 0.0
        self._waits_since: float | None = None

    def count_trace(self) -> None:
        """Count a trace.

        Raises:
            ReadingLimit: it is one too many.
        """
        if self.traces >= self.limits.max_traces:
            raise self._limit_error(f"{self.limits.max_traces:,} traces", "max_traces")
        self.traces += 1

    def count_request(self) -> None:
        """Count a request.

        Raises:
            ReadingLimit: it is one too many.
        """
        if self.requests >= self.limits.max_requests:
            raise self._limit_error(f"{self.limits.max_requests:,} requests", "max_requests")
        self.requests += 1

    @contextmanager
    def waiting(self) -> Generator[None]:
        """Count the time in the context as waiting for the server."""
        self._waits_since = time.monotonic()
        try:
            yield
        finally:
            self._waited_s = self._time_waited()
            self._waits_since = None

    def _time_waited(self) -> float:
        since = self._waits_since
        return self._waited_s + (0.0 if since is None else time.monotonic() - since)

    def seconds_left(self) -> float:
        """Return how long the server may still be waited for.

        Raises:
            ReadingLimit: no longer.
        """
        left = self.limits.within_s - self._time_waited()
        if left <= 0:
            raise self._limit_error(
                f"{self.limits.within_s:g} s of waiting for the server", "within"
            )
        return left

    def too_many_services(self, number: int) -> ReadingLimit:
        """Return an error for a server that lists more services than may be read."""
        limit = self.limits.max_services
        return self._limit_error(f"{limit:,} of {number:,} services", "max_services")

    def _limit_error(self, limit: str, parameter: str) -> ReadingLimit:
        higher = _higher(self.limits, parameter)
        return ReadingLimit(
            f"{self._name}: one reading takes {limit}, and there is more; until then it read "
            f"{self.traces:,} traces by {self.requests:,} requests; hint: {parameter}={higher} "
            "raises the limit, since=, until= and service= ask for less"
        )


def _higher(limits: Limits, parameter: str) -> str:
    if parameter == "within":
        return f"{2 * limits.within_s:g}s"
    return str(2 * int(getattr(limits, parameter)))
