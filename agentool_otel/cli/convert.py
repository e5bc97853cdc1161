"""`convert`: a document of one system as that of another."""

from __future__ import annotations

from pathlib import Path

import click
from msgspec import UNSET

from agentool_otel.cli._data_files import STDOUT, data_files
from agentool_otel.cli._output import say
from agentool_otel.converters import convert, converters
from agentool_otel.errors import DecodeError
from agentool_otel.ground.json_codec import Json, dumps, loads
from agentool_otel.ground.json_difference import Difference
from agentool_otel.reading.sources.files.streams import SpanFile, name_of, stdin, unpacked_bytes

__all__ = ["command"]

_LONGEST = 60
_NAMES = ", ".join(converters())


@click.command()
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, allow_dash=True))
@click.option("--to", required=True, metavar="FORMAT", help=f"Format to write: {_NAMES}")
@click.option("--from", "source", metavar="FORMAT", help="Format of FILE; by default detected.")
@click.option("--strict", is_flag=True, help="Write nothing if something is listed.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), help="File to write."
)
def command(file: Path, to: str, source: str | None, strict: bool, output: Path | None) -> int:
    """Turn tools, tasks and runs of one system into those of another.

    FILE is JSON or JSON Lines, or `-`. What the other format has no place for is listed on stderr,
    each with its path in FILE: converted back, that is what would be lost, changed or added.

    Formats are agentool (the spec's own documents), and those that
    docs/reference/formats.md lists.
    """
    place: SpanFile = stdin() if file == STDOUT else file
    try:
        value = _read(place)
        converted = convert(value, to, source)
    except DecodeError as error:
        raise error.within(name_of(place)) from None
    if converted.alike:
        others = ", ".join(converted.alike)
        say(f"read as {converted.source}; hint: --from, if it is a document of {others}")
    for loss in converted.losses:
        label, text = _line(loss)
        say(text, label=label)
    if strict and converted.losses:
        say(f"nothing was written: {to} cannot hold all of it, and --strict was given")
        return 1
    with data_files({"--output": output or STDOUT}, [place]) as data:
        data["--output"].write(dumps(converted.value).encode() + b"\n")
    return 0


def _read(place: SpanFile) -> Json:
    """Return the JSON value of a file, a list of them where one stands on every line.

    Raises:
        DecodeError: it is neither.
        SourceError: it cannot be opened.
    """
    try:
        with unpacked_bytes(place) as stream:
            text = stream.read().removeprefix(b"\xef\xbb\xbf")
    except EOFError as error:
        raise DecodeError("a whole file", f"a damaged one ({error})") from None
    try:
        return loads(text)
    except ValueError as error:
        lines = [(n, line) for n, line in enumerate(text.splitlines(), 1) if line.strip()]
        if len(lines) > 1 and _is_json(lines[0][1]):
            return [_of_line(n, line) for n, line in lines]
        raise DecodeError("JSON", f"text that is not ({error})") from None


def _is_json(line: bytes) -> bool:
    try:
        loads(line)
    except ValueError:
        return False
    return True


def _of_line(n: int, line: bytes) -> Json:
    try:
        return loads(line)
    except ValueError as error:
        raise DecodeError(f"JSON on line {n}", f"text that is not ({error})") from None


def _line(loss: Difference) -> tuple[str, str]:
    """Return the outcome at a place of the document, as one word and a sentence."""
    if loss.after is UNSET:
        return "lost:", f"{loss.path} {_short(loss.before)}"
    if loss.before is UNSET:
        return "added:", f"{loss.path} {_short(loss.after)}"
    return "changed:", f"{loss.path} {_short(loss.before)} becomes {_short(loss.after)}"


def _short(value: Json) -> str:
    text = dumps(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
