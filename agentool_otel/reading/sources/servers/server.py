"""The common part of sources that read a server: each trace once, with reports of missing data.

A refused request loses only what it was for. Where the server is gone, or denies access, reading
stops, and what was read until then is kept. An error is raised only if nothing could be read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from difflib import get_close_matches
from typing import BinaryIO, ClassVar, cast
from urllib.parse import quote

from agentool_otel.errors import (
    AgentoolError,
    DecodeError,
    SourceDenied,
    SourceError,
    SourceUnreachable,
)
from agentool_otel.ground.untrusted_text import logger
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.model.problems import Problem
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.files.span_files import SpanFiles
from agentool_otel.reading.sources.servers.answer import Answer
from agentool_otel.reading.sources.servers.credentials import Credentials
from agentool_otel.reading.sources.servers.http import Http
from agentool_otel.reading.sources.servers.limits import Reading, ReadingLimit
from agentool_otel.reading.sources.servers.query import parse_query, window_text
from agentool_otel.reading.sources.servers.windows import Window

__all__ = ["ServerSource"]

_log = logger(__name__)
_PROBLEMS = 1000
_SERVICES_SHOWN = 8


class ServerSource(ABC):
    """A server that traces are read from, by its URL.

    Args:
        where: the URL, such as `tempo://localhost:3200?service=bot&since=2h`.

    Raises:
        SourceError: the URL cannot be understood.
        MissingDependencyError: httpx is not installed.
        ConfigurationError: an environment variable cannot be used.
    """

    store: ClassVar[str]
    """Its usual name, which in capitals is part of the names of its environment variables."""
    port: ClassVar[int]
    """The port of its API, where the URL names none."""
    tenant_header: ClassVar[str]
    step_ns: ClassVar[int]
    """The shortest time that its search distinguishes."""
    declared: ClassVar[tuple[str, ...]]
    """Known losses of the store, one line each."""

    def __init__(self, where: str):
        self.query = parse_query(where, self.port)
        self.name = self.query.name
        credentials = Credentials(self.store, self.query.userinfo, self.tenant_header)
        self.http = Http(self.name, self.query.base, credentials, self.query.timeout_s)
        self.problems: list[Problem] = []
        self.document: Callable[[ReasoningTrace], None] | None = None
        self.skipped = 0
        self.bytes_total: int | None = None
        self.seen: set[bytes] = set()
        """Ids of the traces that were read."""
        self._refusals: list[AgentoolError] = []
        """The first one, if any."""
        self._of_containers: dict[str, None] = {}

    @property
    def bytes_read(self) -> int:
        """Return the number of bytes of answers so far."""
        return self.http.bytes_read

    @property
    def loses(self) -> tuple[str, ...]:
        """Return the data of a span that the store loses, one line each."""
        return tuple(dict.fromkeys((*self.declared, *self._of_containers)))

    def spans(self) -> Iterator[SpanRecord]:
        """Yield the spans of each trace once.

        Raises:
            SourceUnreachable: the server gives no answer.
            SourceDenied: it denies access.
            ReadingLimit: the limits of the query were reached before anything was read.
            SourceError: it refused every request.
        """
        self.problems.clear()
        self._refusals.clear()
        self._of_containers.clear()
        self.seen.clear()
        self.skipped = self.http.bytes_read = 0
        self.http.reading = Reading(self.name, self.query.limits)
        if self.query.usual:
            window = window_text(self.query.since_ns, self.query.until_ns)
            _log.warning("%s: reading the last hour, %s; since=2h asks for more", self.name, window)
        delivered = False
        try:
            for span in self.read():
                delivered = True
                yield span
        except AgentoolError as error:
            if not delivered:
                raise
            self.report(self.name, f"reading stopped here, and the rest is missing: {error}")
        finally:
            self.http.close()
        if self._refusals and not delivered:
            raise self._refusals[0]

    @abstractmethod
    def read(self) -> Iterator[SpanRecord]:
        """Yield the spans that the query selects."""

    @property
    def window(self) -> Window:
        """The time window of the query, in whole steps of the search."""
        step = self.step_ns
        until = -(-self.query.until_ns // step) * step
        return Window(self.query.since_ns // step * step, until)

    def decode(self, answer: Answer) -> Iterator[SpanRecord]:
        """Yield the spans of an answer, and close it.

        Raises:
            SourceError: it holds something else than traces.
        """
        if answer.status != 200 or answer.is_page():
            raise self.http.refusal(answer)
        files = SpanFiles([cast("BinaryIO", answer)], self.name)
        try:
            if not answer.may_hold_spans():
                raise DecodeError("traces", "something else")
            yield from files.spans()
        except DecodeError:
            raise SourceError(f"{answer.name} answers with something else than traces") from None
        finally:
            answer.close()
            self.skipped += files.skipped
            self._of_containers.update(dict.fromkeys(files.loses))
            for problem in files.problems:
                self.report(problem.where, problem.message)

    def not_there(self, answer: Answer) -> SourceError:
        """Return an error for the answer that there is no such trace, and close it."""
        words = self.http.explanation(answer) if answer.status != 200 else ""
        error = SourceError(
            f"{answer.name} is not there{words}: its id is unknown, or the trace is older than the "
            "server keeps any, or larger than it takes, or another tenant's"
        )
        answer.close()
        return error

    def check_service(self, service: str, services: Iterable[str]) -> None:
        """Note that a service of the query, of which nothing was found, is not one of the server's.

        Args:
            service: the name in the query.
            services: the services of the server. A server without any is only empty.
        """
        names = sorted(set(services))
        if not names or service in names:
            return
        similar = get_close_matches(service, names, n=_SERVICES_SHOWN)
        ordered = [*similar, *(name for name in names if name not in similar)]
        shown = ", ".join(repr(name) for name in ordered[:_SERVICES_SHOWN])
        if (more := len(ordered) - _SERVICES_SHOWN) > 0:
            shown += f" and {more:,} more"
        hint = f"service={quote(ordered[0], safe='')}" if similar else "leave out service= for all"
        self.note_failure(
            self.name,
            SourceError(f"{self.name} has no service {service!r}, it has {shown}; hint: {hint}"),
        )

    def is_new(self, trace_id: str) -> bool:
        """Return whether a trace was not read yet, and mark it as read.

        Raises:
            ReadingLimit: it is one too many.
        """
        key = bytes.fromhex(trace_id)
        if key in self.seen:
            return False
        self.http.reading.count_trace()
        self.seen.add(key)
        return True

    def note_failure(self, where: str, error: AgentoolError) -> None:
        """Note that one request failed.

        Raises:
            SourceUnreachable, SourceDenied, ReadingLimit: all other requests would fail as well.
        """
        if isinstance(error, (SourceUnreachable, SourceDenied, ReadingLimit)):
            raise error
        if not self._refusals:
            self._refusals.append(error)
        self.report(where, str(error).removeprefix(where).lstrip(": "))

    def report(self, where: str, message: str) -> None:
        """Note a problem."""
        if len(self.problems) < _PROBLEMS:
            self.problems.append(Problem(where, message))
        elif len(self.problems) == _PROBLEMS:
            self.problems.append(Problem(self.name, "there are more problems than are listed here"))
