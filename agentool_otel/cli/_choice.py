"""The runs of a source that a command line names: all, one, or those that options select."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from tempfile import SpooledTemporaryFile

import click

from agentool_otel.cli._listing import Entry, Numbered, entry_of, newest, number_runs
from agentool_otel.cli._runs import Run, Runs, select_runs
from agentool_otel.cli._unknown_names import AgentNames
from agentool_otel.evaluation.selecting import Selection

__all__ = ["Choice"]

_IN_MEMORY = 64_000_000
"""Bytes of documents that wait in memory to be put in order; more wait in a temporary file."""


class Choice:
    """The runs of a source that the user selected. The source is read on first use.

    Args:
        runs: of the source.
        wanted: the number, the id or the start of the id of one.
        selection: what they have to be.
        last: how many of these, counted from the newest.
        agents: notes the agents of the runs; by default one of its own does.

    Raises:
        click.UsageError: one is named, and a selection of all, too.
    """

    def __init__(
        self,
        runs: Runs,
        wanted: str | None,
        selection: Selection | None,
        last: int | None,
        agents: AgentNames | None = None,
    ):
        if wanted is not None and (selection is not None or last is not None):
            raise click.UsageError(
                "TRACE selects one run already: leave out the options that select runs"
            )
        self._runs = runs
        self._wanted = wanted
        self._selection = selection
        self._last = last
        self._kept: list[Run] = []
        self.agents = agents or AgentNames(selection)
        """The agents of the runs that were read."""
        self.read = 0
        """Number of runs in the source, as far as it was read."""

    @property
    def all(self) -> bool:
        """Return whether every run is selected."""
        return self._wanted is None and self._selection is None and self._last is None

    def listed(self) -> list[Numbered]:
        """Read the source and return the list entries of its runs, in order."""
        entries: list[Entry] = []
        for run in self._runs.runs():
            entries.append(self._entry(run))
            if entries[-1].selected:
                if not self._runs.once:
                    self._kept.clear()
                self._kept.append(run)
        self.read = len(entries)
        return newest(number_runs(entries), self._last)

    def runs(self) -> Iterator[Run]:
        """Yield the runs in the order in which they are read."""
        if self._wanted is not None or self.all:
            return select_runs(self._runs, self._wanted)
        return self.of(self.listed())

    def of(self, listed: Sequence[Numbered]) -> Iterator[Run]:
        """Yield the runs of a list, reading the source once more where they are not at hand."""
        ids = {item.entry.place.trace_id for item in listed}
        at_hand = [run for run in self._kept if run.trace.trace_id in ids]
        runs = at_hand if len(at_hand) >= len(ids) else self._runs.runs()
        for run in runs:
            if run.trace.trace_id in ids:
                yield run

    def documents(self) -> Iterator[bytes]:
        """Yield the runs as lines of JSON, in the order of the list."""
        entries: list[Entry] = []
        ends = [0]
        with SpooledTemporaryFile(_IN_MEMORY) as spool:
            for run in select_runs(self._runs, self._wanted):
                entries.append(self._entry(run))
                if entries[-1].selected:
                    spool.write(run.trace.to_json().encode() + b"\n")
                ends.append(spool.tell())
            for item in newest(number_runs(entries), self._last):
                spool.seek(ends[item.position])
                yield spool.read(ends[item.position + 1] - ends[item.position])

    def _entry(self, run: Run) -> Entry:
        self.agents.see(run.trace)
        source = run.trace if run.rebuilt is None else run.rebuilt
        selected = self._selection is None or self._selection.holds(source)
        return entry_of(run.trace, run.rebuilt, selected)
