"""Group runs for evaluation: a run with the runs inside it, a run alone, a session.

The runs inside a run are those whose `metadata.parent_trace_id` names it, or that its
`metadata.sub_traces` lists. Runs rebuilt from the same spans are complete once the last of them
has come, and are passed on then. Until the input ends are kept, because any later one may belong
to them: trace documents and replayed ones, runs whose parent has not come, and with the scope
`session` every run. Documents are kept in a temporary file, with a few words of each in memory.
"""

from __future__ import annotations

import math
import pickle
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import heappop, heappush
from typing import IO, Any, Literal, NamedTuple, TypeAlias, get_args

from agentool_otel.errors import EvaluationError
from agentool_otel.evaluation.facets import started_ns
from agentool_otel.evaluation.selecting import Selection
from agentool_otel.evaluation.trace_view import or_none
from agentool_otel.ground import lazy_re as re
from agentool_otel.model.documents import ReasoningTrace
from agentool_otel.reading.rebuild.trace import Batch, Rebuilt

__all__ = ["SCOPES", "Run", "Scope", "Unit", "Units", "document_of", "parent_of", "unit_of"]

Scope: TypeAlias = Literal["tree", "run", "session"]
SCOPES: tuple[Scope, ...] = get_args(Scope)
"""A run with the runs inside it; each run alone; all runs of a session."""
Run: TypeAlias = ReasoningTrace | Rebuilt

_IN_MEMORY = 16 << 20
"""Bytes of kept documents from which on they are in a file."""

_RECORDED = re.compile("[0-9a-f]{32}(:[0-9a-f]{16})?")
"""The ids of traces that no document named."""


class Unit(NamedTuple):
    """The runs that one result is about."""

    runs: tuple[Run, ...]
    """An outermost run comes before the runs inside it."""
    above: tuple[int | None, ...] = (None,)
    """Of each run the place of its parent run; None if that is not among them."""
    left_out: int = 0
    """Runs inside it that are not looked at."""
    parent: str | None = None
    """The id of its parent run, which has not come."""
    missing: tuple[str, ...] = ()
    """The ids of runs inside it that have not come."""
    is_session: bool = False


def document_of(run: Run) -> ReasoningTrace:
    """Return the document of a run."""
    return run.trace if isinstance(run, Rebuilt) else run


def parent_of(run: Run) -> str | None:
    """Return the id of a run's parent; None if it names none."""
    above = (or_none(document_of(run).metadata) or {}).get("parent_trace_id")
    return above if isinstance(above, str) else None


def unit_of(runs: Sequence[Run]) -> Unit:
    """Return one run with the runs inside it.

    Raises:
        EvaluationError: there is no run, or several are inside none of the others.
    """
    trees = _trees([_Entry.of(run) for run in runs])
    if len(trees) != 1:
        raise EvaluationError(
            f"{len(trees)} top-level runs; expected one run and the runs nested in it"
        )
    return _unit(trees[0], [entry.run for entry in trees[0].entries])


class _Entry(NamedTuple):
    """Facts about a run that need no look into its steps."""

    trace_id: str
    parent_id: str | None
    inside: tuple[str, ...]
    session_id: str | None
    started_ns: int | None
    run: Any
    """The run, or the place of its document in a file."""

    @classmethod
    def of(cls, run: Run, place: int | None = None) -> _Entry:
        trace = document_of(run)
        session = or_none(trace.session_id)
        sub_traces = (or_none(trace.metadata) or {}).get("sub_traces")
        return cls(
            trace.trace_id,
            parent_of(run),
            tuple(item for item in sub_traces if isinstance(item, str))
            if isinstance(sub_traces, list)
            else (),
            session if isinstance(session, str) and session else None,
            started_ns(trace),
            run if place is None else place,
        )


class _Tree(NamedTuple):
    entries: list[_Entry]
    """The outermost run first, then the others as they came."""
    parent: str | None
    """The run around it, which is not among the others."""


class _Group(NamedTuple):
    """Units that belong to one selected run or session."""

    started_ns: int | None
    """When it started; None if that is not known."""
    units: list[Unit]


class _Newest:
    """The groups that started last. One whose start is not known counts as the newest."""

    def __init__(self, count: int):
        self._count = count
        self._groups: list[tuple[float, int, _Group]] = []
        self._added = 0

    @property
    def older(self) -> int:
        return self._added - len(self._groups)

    def add(self, group: _Group) -> None:
        self._added += 1
        started = math.inf if group.started_ns is None else group.started_ns
        heappush(self._groups, (started, self._added, group))
        if len(self._groups) > self._count:
            heappop(self._groups)

    def units(self) -> Iterator[Unit]:
        """Yield the units of the groups, the oldest first."""
        for _, _, group in sorted(self._groups):
            yield from group.units


