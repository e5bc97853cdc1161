"""What a person names on the command line to what is in it: spans, or documents.

A file is told by its beginning: recordings start with `resourceSpans`, protobuf or gzip, documents
are JSON objects, one or a list of them in a file or one on every line.
"""

from __future__ import annotations

import glob
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

from agentool_otel.errors import AgentoolError, DecodeError, SourceUnreachable
from agentool_otel.ground.urls import without_credentials
from agentool_otel.model.codec import decode
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.model.problems import Problem
from agentool_otel.model.spans import SpanRecord
from agentool_otel.sources.files.json_files import Item, items, opened, stdin
from agentool_otel.sources.files.span_files import SpanFile, SpanFiles
from agentool_otel.sources.files.trace_counts import Census
from agentool_otel.sources.opening import open_source
from agentool_otel.sources.source import Source

__all__ = [
    "Sources",
    "TraceFiles",
    "files_of",
    "holds_spans",
    "open_spans",
    "paths",
    "trace_files",
]

_HEAD = 1 << 16
_SPANS = re.compile(
    rb'"(?:resource_?(?:Spans|spans|Logs|logs|Metrics|metrics)|spanId|span_id|run_type|observations'
    rb'|trace_metadata)"|"ATIF'
)
"""What a source reads: spans, stores' names for them, and trajectories of another format."""
_TRACES = re.compile(rb'"(?:trace_id|agent_id|steps|session_id|started_at)"\s*:')
_SUFFIXES = (".json", ".jsonl", ".gz")


# ------------------------------------------------------------------------------------- spans


class Sources:
    """Several sources read as one, so that a run that is spread over them comes out whole."""

    def __init__(self, places: Sequence[str]):
        self._refused: list[tuple[str, AgentoolError]] = []
        self._sources: list[tuple[str, Source]] = []
        shown = [without_credentials(it) if "://" in it else it for it in places]
        self.name = ", ".join(shown)
        for place, name in zip(places, shown, strict=True):
            try:
                self._sources.append((name, open_source(place)))
            except AgentoolError as error:
                self._refused.append((name, error))
        if not self._sources:
            raise self._refused[0][1]
        self.problems = [Problem(place, str(error)) for place, error in self._refused]
        self.document: Callable[[ReasoningTrace], None] | None = None
        self.bytes_read = 0
        sizes = [source.bytes_total for _, source in self._sources]
        self.bytes_total = None if None in sizes else sum(size or 0 for size in sizes)

    @property
    def files(self) -> list[SpanFile]:
        """The files and streams among what is read."""
        return [file for _, source in self._sources for file in files_of(source)]

    @property
    def loses(self) -> tuple[str, ...]:
        """What the places read so far lose, each loss once."""
        return tuple(dict.fromkeys(loss for _, source in self._sources for loss in source.loses))

    @property
    def skipped(self) -> int:
        """What was passed over in the places read so far."""
        return sum(source.skipped for _, source in self._sources)

    def census(self) -> Census | None:
        """Return None: a run may be spread over the sources."""
        return None

    def spans(self) -> Iterator[SpanRecord]:
        """Yield the spans of all sources, in their order.

        Raises:
            AgentoolError: if none of them can be read.
        """
        self.problems = [Problem(place, str(error)) for place, error in self._refused]
        failed: list[AgentoolError] = []
        before = 0
        for place, source in self._sources:
            source.document = self.document
            try:
                for span in source.spans():
                    self.bytes_read = before + source.bytes_read
                    yield span
            except AgentoolError as error:
                failed.append(error)
                if not source.problems:
                    self.problems.append(Problem(place, str(error)))
            before += source.bytes_read
            self.problems += source.problems
        if len(failed) == len(self._sources):
            raise failed[0]


def open_spans(places: Sequence[str]) -> Source:
    """Return one source for the places named, the default one if there are none.

    Raises:
        SourceError: if there is nothing to read in any of them.
    """
    if len(places) > 1:
        return Sources(places)
    place = places[0] if places else None
    return SpanFiles([stdin()], "standard input") if place == "-" else open_source(place)


def files_of(source: Source) -> Sequence[SpanFile]:
    """Return the files and streams that a source reads; none where it reads a server."""
    files: Sequence[SpanFile] = getattr(source, "files", ())
    return files


