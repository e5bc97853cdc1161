"""The runs of a source, and selecting one of them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from shlex import quote
from typing import NamedTuple

from agentool_otel.cli import _text
from agentool_otel.cli._order import Place, in_order, place_of
from agentool_otel.cli._reading import Reading
from agentool_otel.errors import ConfigurationError
from agentool_otel.ground.environment import recordings_folder
from agentool_otel.loading import rebuild
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.model.problems import Problem
from agentool_otel.reading.rebuild.correlation.linked_traces import nested
from agentool_otel.reading.rebuild.cost import Prices
from agentool_otel.reading.rebuild.error_isolation import skip_on_error
from agentool_otel.reading.rebuild.runs import trace_ids_of
from agentool_otel.reading.rebuild.trace import Rebuilt
from agentool_otel.reading.rebuild.tree import Node, grow
from agentool_otel.reading.sources.contents import Contents
from agentool_otel.reading.sources.files.streams import SpanFile
from agentool_otel.reading.sources.grouping.by_trace import by_trace
from agentool_otel.reading.sources.offloaded import put_back
from agentool_otel.reading.sources.opening import open_spans
from agentool_otel.reading.sources.source import inputs_of

__all__ = ["Run", "Runs", "names_a_trace", "select_runs"]

_DIGITS = 6
"""Digits that a number of a run has at most. More may be the start of an id."""
_TRACE = re.compile(rf"\d{{1,{_DIGITS}}}|[0-9a-f]{{4,32}}(:[0-9a-f]*)?")


class Run(NamedTuple):
    trace: ReasoningTrace
    rebuilt: Rebuilt | None
    """None if it was read as a document."""


class Runs:
    """The runs of a source, spans or documents."""

    def __init__(self, source: str | None, prices: Prices | None = None):
        self.once = source == "-"
        """Whether the source can be read only once."""
        self._prices = prices
        self._reading = Reading(open_spans([source] if source is not None else []))
        self._source = self._reading.source
        self.name = self._source.name
        self._of_traces: list[Problem] = []
        """Of traces that could not be rebuilt, or of which something could not be read. The source
        forgets its own when it is read again."""
        self._without_spans: dict[str, Problem] = {}
        """By the ids of documents that spans were looked for in."""

    @property
    def problems(self) -> list[Problem]:
        return [*self._source.problems, *self._of_traces, *self._without_spans.values()]

    @property
    def files(self) -> Sequence[SpanFile]:
        """The files, streams and folders that are read; none where it is a server."""
        return inputs_of(self._source)

    @property
    def spans_read(self) -> int:
        return self._reading.count

    def runs(self) -> Iterator[Run]:
        contents = Contents(self._source, decoded=True)
        self._of_traces.clear()
        with self._reading as reading:
            spans = reading.count_spans(contents.spans())
            rebuilt = rebuild(spans, self._prices, self._note)
            for item in contents.merged(rebuilt, lambda item: (item.trace_id,)):
                if isinstance(item, ReasoningTrace):
                    yield Run(item, None)
                else:
                    with skip_on_error(item.trace_id, self._note):
                        yield Run(item.trace, item)

    def _note(self, problem: Problem) -> None:
        self._of_traces.append(problem)

    def skip_on_error(self, run: Run, loss: str) -> AbstractContextManager[None]:
        """Return the context in which something more is read from the spans of a run. An error
        there is a problem of this run only, and `loss` names the missing data.
        """
        return skip_on_error(run.trace.trace_id, self._note, loss)

    def trees(self) -> Iterator[list[Node]]:
        """Yield the spans of one OTel trace after another.

        Raises:
            ConfigurationError: there are only documents, which have none.
        """
        self._source.document = self._pass_over
        self._without_spans.clear()
        with self._reading as reading:
            for spans in by_trace(reading.spans()):
                for trace_id in trace_ids_of(spans):
                    self._without_spans.pop(trace_id, None)
                put_back(spans)
                with skip_on_error(spans[0].trace_id, self._note, "its spans are not nested"):
                    spans = nested(spans)
                yield grow(spans)
        if self._without_spans and not reading.count:
            raise ConfigurationError(
                f"{self.name} holds ReasoningTrace documents, which have no spans; "
                f"hint: agentool-otel export {self.name} -o spans.jsonl"
            )

    def _pass_over(self, document: ReasoningTrace) -> None:
        message = f"trace {document.trace_id!r} is a ReasoningTrace document, without spans"
        self._without_spans[document.trace_id] = Problem(self.name, message)


def names_a_trace(text: str) -> bool:
    """True for an argument that can only be a TRACE of the default source."""
    if os.path.exists(text) or not _TRACE.fullmatch(text):
        return False
    return recordings_folder().is_dir()


def select_runs(runs: Runs, wanted: str | None) -> Iterator[Run]:
    """Yield the selected runs: all, or the one that has a number, an id or the start of one.

    At most six digits are a number, or else a whole id, never the start of one. For a number the
    source is read twice, or kept where it can be read only once.

    Raises:
        ConfigurationError: if none or several do.
    """
    if wanted is None:
        yield from runs.runs()
        return
    may_be_number = wanted.isdecimal()
    is_number = may_be_number and len(wanted) <= _DIGITS
    matches: list[Run] = []
    places: list[Place] = []
    runs_kept: list[Run] = []
    count = 0
    for run in runs.runs():
        is_whole = run.trace.trace_id == wanted
        if is_whole and not is_number:
            yield run
            return
        if may_be_number:
            places.append(place_of(run.trace))
            if runs.once:
                runs_kept.append(run)
        is_meant = is_whole if is_number else _begins(run.trace.trace_id, wanted)
        if is_meant and len(matches) < 10:
            matches.append(run)
        count += 1
    number = int(wanted) if may_be_number else 0
    if 1 <= number <= len(places):
        position = in_order(places)[number - 1]
        yield runs_kept[position] if runs_kept else _again(runs, places[position].trace_id)
    elif len(matches) == 1:
        yield matches[0]
    elif matches:
        ids = ", ".join(_text.short_id(run.trace.trace_id) for run in matches)
        raise ConfigurationError(f"several traces begin with {wanted!r}: {ids}")
    else:
        if os.path.isfile(wanted):
            raise ConfigurationError(
                f"expected the number or the id of a run of {runs.name}, got the file {wanted!r}"
                f"; hint: agentool-otel show {quote(wanted)}"
            )
        name = wanted if is_number else repr(wanted)
        raise ConfigurationError(
            f"no run {name} among the {count:,} of {runs.name}; hint: a run is named by its "
            f"number in the list of agentool-otel show {quote(runs.name)}, or by its id"
        )


def _again(runs: Runs, trace_id: str) -> Run:
    """Read a run once more."""
    for run in runs.runs():
        if run.trace.trace_id == trace_id:
            return run
    raise ConfigurationError(f"{runs.name} changed while it was read; hint: try again")


def _begins(trace_id: str, wanted: str) -> bool:
    """Return whether an id, or each of its two halves, begins with the text, as in
    `51eecce3:7a5d`.
    """
    if trace_id.startswith(wanted):
        return True
    trace, colon, span = wanted.partition(":")
    return (
        bool(colon) and trace_id.startswith(trace) and trace_id.partition(":")[2].startswith(span)
    )
