"""python -m benchmarks.guest [--only SDK] [--table TABLE] [--offline] [--json | --markdown]"""

from __future__ import annotations

import json
import os
import platform
import signal
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime, timezone
from pathlib import Path

import click

from benchmarks._child import ROOT
from benchmarks.guest import decorators, exits
from benchmarks.guest._cases import run_case, run_corpus
from benchmarks.guest._environments import Environment, NotInstalled
from benchmarks.guest._table import Cell, Row, as_json, print_markdown, print_table
from benchmarks.guest.sdks import NAMES, adapter

__all__ = ["main"]

_TITLES = {
    "decorators": "Decorated tools",
    "exits": "Spans that arrive, by how the process ends",
    "hostile": "Hostile values as argument and result of a tool",
}
_ROWS: dict[str, tuple[Row, ...]] = {"decorators": decorators.ROWS, "exits": exits.ROWS}

Scores = dict[str, dict[str, dict[str, Cell]]]
"""Table, row and SDK to cell."""


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--only", multiple=True, type=click.Choice(NAMES), help="This SDK; may be repeated.")
@click.option("--table", "tables", multiple=True, type=click.Choice(list(_TITLES)))
@click.option(
    "--environments",
    type=click.Path(path_type=Path),
    default=ROOT / ".venv-guest",
    help="Folder of the environments, one per SDK; kept for the next time.",
)
@click.option("--offline", is_flag=True, help="Install nothing: use what is there.")
@click.option("--jobs", type=click.IntRange(1), default=os.cpu_count() or 1)
@click.option("--json", "as_data", is_flag=True, help="Print cells as one JSON object.")
@click.option("--markdown", is_flag=True, help="Print the tables as Markdown.")
def main(
    only: tuple[str, ...],
    tables: tuple[str, ...],
    environments: Path,
    offline: bool,
    jobs: int,
    as_data: bool,
    markdown: bool,
) -> None:
    """Fill the scoreboard: how good a guest this package and each of its peers is.

    Exit 1 where a cell of this package is not Y.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        # A shell starts background jobs so, and the programs that are interrupted would inherit it.
        signal.signal(signal.SIGINT, signal.default_int_handler)
    sdks: dict[str, str] = {}
    scores: Scores = {table: {} for table in tables or _TITLES}
    with ThreadPoolExecutor(jobs) as pool:
        waiting: list[tuple[str, str, str, Future[Cell]]] = []
        corpora: dict[str, Future[dict[str, Cell]]] = {}
        for name in only or NAMES:
            environment = Environment(environments, name, adapter(name))
            try:
                if not offline:
                    click.echo(f"installing {name} ...", err=True)
                    environment.install()
                sdks[name] = f"{name} {environment.version()}"
            except NotInstalled as error:
                sdks[name] = f"{name}: not installed ({error})"
                click.echo(sdks[name], err=True)
                continue
            for table in scores:
                if table == "hostile":
                    corpora[name] = pool.submit(run_corpus, environment, name)
                    continue
                for number, row in enumerate(_ROWS[table]):
                    future = pool.submit(run_case, environment, name, table, _ROWS[table], number)
                    waiting.append((table, row.title, name, future))
        for done, (table, title, name, future) in enumerate(waiting, 1):
            scores[table].setdefault(title, {})[name] = _cell(future.result)
            click.echo(f"\r{done} of {len(waiting)} cases", err=True, nl=False)
        for name, corpus in corpora.items():
            for kind, cell in corpus.result().items():
                scores["hostile"].setdefault(kind, {})[name] = cell
        click.echo("", err=True)
    if as_data:
        print(json.dumps(_document(sdks, scores), indent=2))
    else:
        show = print_markdown if markdown else print_table
        for table, rows in scores.items():
            show(_TITLES[table], sdks, [*rows.items(), ("**rows that are Y**", _counts(rows))])
    ours = [row.get("agentool") for table in scores.values() for row in table.values()]
    sys.exit(1 if any(cell is not None and cell.mark not in "Y-" for cell in ours) else 0)


def _cell(result: Callable[[], Cell]) -> Cell:
    try:
        return result()
    except Exception as error:  # a defect of the scoreboard is a cell too, not the end of it
        return Cell("-", f"not judged: {type(error).__name__}: {error}")


def _counts(rows: dict[str, dict[str, Cell]]) -> dict[str, Cell]:
    counts: dict[str, Cell] = {}
    for name in NAMES:
        marks = [cells[name].mark for cells in rows.values() if name in cells]
        judged = [mark for mark in marks if mark != "-"]
        if judged:
            counts[name] = Cell("-", f"{judged.count('Y')} of {len(judged)}")
    return counts


def _document(sdks: dict[str, str], scores: Scores) -> dict[str, object]:
    return {
        "date": datetime.now(timezone.utc).date().isoformat(),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
        "sdks": sdks,
        "tables": {
            table: {
                title: {name: as_json(cell) for name, cell in cells.items()}
                for title, cells in rows.items()
            }
            for table, rows in scores.items()
        },
    }


if __name__ == "__main__":
    main()
