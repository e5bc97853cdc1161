"""Turn the results of cases into the cells of one table."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from benchmarks.guest._receiver import Seen

__all__ = [
    "Cell",
    "Outcome",
    "Row",
    "as_json",
    "no",
    "partly",
    "print_markdown",
    "print_table",
    "yes",
]

Mark = Literal["Y", "P", "N", "-"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One behaviour of one SDK: yes, partly, no, or not applicable; and why."""

    mark: Mark
    why: str = ""

    def __str__(self) -> str:
        return f"{self.mark} {self.why}".rstrip()


def yes(why: str = "") -> Cell:
    return Cell("Y", why)


def partly(why: str) -> Cell:
    return Cell("P", why)


def no(why: str) -> Cell:
    return Cell("N", why)


@dataclass(frozen=True, slots=True)
class Outcome:
    """Output of the program, and the requests at the receiver."""

    facts: Any = None
    """Return value of the case."""
    spans: Sequence[Seen] = ()
    stderr: str = ""
    exit_code: int | None = None
    """As `subprocess` has it: negative for a signal; None if the process had to be ended."""

    def named(self, name: str) -> list[Seen]:
        """Return the ended spans of a function, however the SDK has decorated its name."""
        return [span for span in self.spans if name in span.name and span.ended]


@dataclass(frozen=True, slots=True)
class Row:
    """One behaviour: a program that runs under an SDK, and a function that makes a cell of its
    outcome.
    """

    title: str
    run: Callable[..., Any]
    judge: Callable[[Outcome], Cell]
    decorates: bool = False
    """Only of interest where the SDK has a decorator."""
    options: Mapping[str, Any] = field(default_factory=dict[str, Any])
    """Further data for the table of the row."""


Cells = Mapping[str, Cell]
"""By the name of the SDK."""


def print_table(title: str, sdks: Mapping[str, str], rows: Iterable[tuple[str, Cells]]) -> None:
    """Print one table on stdout; `sdks` maps names to headings of their columns."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console(
        width=None if sys.stdout.isatty() else 30 + 17 * len(sdks), highlight=False, markup=False
    )
    table = Table(title=title, title_justify="left", show_lines=True)
    table.add_column("", overflow="fold", width=30 if len(sdks) > 3 else None)
    for heading in sdks.values():
        table.add_column(heading, overflow="fold")
    styles = {"Y": "green", "P": "yellow", "N": "red", "-": "dim"}
    for name, cells in rows:
        results = [cells.get(sdk, Cell("-")) for sdk in sdks]
        table.add_row(name, *(Text(str(cell), styles[cell.mark]) for cell in results))
    console.print(table)


def print_markdown(title: str, sdks: Mapping[str, str], rows: Iterable[tuple[str, Cells]]) -> None:
    """Print the same as Markdown, to keep."""
    print(f"### {title}\n")
    print("| |", " | ".join(sdks.values()), "|")
    print("| --- |", " | ".join("---" for _ in sdks), "|")
    for name, cells in rows:
        replaces = [str(cells.get(sdk, Cell("-"))).replace("|", "\\|") for sdk in sdks]
        print(f"| {name} |", " | ".join(replaces), "|")
    print()


def as_json(cell: Cell) -> dict[str, str]:
    """Return a cell as a JSON object."""
    return {"mark": cell.mark, "why": cell.why}
