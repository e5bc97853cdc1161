"""Align two sequences: first in order, then anywhere.

Each thing has a key per level, from the strictest: equal in all, equal request, same kind. On a
level, things in the same order on both sides are paired; of the rest, equal things are moved. Only
a thing without an equal anywhere is paired with the most similar of its kind, and only between the
same neighbours.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias

from agentool_otel.evaluation.trace_diff.subsequence import longest_common_subsequence

__all__ = ["Alignment", "Keys", "align"]

Keys: TypeAlias = tuple[bytes, bytes, bytes]
"""Equal in all, equal request, same kind. Things equal on one level are so on those after it."""
_Likeness: TypeAlias = Callable[[int, int], float]
_Pairs: TypeAlias = list[tuple[int, int]]

_LEVELS = range(3)
_KIND = 2
_MOST_CELLS = 1 << 16
"""Of a table of all against all; what is larger is paired by its longest common subsequence."""
_EQUAL, _SAME_REQUEST, _OF_A_KIND, _ALIKE = 1000, 450, 50, 250
"""Worth of a pair: an equal one outweighs two with equal requests, and three of a kind, so that an
unchanged step is never shown as changed.
"""


class Alignment(NamedTuple):
    """The pairs of an alignment, as indexes into the two sequences."""

    pairs: _Pairs
    """In order on both sides."""
    moved: _Pairs
    """Equal, or with an equal request, at another place."""


class _Gap(NamedTuple):
    """Unpaired places between two pairs."""

    a: list[int]
    b: list[int]


def align(a: Sequence[Keys], b: Sequence[Keys], likeness: _Likeness) -> Alignment:
    """Align two sequences. The result is the same with the arguments swapped.

    Takes about n·m/64 steps for n and m things, and memory of n·m/64 bits at the most.

    Args:
        a: keys of the one.
        b: keys of the other.
        likeness: how alike two things of a kind are, by their places, 0 to 1.
    """
    if list(b) < list(a):  # so that neither side is preferred where several answers are as good
        turned = align(b, a, lambda i, j: likeness(j, i))
        return Alignment(*(sorted((j, i) for i, j in group) for group in turned))
    pairs: _Pairs = []
    moved: _Pairs = []
    gaps = [_Gap([*range(len(a))], [*range(len(b))])]
    for level in _LEVELS:
        remaining: list[_Gap] = []
        for gap in gaps:
            matched = _in_order(gap, a, b, level, likeness)
            pairs += matched
            remaining += _gaps_between(gap, matched)
        if level != _KIND:
            anywhere = _equal(remaining, a, b, level)
            moved += anywhere
            remaining = _gaps_without(remaining, anywhere)
        gaps = remaining
    return Alignment(sorted(pairs), sorted(moved))


def _in_order(
    gap: _Gap, a: Sequence[Keys], b: Sequence[Keys], level: int, likeness: _Likeness
) -> _Pairs:
    """Return the pairs that are equal on a level and in the same order on both sides."""
    start, most = 0, min(len(gap.a), len(gap.b))
    while start < most and a[gap.a[start]][0] == b[gap.b[start]][0]:
        start += 1
    end = 0
    while end < most - start and a[gap.a[-1 - end]][0] == b[gap.b[-1 - end]][0]:
        end += 1
    pairs = [*zip(gap.a[:start], gap.b[:start], strict=True)]
    if end:
        pairs += zip(gap.a[-end:], gap.b[-end:], strict=True)
    inner = _Gap(gap.a[start : len(gap.a) - end], gap.b[start : len(gap.b) - end])
    if not inner.a or not inner.b:
        return pairs
    if len(inner.a) * len(inner.b) <= _MOST_CELLS:
        best = _best(inner, a, b, likeness)
        return pairs + [(i, j) for i, j in best if a[i][level] == b[j][level]]
    common = longest_common_subsequence(
        [a[i][level] for i in inner.a], [b[j][level] for j in inner.b]
    )
    return pairs + [(inner.a[i], inner.b[j]) for i, j in common]


def _gaps_between(gap: _Gap, pairs: _Pairs) -> Iterator[_Gap]:
    """Yield the gaps between pairs that are not empty on both sides."""
    at_a = at_b = 0
    for i, j in [*sorted(pairs), (None, None)]:
        to_a = len(gap.a) if i is None else bisect_left(gap.a, i)
        to_b = len(gap.b) if j is None else bisect_left(gap.b, j)
        if to_a > at_a or to_b > at_b:
            yield _Gap(gap.a[at_a:to_a], gap.b[at_b:to_b])
        at_a, at_b = to_a + 1, to_b + 1


def _equal(gaps: list[_Gap], a: Sequence[Keys], b: Sequence[Keys], level: int) -> _Pairs:
    waiting: defaultdict[bytes, deque[int]] = defaultdict(deque)
    for gap in gaps:
        for j in gap.b:
            waiting[b[j][level]].append(j)
    places = (i for gap in gaps for i in gap.a)
    return [(i, candidates.popleft()) for i in places if (candidates := waiting.get(a[i][level]))]


def _gaps_without(gaps: list[_Gap], pairs: _Pairs) -> list[_Gap]:
    gone_a, gone_b = {i for i, _ in pairs}, {j for _, j in pairs}
    return [
        _Gap([i for i in gap.a if i not in gone_a], [j for j in gap.b if j not in gone_b])
        for gap in gaps
    ]


# ------------------------------------------------------------------------------ all against all


def _best(gap: _Gap, a: Sequence[Keys], b: Sequence[Keys], likeness: _Likeness) -> _Pairs:
    """Return the pairs in order with the highest total value."""
    worth = [[_worth(a[i], b[j], i, j, likeness) for j in gap.b] for i in gap.a]
    totals = [[0] * (len(gap.b) + 1)]
    for row in worth:
        above = totals[-1]
        best = 0
        line = [0]
        for n, value in enumerate(row):
            best = max(best, above[n + 1], above[n] + value)
            line.append(best)
        totals.append(line)
    pairs: _Pairs = []
    i, j = len(gap.a), len(gap.b)
    while i and j:
        value = worth[i - 1][j - 1]
        if value and totals[i][j] == totals[i - 1][j - 1] + value:
            i, j = i - 1, j - 1
            pairs.append((gap.a[i], gap.b[j]))
        elif totals[i][j] == totals[i - 1][j]:
            i -= 1
        else:
            j -= 1
    return pairs[::-1]


def _worth(a: Keys, b: Keys, i: int, j: int, likeness: _Likeness) -> int:
    if a[0] == b[0]:
        return _EQUAL
    if a[1] == b[1]:
        return _SAME_REQUEST
    return _OF_A_KIND + int(_ALIKE * likeness(i, j)) if a[_KIND] == b[_KIND] else 0
