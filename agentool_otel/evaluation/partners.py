"""Which traces of two sources are compared: those of one case, else those with the same input."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

from agentool_otel.evaluation.ignoring import Ignoring
from agentool_otel.evaluation.judged import JudgedTrace, known
from agentool_otel.evaluation.pieces import fingerprint
from agentool_otel.model.documents import UNSET

__all__ = ["Partners", "partners"]

_Key: TypeAlias = Callable[[JudgedTrace], Any]


class Partners(NamedTuple):
    """Two traces that are compared, or one that has no partner."""

    a: JudgedTrace | None
    b: JudgedTrace | None
    by: str
    """What makes them partners, or why there is none."""


def partners(
    a: Sequence[JudgedTrace], b: Sequence[JudgedTrace], ignoring: Ignoring
) -> Iterator[Partners]:
    """Yield traces with their partners, in the order of `a`, then what only `b` has.

    Where each side has a single trace, the two are partners. Else those are that name the same case
    (`metadata.case_id`), and of the others those with the same input; runs of the same agent first,
    repetitions in their order.
    """
    if len(a) == len(b) == 1:
        yield Partners(a[0], b[0], "the only traces")
        return
    of_a: dict[int, tuple[int, str]] = {}
    taken: set[int] = set()
    for key, why in _keys(ignoring):
        waiting = _Waiting()
        for j, trace in enumerate(b):
            if j not in taken and (found := key(trace)) is not None:
                waiting.add(found, trace, j)
        for i, trace in enumerate(a):
            if i in of_a or (found := key(trace)) is None:
                continue
            if (partner := waiting.take(found, trace, same_case=why == "case")) is not None:
                of_a[i] = (partner, why)
                taken.add(partner)
    for i, trace in enumerate(a):
        if i in of_a:
            j, why = of_a[i]
            yield Partners(trace, b[j], f"case {_case(trace)}" if why == "case" else why)
        else:
            yield Partners(trace, None, _why_alone(trace))
    for j, trace in enumerate(b):
        if j not in taken:
            yield Partners(None, trace, _why_alone(trace))


class _Waiting:
    """Traces of the one side that wait for a partner, by a key, those that name a case apart."""

    def __init__(self) -> None:
        self._named: defaultdict[Any, deque[int]] = defaultdict(deque)
        self._others: defaultdict[Any, deque[int]] = defaultdict(deque)

    def add(self, key: Any, trace: JudgedTrace, place: int) -> None:
        (self._others if _case(trace) is None else self._named)[key].append(place)

    def take(self, key: Any, trace: JudgedTrace, same_case: bool) -> int | None:
        """Return the next partner of a trace. One that names a case has none that names another."""
        if not same_case and (found := self._others.get(key)):
            return found.popleft()
        if same_case or _case(trace) is None:
            named = self._named.get(key)
            return named.popleft() if named else None
        return None


def _keys(ignoring: Ignoring) -> list[tuple[_Key, str]]:
    inputs: dict[int, bytes | None] = {}

    def asked(trace: JudgedTrace) -> bytes | None:
        given = trace.trace.input
        if id(trace) not in inputs:
            inputs[id(trace)] = None if given is UNSET else fingerprint(given, ignoring)
        return inputs[id(trace)]

    return [
        (lambda trace: _with_agent(_case(trace), trace), "case"),
        (_case, "case"),
        (lambda trace: _with_agent(asked(trace), trace), "the same input"),
        (asked, "the same input"),
    ]


def _with_agent(key: Any, trace: JudgedTrace) -> Any:
    return None if key is None else (key, known(trace.trace.agent_id))


def _case(trace: JudgedTrace) -> str | None:
    named = trace.metadata.get("case_id")
    return named if isinstance(named, str) else None


def _why_alone(trace: JudgedTrace) -> str:
    if (case := _case(trace)) is not None:
        return f"no other trace is left for case {case}"
    if trace.trace.input is UNSET:
        return f"it names no case, and its input {trace.why_missing('input')}"
    return "no other trace is left with its input"
