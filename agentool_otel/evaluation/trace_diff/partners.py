"""Pair the traces of two sources: by case, else by equal input."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple, TypeAlias

from agentool_otel.evaluation.trace_diff.ignored import Ignoring
from agentool_otel.evaluation.trace_diff.pieces import fingerprint
from agentool_otel.evaluation.trace_view import TraceView, or_none
from agentool_otel.model.documents import UNSET

__all__ = ["Partners", "partners"]

_Key: TypeAlias = Callable[[TraceView], Any]


class Partners(NamedTuple):
    """Two traces that are compared, or one that has no partner."""

    a: TraceView | None
    b: TraceView | None
    by: str
    """The reason for the pair, or for its absence."""


def partners(
    a: Sequence[TraceView], b: Sequence[TraceView], ignoring: Ignoring
) -> Iterator[Partners]:
    """Yield traces with their partners, in the order of `a`, then traces that only `b` has.

    Where each side has a single trace, the two are partners. Else those are that name the same case
    (`metadata.case_id`), and of the others those with the same input; runs of the same agent first,
    repetitions in their order. Where the input of one side is unknown, the agent alone decides.
    """
    if len(a) == len(b) == 1:
        yield Partners(a[0], b[0], "the only traces")
        return
    of_a = _pair(a, b, ignoring)
    paired = {j for j, _ in of_a.values()}
    for i, trace in enumerate(a):
        if i in of_a:
            j, why = of_a[i]
            yield Partners(trace, b[j], f"case {_case(trace)}" if why == "case" else why)
        else:
            yield Partners(trace, None, _why_alone(trace))
    for j, trace in enumerate(b):
        if j not in paired:
            yield Partners(None, trace, _why_alone(trace))


class _Known(NamedTuple):
    """Keys that identify the task of a trace."""

    case: bool
    input: bool


class _Level(NamedTuple):
    """A reason for two traces to be partners."""

    why: str
    key: _Key
    """Value that has to be equal; None for a trace without it."""
    apart_by: Literal["case", "input"] | None
    """Value that separates two traces where both have it; `input`: their cases do, and their
    inputs.
    """


class _Waiting:
    """Traces of the one side that wait for a partner."""

    def __init__(self, level: _Level):
        self._level = level
        self._queues: defaultdict[Any, defaultdict[_Known, deque[int]]]
        self._queues = defaultdict(lambda: defaultdict(deque))

    def add(self, trace: TraceView, place: int) -> None:
        if (key := self._level.key(trace)) is not None:
            self._queues[key][_known_of(trace)].append(place)

    def take(self, trace: TraceView) -> int | None:
        """Return the index of the first trace that can be a partner."""
        mine, separator = _known_of(trace), self._level.apart_by
        queues = [
            queue
            for theirs, queue in self._queues.get(self._level.key(trace), {}).items()
            if queue and (separator is None or not _both_know(mine, theirs, separator))
        ]
        return min(queues, key=lambda queue: queue[0]).popleft() if queues else None


def _known_of(trace: TraceView) -> _Known:
    return _Known(_case(trace) is not None, trace.trace.input is not UNSET)


def _both_know(mine: _Known, theirs: _Known, name: str) -> bool:
    both_input = mine.input and theirs.input
    return (mine.case and theirs.case) or (name == "input" and both_input)


def _pair(
    a: Sequence[TraceView], b: Sequence[TraceView], ignoring: Ignoring
) -> dict[int, tuple[int, str]]:
    """Return the place of the partner in `b`, and the reason, by the place in `a`."""
    of_a: dict[int, tuple[int, str]] = {}
    paired: set[int] = set()
    for level in _levels(ignoring):
        waiting = _Waiting(level)
        for j, trace in enumerate(b):
            if j not in paired:
                waiting.add(trace, j)
        for i, trace in enumerate(a):
            if i not in of_a and (partner := waiting.take(trace)) is not None:
                of_a[i] = (partner, level.why)
                paired.add(partner)
    return of_a


def _levels(ignoring: Ignoring) -> list[_Level]:
    inputs: dict[int, bytes | None] = {}

    def input_key(trace: TraceView) -> bytes | None:
        run_input = trace.trace.input
        if id(trace) not in inputs:
            inputs[id(trace)] = None if run_input is UNSET else fingerprint(run_input, ignoring)
        return inputs[id(trace)]

    return [
        _Level("case", lambda trace: _with_agent(_case(trace), trace), None),
        _Level("case", _case, None),
        _Level("the same input", lambda trace: _with_agent(input_key(trace), trace), "case"),
        _Level("the same input", input_key, "case"),
        _Level("the same agent", lambda trace: ("agent", or_none(trace.trace.agent_id)), "input"),
    ]


def _with_agent(key: Any, trace: TraceView) -> Any:
    return None if key is None else (key, or_none(trace.trace.agent_id))


def _case(trace: TraceView) -> str | None:
    named = trace.metadata.get("case_id")
    return named if isinstance(named, str) else None


def _why_alone(trace: TraceView) -> str:
    if (case := _case(trace)) is not None:
        return f"no other trace is left for case {case}"
    if trace.trace.input is UNSET:
        why = trace.why_missing("input")
        return f"it names no case, its input {why}, and no other trace is left of its agent"
    return "no other trace is left with its input"
