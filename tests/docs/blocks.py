"""Run the code blocks of a Markdown page, as a reader would.

A page is one walk: its blocks run from top to bottom in one folder. At first it has the files that
lie beside the page, other pages excepted. The language of a block decides what happens:

    python      runs; blocks that follow each other share one process and their names
    sh          runs, each line a command; the first that fails ends the walk
    console     lines after `$ ` run in a terminal of 80 columns; the other lines are the output
    yaml, json, jsonl     have to parse
    toml, text  are only shown

A comment before a block changes that. Neither GitHub nor the site shows it:

    <!-- file: agent.py -->         writes the block into the folder under this name
    <!-- exit: 1 -->                the block ends with this exit code
    <!-- output -->                 the block is what the block before it has printed
    <!-- not run: needs Docker -->  the block cannot run in a test, for this reason

Commands between `<!-- setup` and `-->` run as `sh`. In expected output, `…` stands for any text in
a line, and a line of its own for any lines. A model server on this machine stands for providers.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from markdown_it import MarkdownIt

from agentool_otel.testing.loopback_model import LoopbackModel
from tests.docs.terminal import run_in_terminal

__all__ = ["LANGUAGES", "Block", "BlockError", "blocks", "walk"]

LANGUAGES = frozenset(("python", "sh", "console", "yaml", "json", "jsonl", "toml", "text"))
_MARK = re.compile(
    r"<!--\s*(not run|file|exit|output|setup|background|with)\b:?\s*(.*?)\s*-->", re.S
)
_TIMEOUT_S = 120
_BASH = ("bash", "-euo", "pipefail", "-c")


class BlockError(AssertionError):
    """A block that does not do what its page promises."""


class Block(NamedTuple):
    """A code block of a page, with the comment before it."""

    page: str
    line: int
    language: str
    """The first word after the fence; empty for an indented block."""
    text: str
    mark: str = ""
    value: str = ""
    """What the mark names: a file, an exit code, a reason."""

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(page: Path) -> list[Block]:
    """Return the code blocks of a page in their order; directives of the site are none."""
    found: list[Block] = []
    mark = ("", "")
    for token in MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8")):
        line = token.map[0] + 1 if token.map else 0
        if token.type == "html_block" and (comment := _MARK.match(token.content)):
            mark = (comment[1], comment[2])
            if mark[0] == "setup":
                found.append(Block(page.name, line, "sh", mark[1], *mark))
                mark = ("", "")
        elif token.type in ("fence", "code_block"):
            language = token.info.partition(" ")[0]
            if not language.startswith("{"):
                found.append(Block(page.name, line, language, token.content, *mark))
            mark = ("", "")
        elif token.type not in ("html_block", "list_item_open", "bullet_list_open"):
            mark = ("", "")
    return found


def walk(page: Path, folder: Path) -> None:
    """Run the blocks of a page in an empty folder. Raises: BlockError."""
    for file in page.parent.iterdir():
        if file.is_file() and file.suffix != ".md" and folder != page.parent:
            shutil.copy(file, folder)
    todo = [it for it in blocks(page) if it.mark != "not run"]
    output = ""
    with LoopbackModel() as model:
        environ = _environment(folder, model)
        for group in _groups(todo):
            first = group[0]
            if first.mark == "output":
                _compare(first, first.text, output)
            elif first.mark == "file":
                file = folder / first.value
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(first.text, encoding="utf-8")
            elif first.language == "python":
                output = _run([sys.executable, "-c", _program(group)], group[-1], folder, environ)
            elif first.language in ("sh", "console"):
                output = _shell(first, folder, environ)
            if first.language in _PARSERS and first.mark != "output":
                _parse(first)


def _groups(todo: list[Block]) -> Iterator[list[Block]]:
    """Yield each block by itself, and plain Python blocks that follow each other together."""
    group: list[Block] = []
    for block in todo:
        plain = block.language == "python" and not block.mark
        if group and not plain:
            yield group
            group = []
        if plain:
            group.append(block)
        else:
            yield [block]
    if group:
        yield group


def _program(group: list[Block]) -> str:
    """Return one program of several blocks, whose tracebacks name the page and the line."""
    lines = [
        f"exec(compile({chr(10) * block.line + block.text!r}, {block.page!r}, 'exec'), globals())"
        for block in group
    ]
    return "\n".join(lines)


def _shell(block: Block, folder: Path, environ: dict[str, str]) -> str:
    if block.language == "sh":
        return _run([*_BASH, block.text], block, folder, environ)
    output = ""
    for command, expected in _dialogue(block):
        try:
            code, output = run_in_terminal([*_BASH, command], folder, environ, _TIMEOUT_S)
        except TimeoutError as error:
            raise BlockError(f"{block.place}: {command!r} does not end") from error
        _check_code(block, code, output)
        _compare(block, expected, output)
    return output


def _dialogue(block: Block) -> Iterator[tuple[str, str]]:
    """Yield each command of a console block, with the output that follows it."""
    for part in re.split(r"^\$ ", block.text, flags=re.M)[1:]:
        command, _, rest = part.partition("\n")
        while command.endswith("\\"):
            line, _, rest = rest.partition("\n")
            command = f"{command}\n{line.removeprefix('> ')}"
        yield command, rest


def _run(command: list[str], block: Block, folder: Path, environ: dict[str, str]) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env=environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        check=False,
        timeout=_TIMEOUT_S,
    )
    _check_code(block, done.returncode, done.stdout)
    return done.stdout


def _check_code(block: Block, code: int, output: str) -> None:
    expected = int(block.value) if block.mark == "exit" else 0
    code = code if code >= 0 else 128 - code  # as a shell has the signal that ended a command
    if code != expected:
        raise BlockError(f"{block.place}: exit code {code}, expected {expected}\n{output}")


def _compare(block: Block, expected: str, output: str) -> None:
    """Compare what a page shows with what was printed; no expectation fits anything."""
    lines = [it.rstrip() for it in expected.strip("\n").splitlines()]
    if not any(lines):
        return
    pattern = "".join(
        r"(?:.*\n)*?" if line in ("…", "...") else _line(line) + r"[ \t]*\n" for line in lines
    )
    printed = re.sub(r"[ \t]+$", "", output, flags=re.M).strip("\n") + "\n"
    if not re.fullmatch(pattern, printed):
        raise BlockError(f"{block.place}: expected\n{expected}\nbut it printed\n{output}")


def _line(line: str) -> str:
    return ".*?".join(re.escape(part) for part in line.split("…"))


def _environment(folder: Path, model: LoopbackModel) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "AGENTOOL_"))}
    return {
        **kept,
        **model.env(),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(folder),
        "NO_COLOR": "1",
        "TERM": "dumb",
        "PYTHONUTF8": "1",
    }


_PARSERS: dict[str, Callable[[str], Any]] = {
    "yaml": lambda text: list(yaml.safe_load_all(text)),
    "json": json.loads,
    "jsonl": lambda text: [json.loads(line) for line in text.splitlines() if line.strip()],
}


def _parse(block: Block) -> None:
    try:
        _PARSERS[block.language](block.text)
    except Exception as error:  # each parser has errors of its own
        raise BlockError(f"{block.place}: no {block.language}: {error}") from error