class _Kept:
    """Runs that are kept until the input ends."""

    def __init__(self) -> None:
        self.entries: list[_Entry] = []
        self._file: IO[bytes] | None = None

    def add(self, run: Run) -> None:
        if isinstance(run, Rebuilt):
            self.entries.append(_Entry.of(run))
            return
        if self._file is None:
            self._file = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - see `close`
        self.entries.append(_Entry.of(run, self._file.tell()))
        pickle.dump(run, self._file, pickle.HIGHEST_PROTOCOL)

    def run(self, entry: _Entry) -> Run:
        """Return the run of an entry; nothing can be added any more."""
        if not isinstance(entry.run, int):
            return entry.run  # type: ignore[no-any-return]
        assert self._file is not None
        self._file.seek(entry.run)
        # Nobody else can write to this file, which has no name.
        document: ReasoningTrace = pickle.load(self._file)
        return document

    def close(self) -> None:
        self.entries = []
        if self._file is not None:
            self._file.close()
            self._file = None


class Units:
    """Puts runs together, in any order.

    Args:
        scope: what is evaluated.
        selection: what a run has to be. With the scope `tree` an inner run whose agent is selected
            by name is a unit of its own, with the runs inside it.
        last: how many outermost selected runs, or sessions, are passed on with what is inside them,
            counted from the newest; None for all. They come at the end, in the order of time.

    Raises:
        EvaluationError: the scope is not known.
    """

    def __init__(
        self,
        scope: Scope = "tree",
        selection: Selection | None = None,
        last: int | None = None,
    ):
        if scope not in SCOPES:
            raise EvaluationError(f"scope is one of {', '.join(SCOPES)}, not {scope!r}")
        self._scope = scope
        self._selection = selection
        self._kept = _Kept()
        self._pending: dict[Batch, list[Rebuilt]] = {}
        self._newest = None if last is None else _Newest(last)
        self.unselected = 0
        """Units that are not selected."""

    @property
    def older(self) -> int:
        """The number of runs or sessions that are selected and not among the last ones."""
        return 0 if self._newest is None else self._newest.older

    def put(self, run: Run) -> Iterator[Unit]:
        """Add a run, and yield the units that are complete."""
        if self._scope == "session" or not isinstance(run, Rebuilt):
            self._kept.add(run)
            return
        batch = self._pending.setdefault(run.batch, [])
        batch.append(run)
        if len(batch) < run.batch.size:
            return
        del self._pending[run.batch]
        trees = _trees([_Entry.of(item) for item in batch])
        is_whole = all(tree.parent is None for tree in trees) and not any(map(_is_replayed, batch))
        if not is_whole:
            for item in batch:
                self._kept.add(item)
            return
        for tree in trees:
            yield from self._passed_on(self._select(tree, [entry.run for entry in tree.entries]))

    def rest(self) -> Iterator[Unit]:
        """Yield the units of the runs that were kept."""
        for batch in self._pending.values():
            for run in batch:
                self._kept.add(run)
        self._pending.clear()
        trees = _trees(self._kept.entries)
        if self._scope == "session":
            yield from self._passed_on(self._sessions(trees))
        else:
            for tree in trees:
                runs = [self._kept.run(entry) for entry in tree.entries]
                yield from self._passed_on(self._select(tree, runs))
        self._kept.close()
        if self._newest is not None:
            yield from self._newest.units()

    def _passed_on(self, groups: Iterable[_Group]) -> Iterator[Unit]:
        """Yield the units of groups, or keep them where only the newest are wanted."""
        for group in groups:
            if self._newest is None:
                yield from group.units
            else:
                self._newest.add(group)

    def close(self) -> None:
        """Forget the runs that are kept."""
        self._pending.clear()
        self._kept.close()

    def _sessions(self, trees: Sequence[_Tree]) -> Iterator[_Group]:
        sessions: dict[str | int, list[_Tree]] = {}
        for number, tree in enumerate(trees):
            named = next((entry.session_id for entry in tree.entries if entry.session_id), None)
            sessions.setdefault(named or number, []).append(tree)
        for of in sessions.values():
            of.sort(key=lambda tree: tree.entries[0].started_ns or 0)
            entries = [entry for tree in of for entry in tree.entries]
            runs = tuple(map(self._kept.run, entries))
            tops = {tree.entries[0].trace_id for tree in of}
            if self._selection is None or any(
                self._selection.holds(run) for run in runs if document_of(run).trace_id in tops
            ):
                parent = next((tree.parent for tree in of if tree.parent), None)
                above = tuple(_parents(entries))
                unit = Unit(runs, above, 0, parent, _missing(entries), is_session=True)
                yield _Group(of[-1].entries[0].started_ns, [unit])
            else:
                self.unselected += 1

    def _select(self, tree: _Tree, runs: Sequence[Run]) -> Iterator[_Group]:
        """Yield the selected units of a tree. Units nested in another selected unit are in its
        group.
        """
        children = _children(tree.entries) if len(runs) > 1 else {}
        units = self._units(tree, runs, children)
        if self._newest is None:
            if units:
                yield _Group(None, list(units.values()))
            return
        descendants = {place: set(_descendants(children, place)) for place in units}
        heads = [
            unit for unit in units if not any(unit in descendants[by] for by in units if by != unit)
        ]
        for head in heads or list(units)[:1]:
            of = [unit for place, unit in units.items() if place in descendants[head] or not heads]
            yield _Group(tree.entries[head].started_ns, of)

    def _units(
        self, tree: _Tree, runs: Sequence[Run], children: Mapping[int, Sequence[int]]
    ) -> dict[int, Unit]:
        """Return the units of a tree that are selected, by the place of their outermost run."""
        selection = self._selection
        chosen: dict[int, Unit] = {}
        if self._scope == "run":
            for place, run in enumerate(runs):
                if selection is None or selection.holds(run):
                    left_out = len(_descendants(children, place)) - 1
                    parent = tree.parent if place == 0 else None
                    chosen[place] = Unit((run,), left_out=left_out, parent=parent)
                else:
                    self.unselected += 1
            return chosen
        units = {0: _unit(tree, runs)}
        if selection is not None and selection.agents:
            for place in range(1, len(runs)):
                places = _descendants(children, place)
                part = _Tree([tree.entries[at] for at in places], None)
                units[place] = _unit(part, [runs[at] for at in places])
        for place, unit in units.items():
            if selection is None or selection.holds_tree(unit.runs):
                chosen[place] = unit
        self.unselected += not chosen
        return chosen


