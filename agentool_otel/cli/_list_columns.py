"""The columns of a list of runs: which fit, and how wide each is.

What identifies a run stays: its number, time, id, agent and input. The figures give way to the
input, from `tools` to `duration`; then long names of agents are cut.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.text import Text

__all__ = ["COLUMNS", "UNKNOWN", "row", "widths_of"]

COLUMNS = (
    "#", "trace", "started", "agent", "model", "status", "steps", "tools", "tokens", "duration"
)  # fmt: skip
"""Those before the input, which takes the rest of the line."""
UNKNOWN = "-"
_OPTIONAL = ("started", "model")
"""Columns that are left out where no run has a value."""
_RIGHT = frozenset({"#", "steps", "tools", "tokens", "duration"})
_FIRST_TO_GO = ("tools", "tokens", "steps", "model", "duration")
_LAST_TO_GO = ("trace", "started", "status")
"""Left out rather than cut, of a terminal that is narrower than 80 columns."""
_WIDEST = {"trace": 13, "agent": 24, "model": 24, "status": 18}
_NARROW = {"trace": 13, "agent": 24, "model": 18, "status": 13}
"""Columns that words may have. Numbers have as many as they need."""
_WIDE = 110
_SHORTEST_AGENT = 12
_GAP = 2
_CUT_INPUT = 2
"""Columns of the input that are always shown: a character, and the mark that it is cut."""
_LEAST_INPUT = 14
"""Columns of the input that figures give way to."""


def widths_of(table: Iterable[Sequence[Text]], width: int) -> dict[str, int]:
    """Return the columns that are shown, and how wide each is.

    Args:
        table: rows of cells under `COLUMNS`, and more.
        width: that of the terminal.
    """
    longest = {name: len(name) for name in COLUMNS}
    known = {name for name in COLUMNS if name not in _OPTIONAL}
    for cells in table:
        for name, cell in zip(COLUMNS, cells, strict=False):
            longest[name] = max(longest[name], cell.cell_len)
            if cell.plain != UNKNOWN:
                known.add(name)
    limits = _WIDEST if width >= _WIDE else _NARROW
    widths = {
        name: min(wide, limits.get(name, wide)) for name, wide in longest.items() if name in known
    }

    def room() -> int:
        return width - sum(widths.values()) - _GAP * len(widths)

    for name in _FIRST_TO_GO:
        if room() < _LEAST_INPUT:
            widths.pop(name, None)
    if (lacking := _LEAST_INPUT - room()) > 0:
        agent = widths["agent"]
        widths["agent"] = max(min(agent, _SHORTEST_AGENT), agent - lacking)
    for name in _LAST_TO_GO:
        if room() < _CUT_INPUT:
            widths.pop(name, None)
    return widths


def row(cells: Sequence[Text], widths: dict[str, int], style: str = "") -> Text:
    """Return cells as a line, the last of them in full."""
    line = Text(style=style)
    for cell, name in zip(cells, COLUMNS, strict=False):
        if name not in widths:
            continue
        cell.truncate(widths[name], overflow="ellipsis")
        gap = " " * (widths[name] - cell.cell_len)
        line.append_text(Text.assemble(gap, cell) if name in _RIGHT else Text.assemble(cell, gap))
        line.append(" " * _GAP)
    line.append_text(cells[-1])
    return line
