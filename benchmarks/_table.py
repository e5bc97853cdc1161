"""Turn measurements into the rows of one table."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from rich.console import Console
from rich.table import Table

from benchmarks._rounds import Compared

__all__ = ["Row", "Target", "as_json", "print_table"]

_WIDTH = 150
"""Columns where stdout is no terminal."""


@dataclass(frozen=True, slots=True)
class Target:
    """Target of the design: a bound on the ratio, or on our own figure."""

    text: str
    bound: float
    on: Literal["ratio", "ours"] = "ratio"
    sense: Literal["at most", "at least"] = "at most"

    def met_by(self, row: Row) -> bool:
        value = row.ratio if self.on == "ratio" else row.ours
        assert value is not None
        return value <= self.bound if self.sense == "at most" else value >= self.bound


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table."""

    what: str
    unit: str = ""
    ours: float | None = None
    reference: float | None = None
    ratio: float | None = None
    """Median of the rounds' ratios, which need not be the ratio of the two medians."""
    quartiles: tuple[float, float] | None = None
    """Of the ratio, over the rounds."""
    target: Target | None = None
    """None where the design only wants a measurement."""
    note: str = ""
    group: str = ""

    @classmethod
    def of(
        cls,
        description: str,
        unit: str,
        measured: Compared,
        target: Target | None = None,
        note: str = "",
    ) -> Row:
        return cls(
            what=description,
            unit=unit,
            ours=measured.ours,
            reference=measured.reference,
            ratio=measured.ratio,
            quartiles=(measured.low, measured.high),
            target=target,
            note=note,
        )

    @property
    def met(self) -> bool | None:
        """Return whether the target is met; None without a target or a measurement."""
        return None if self.target is None or self.ours is None else self.target.met_by(self)


def print_table(rows: Iterable[Row]) -> None:
    """Print the rows on stdout, those of a group together."""
    console = Console(width=None if sys.stdout.isatty() else _WIDTH, highlight=False, markup=False)
    table = Table(
        title="CPU time unless the row says otherwise; medians of interleaved rounds, "
        "quartiles in brackets",
        title_justify="left",
    )
    table.add_column("what", overflow="fold")
    for heading in ("ours", "reference", "ratio"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("target now", no_wrap=True)
    table.add_column("met?", no_wrap=True)
    group = None
    for row in rows:
        if group not in (None, row.group):
            table.add_section()
        group = row.group
        table.add_row(
            f"{row.what} ({row.note})" if row.note else row.what,
            _figure(row.ours, row.unit),
            _figure(row.reference, row.unit),
            _ratio(row),
            "measured" if row.target is None else row.target.text,
            {True: "yes", False: "NO", None: "-"}[row.met],
        )
    console.print(table)


def as_json(row: Row) -> dict[str, Any]:
    """Return a row as a JSON object."""
    return {
        "group": row.group,
        "what": row.what,
        "unit": row.unit,
        "ours": row.ours,
        "reference": row.reference,
        "ratio": row.ratio,
        "quartiles": row.quartiles,
        "target": None if row.target is None else row.target.text,
        "met": row.met,
        "note": row.note,
    }


def _figure(value: float | None, unit: str) -> str:
    if value is None:
        return "-"
    digits = 0 if abs(value) >= 1000 or value == int(value) else 1 if abs(value) >= 100 else 2
    return f"{value:,.{digits}f} {unit}".rstrip()


def _ratio(row: Row) -> str:
    if row.ratio is None:
        return "-"
    spread = "" if row.quartiles is None else " ({:.2f}-{:.2f})".format(*row.quartiles)
    return f"{row.ratio:.2f}×{spread}"