def _unit(tree: _Tree, runs: Sequence[Run]) -> Unit:
    above = tuple(_parents(tree.entries))
    return Unit(tuple(runs), above, 0, tree.parent, _missing(tree.entries))


def _missing(entries: Iterable[_Entry]) -> tuple[str, ...]:
    """Return the ids of the runs inside, as the runs list them, that are not there."""
    entries = list(entries)
    present = {entry.trace_id for entry in entries}
    listed = dict.fromkeys(inner for entry in entries for inner in entry.inside)
    return tuple(item for item in listed if item not in present)


def _descendants(children: Mapping[int, Sequence[int]], place: int) -> list[int]:
    """Return the places of a run and of those inside it, itself first."""
    places, waiting = {place}, [place]
    while waiting:
        for child in children.get(waiting.pop(), ()):
            if child not in places:
                places.add(child)
                waiting.append(child)
    return [place, *sorted(places - {place})]


def _children(entries: Sequence[_Entry]) -> Mapping[int, Sequence[int]]:
    children: defaultdict[int, list[int]] = defaultdict(list)
    for place, above in enumerate(_parents(entries)):
        if above is not None:
            children[above].append(place)
    return children


def _parents(entries: Sequence[_Entry]) -> list[int | None]:
    """Return the place of each run's parent, None if it is missing."""
    first: dict[str, int] = {}
    listed: dict[str, int] = {}
    for place, entry in enumerate(entries):
        first.setdefault(entry.trace_id, place)
        for inner in entry.inside:
            listed.setdefault(inner, place)
    return [
        first.get(entry.parent_id) if entry.parent_id is not None else listed.get(entry.trace_id)
        for entry in entries
    ]


def _trees(entries: Sequence[_Entry]) -> list[_Tree]:
    """Return the outermost runs with the runs inside them, in the order of the outermost.

    A run that was read twice is inside another one once. Of runs that are inside one another, the
    one that came first is the outermost.
    """
    parents = _parents(entries)
    tops: dict[int, int] = {}
    for place in range(len(entries)):
        path: dict[int, None] = {}
        at: int | None = place
        while at is not None and at not in tops and at not in path:
            path[at] = None
            at = parents[at]
        passed = list(path)
        if at is None:
            top = passed[-1]
        else:
            top = tops[at] if at in tops else min(passed[passed.index(at) :])
        tops.update(dict.fromkeys(passed, top))
    trees: dict[int, dict[str, _Entry]] = {}
    for place, entry in enumerate(entries):
        top = tops[place]
        of = trees.setdefault(top, {entries[top].trace_id: entries[top]})
        of.setdefault(entry.trace_id, entry)
    result: list[_Tree] = []
    by_trace: dict[str, dict[str, _Entry]] = {}
    for top, of in trees.items():
        trace_id = entries[top].trace_id
        inner_entries = list(by_trace.setdefault(trace_id, of).values())[1:]
        parent = entries[top].parent_id if parents[top] is None else None
        result.append(_Tree([entries[top], *inner_entries], parent))
    return result


def _is_replayed(run: Rebuilt) -> bool:
    """Return whether a run is a document that was made into spans, with an id of its own."""
    return _RECORDED.fullmatch(run.trace_id) is None