# --------------------------------------------------------------------------------- documents


class TraceFiles:
    """ReasoningTrace documents of files or standard input."""

    def __init__(self, places: Sequence[Path | None]):
        self.name = ", ".join(map(_label, places))
        self.problems: list[Problem] = []
        self._places = places

    @property
    def files(self) -> list[SpanFile]:
        """The files and streams that are read."""
        return [stdin() if place is None else place for place in self._places]

    def traces(self) -> Iterator[ReasoningTrace]:
        """Yield the documents in order. What is not one becomes a problem.

        Raises:
            SourceError: if no file can be opened.
            DecodeError: if there is something, and none of it is a trace.
        """
        self.problems.clear()
        good = False
        first: AgentoolError | None = None
        for place in self._places:
            try:
                with opened(place) as stream:
                    for item in items(stream, _label(place)):
                        try:
                            trace = _trace(item)
                        except DecodeError as error:
                            first = first or error.within(item.where)
                            said = item.error or f"expected {error.expected}, got {error.found}"
                            at = "" if error.path == "$" else f" - at {error.path}"
                            self.problems.append(Problem(item.where, said + at))
                            continue
                        good = True
                        yield trace
            except (AgentoolError, OSError, EOFError, zlib.error) as error:
                refusal = error if isinstance(error, AgentoolError) else None
                first = first or refusal or SourceUnreachable(f"{_label(place)}: {error}")
                self.problems.append(Problem(_label(place), str(error)))
        if not good and first is not None:
            raise first


def _trace(item: Item) -> ReasoningTrace:
    if item.error is not None:
        raise DecodeError("a ReasoningTrace as JSON", f"something else ({item.error})")
    value: Any = item.value
    if isinstance(value, dict) and "resourceSpans" in value:
        raise DecodeError(
            "a ReasoningTrace", "recorded spans; hint: agentool-otel rebuild turns them into traces"
        )
    return decode(ReasoningTrace, cast("object", value))


def trace_files(place: str | None) -> TraceFiles | None:
    """Return a reader if a place is a file, or standard input, that begins with documents."""
    if place is None:
        return None
    if place == "-":
        head = stdin().peek(_HEAD)[:_HEAD]
        return TraceFiles([None]) if _holds_traces(head) else None
    path = Path(place)
    try:
        if not path.is_file():
            return None
        with opened(path) as stream:
            head = stream.read(_HEAD)
    except (AgentoolError, OSError, EOFError, ValueError, zlib.error):
        return None  # the source says what is wrong with it
    return TraceFiles([path]) if _holds_traces(head) else None


def holds_spans(place: Path | None) -> bool:
    """True for a file, or standard input, that begins as a recording does, not as a document.

    Raises:
        AgentoolError: if it cannot be opened.
    """
    if place is None:
        head = stdin().peek(_HEAD)[:_HEAD]
    else:
        with opened(place) as stream:
            head = stream.read(_HEAD)
    start = head.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    if start not in (b"{", b"["):
        return bool(head.strip()) and not head[:1].isalnum() and start != b'"'
    return _SPANS.search(head[:2000]) is not None


def _holds_traces(head: bytes) -> bool:
    head = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if head[:1] not in (b"{", b"["):
        return False
    return _TRACES.search(head) is not None and _SPANS.search(head[:2000]) is None


def paths(place: str, suffixes: Sequence[str] = _SUFFIXES) -> list[Path | None]:
    """Return the files a place stands for; None is standard input.

    Raises:
        SourceUnreachable: if there are none.
    """
    if place == "-":
        return [None]
    path = Path(place)
    if path.is_dir():
        found = sorted(file for file in path.rglob("*") if file.suffix in suffixes)
        if not found:
            names = ", ".join("*" + suffix for suffix in suffixes)
            raise SourceUnreachable(f"nothing to read in {place} (looked for {names})")
        return list(found)
    if not path.exists():
        matches = sorted(Path(match) for match in glob.glob(place, recursive=True))
        if not matches:
            raise SourceUnreachable(
                f"{place} does not exist; hint: name a file, a folder, a glob pattern or `-`"
            )
        return list(matches)
    return [path]


def _label(place: Path | None) -> str:
    return "standard input" if place is None else str(place)
