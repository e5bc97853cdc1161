"""The longest common subsequence of two long sequences.

A row of the table of lengths is one integer: a bit that is not set is where the length grows by
one. One row in √n is kept, the others are made again on the way back.
Source: H. Hyyrö, "Bit-parallel LCS-length computation revisited", AWOCA 2004.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from math import isqrt

__all__ = ["longest_common_subsequence"]


def longest_common_subsequence(a: Sequence[bytes], b: Sequence[bytes]) -> list[tuple[int, int]]:
    """Return a longest common subsequence as pairs of places, in order.

    Takes about n·m/64 steps, and memory of about √n·m/4 bytes, for n and m things.
    """
    where: defaultdict[bytes, int] = defaultdict(int)
    for j, key in enumerate(b):
        where[key] |= 1 << j
    every = isqrt(len(a)) + 1
    full = (1 << len(b)) - 1
    saved_rows = [full]
    for start in range(0, len(a), every):
        saved_rows.append(_rows(saved_rows[-1], a[start : start + every], where, full)[-1])
    pairs: list[tuple[int, int]] = []
    j = len(b)
    for start in reversed(range(0, len(a), every)):
        rows = _rows(saved_rows[start // every], a[start : start + every], where, full)
        i = len(rows)
        while i and j:
            if a[start + i - 1] == b[j - 1]:
                i, j = i - 1, j - 1
                pairs.append((start + i, j))
            elif rows[i - 1] >> (j - 1) & 1:
                j -= 1
            else:
                i -= 1
    return pairs[::-1]


def _rows(row: int, keys: Sequence[bytes], where: Mapping[bytes, int], full: int) -> list[int]:
    rows: list[int] = []
    for key in keys:
        common = row & where.get(key, 0)
        row = ((row + common) | (row - common)) & full
        rows.append(row)
    return rows
