"""The table, the figures beside it, and which floors are not reached."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from rich.console import Console
from rich.table import Table

from tests.pages.cells import CELLS, missing
from tests.pages.sending import Sent

__all__ = ["FLOORS", "Column", "failures", "print_cells", "print_figures"]

Column = tuple[str, str]
"""A backend and a mode."""

FLOORS: dict[Column, int] = {
    ("Phoenix", "without"): 17,
    ("MLflow", "without"): 17,
    ("Phoenix", "beside"): 22,  # it has no place for the time to the first token
    ("MLflow", "beside"): 21,  # nor has this, and none for reasoning tokens
}
"""Least number of cells that are filled."""


def failures(judged: Mapping[Column, Mapping[str, bool]]) -> list[str]:
    """Return a line for every floor that is not reached, with the names of the cells missing.

    Args:
        judged: the cells, by backend and mode.
    """
    lines: list[str] = []
    for (backend, mode), cells in judged.items():
        floor, lacking = FLOORS[backend, mode], missing(dict(cells))
        if len(CELLS) - len(lacking) < floor:
            lines.append(
                f"{backend}, {mode}: {len(CELLS) - len(lacking)} of {len(CELLS)} cells, at least "
                f"{floor} are wanted; missing: {', '.join(lacking)}"
            )
    return lines


def print_cells(judged: Mapping[Column, Mapping[str, bool]]) -> None:
    """Print a row for every cell and a column for every backend and mode."""
    table = Table("cell", *(f"{backend} {mode}" for backend, mode in judged))
    for name in CELLS:
        table.add_row(name, *("y" if cells[name] else "." for cells in judged.values()))
    table.add_section()
    sums = [
        f"{sum(cells.values())} of {len(CELLS)}, floor {FLOORS[column]}"
        for column, cells in judged.items()
    ]
    table.add_row("seen", *sums)
    Console(width=120).print(table)


def print_figures(sent: Mapping[str, Mapping[str, Sent]]) -> None:
    """Print the requests of each program in each mode, and the counts of our own names."""
    table = Table("program", "mode", "spans", "bytes a span", "attributes", "own", "own share")
    for mode, programs in sent.items():
        for program, value in programs.items():
            total = value.own.total()
            figures = (
                str(value.spans),
                f"{value.bytes_per_span:,.0f}",
                str(value.attributes),
                str(total),
            )
            table.add_row(program, mode, *figures, f"{total / max(1, value.attributes):.1%}")
    console = Console(width=120)
    console.print(table)
    counts: Counter[str] = sum((item.own for item in sent["without"].values()), Counter())
    for name, count in counts.most_common():
        console.print(f"{count:>4}  {name}", highlight=False)
