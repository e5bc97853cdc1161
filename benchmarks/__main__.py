"""python -m benchmarks [--quick] [--json FILE] [live|journal|masking|import|first|...]"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import click

from benchmarks import _sizes
from benchmarks._table import Row, as_json, print_table

__all__ = ["main"]

_HOMES = {
    "live": "live",
    "journal": "journal",
    "masking": "masking",
    "prefilter": "prefilter",
    "import": "imports",
    "first": "first",
    "start": "start",
    "memory": "memory",
    "export": "export",
    "rebuild": "rebuild",
    "hostile": "hostile",
    "peers": "peers",
    "whole": "whole",
    "threads": "threads",
    "scale": "scale",
    "evaluation": "evaluation",
    "instrumentors": "instrumentors",
    "spark": "spark",
}
_LONG = {"hostile", "scale", "evaluation", "instrumentors", "spark", "threads", "whole"}
"""Measurements that run only when named."""


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--quick", is_flag=True, help="Fewer rounds of less: to see that it works.")
@click.option("--json", "file", type=click.Path(path_type=Path), help="Write the rows here too.")
@click.argument("groups", nargs=-1, type=click.Choice(list(_HOMES)))
def main(quick: bool, file: Path | None, groups: tuple[str, ...]) -> None:
    """Measure the cost of the package and print one table; everything but `hostile`, `scale`,
    `evaluation`, `instrumentors`, `spark`, `threads` and `whole`, or the GROUPS named.

    Exit 1 where a target is missed.
    """
    size = _sizes.QUICK if quick else _sizes.FULL
    rows: list[Row] = []
    for group in groups or [name for name in _HOMES if name not in _LONG]:
        click.echo(f"measuring {group} ...", err=True)
        module = import_module(f"benchmarks.{_HOMES[group]}")
        measure: Callable[[_sizes.Size], Iterator[Row]] = module.rows
        rows += [replace(row, group=group) for row in measure(size)]
    if file is not None:
        file.write_text(json.dumps(_document(quick, rows), indent=2) + "\n")
    print_table(rows)
    missed = [row for row in rows if row.met is False]
    for row in missed:
        click.echo(f"missed: {row.what}", err=True)
    sys.exit(1 if missed else 0)


def _document(quick: bool, rows: list[Row]) -> dict[str, object]:
    return {
        "python": platform.python_version(),
        "machine": platform.machine(),
        "quick": quick,
        "rows": [as_json(row) for row in rows],
    }


if __name__ == "__main__":
    main()
