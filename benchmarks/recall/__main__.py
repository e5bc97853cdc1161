"""python -m benchmarks.recall [--json] [--peers/--no-peers]"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.table import Table

from benchmarks.recall.peers import PEERS, prepared
from tests.right_answers import reading as ours
from tests.right_answers.answers import ASPECTS, FIXTURES, Answer, Found, Share, answers, compared

__all__ = ["main"]

_WIDTH = 190
_HOME = Path(tempfile.gettempdir()) / "agentool-recall-peers"


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--json", "as_json", is_flag=True, help="Data instead of a table.")
@click.option("--peers/--no-peers", default=True, help="Install and ask other packages as well.")
@click.option(
    "--envs", type=click.Path(path_type=Path), default=_HOME, help="Where to install them."
)
def main(as_json: bool, peers: bool, envs: Path) -> None:
    """Show how much of the recorded traces is found again: recall and precision per fixture."""
    entries = answers()
    read: dict[str, dict[Path, Found | str]] = {
        "agentool-otel": {answer.fixture: ours.read(answer.fixture) for answer in entries}
    }
    for peer in PEERS if peers else ():
        click.echo(f"asking {peer.package} ...", err=True)
        reader = prepared(peer, envs)
        paths = [answer.fixture for answer in entries]
        read[peer.package] = (
            dict.fromkeys(paths, reader) if isinstance(reader, str) else reader.read(paths)
        )
    if as_json:
        click.echo(json.dumps(list(_data(entries, read)), indent=1, ensure_ascii=False))
    else:
        _print(entries, read)


def _print(names: list[Answer], read: dict[str, dict[Path, Found | str]]) -> None:
    console = Console()
    if not console.is_terminal:
        console = Console(width=_WIDTH)
    table = Table(title="recall / precision in percent; blank where there is nothing to find")
    for column in ("dialect", "fixture", "reader", *ASPECTS):
        table.add_column(column, overflow="fold")
    reasons: list[str] = []
    for answer in names:
        for n, (reader, match) in enumerate(read.items()):
            place = [answer.dialect, answer.fixture.name] if n == 0 else ["", ""]
            result = match[answer.fixture]
            if isinstance(result, str):
                table.add_row(*place, reader, *["-"] * len(ASPECTS))
                reasons.append(f"{reader}, {answer.fixture.name}: {result}")
                continue
            shares = compared(answer.found, result)
            table.add_row(*place, reader, *(_cell(shares[aspect]) for aspect in ASPECTS))
        reasons += [f"{answer.fixture.name}, {key}: {why}" for key, why in answer.wanting.items()]
        table.add_section()
    console.print(table)
    for reason in reasons:
        console.print(reason, markup=False, soft_wrap=True)


def _cell(share: Share | None) -> str:
    if share is None:
        return "-"
    if not share.expected and not share.found:
        return ""
    return f"{_percent(share.recall)} / {_percent(share.precision)}"


def _percent(value: float | None) -> str:
    return "none" if value is None else f"{value:.0%}"[:-1]


def _data(names: list[Answer], read: dict[str, dict[Path, Found | str]]) -> Any:
    for answer in names:
        for reader, value in read.items():
            result = value[answer.fixture]
            row: dict[str, Any] = {
                "dialect": answer.dialect,
                "fixture": str(answer.fixture.relative_to(FIXTURES)),
                "reader": reader,
            }
            if isinstance(result, str):
                yield row | {"reason": result}
                continue
            shares = compared(answer.found, result)
            yield row | {
                aspect: None if share is None else {
                    **share._asdict(), "recall": share.recall, "precision": share.precision
                }
                for aspect, share in shares.items()
            }  # fmt: skip


if __name__ == "__main__":
    main()
