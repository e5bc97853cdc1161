"""The code blocks of a Markdown page. `tests.docs.walks` runs them, from the top of the page.

The language of a block decides what happens:

    python      runs as a program of its own
    sh          runs; each command has to end with 0
    console     lines after `$ ` run as in `sh`; the lines below are their output
    yaml, json, jsonl     have to parse
    toml, text  are only shown

A comment before a block changes that. Neither GitHub nor the site shows it:

    <!-- file: agent.py -->         writes the block into a file of this name
    <!-- exit: 1 -->                a command of the block ends with this exit code
    <!-- output -->                 the block is what the block before it prints
    <!-- not run: needs Docker -->  the block cannot run in a test, for this reason
    <!-- background -->             the command goes on until the page ends
    <!-- with: SERVER -->           the block runs where this server does; else the page ends there

Commands between `<!-- setup` and `-->` run as `sh`. In output, `…` stands for any text in a line,
and a line of its own for any lines.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from markdown_it import MarkdownIt

__all__ = ["LANGUAGES", "Block", "blocks", "parse"]

LANGUAGES = frozenset(("python", "sh", "yaml", "json", "jsonl", "toml", "text"))
"""The languages of blocks; a `console` block is read as `sh` and `text`."""
_MARK = re.compile(
    r"<!--\s*(not run|file|exit|output|setup|background|with)\b:?\s*(.*?)\s*-->", re.S
)


class Block(NamedTuple):
    """A code block of a page, with the comment before it."""

    page: str
    line: int
    """The line above the text of the block."""
    language: str
    """The first word after the fence; empty for an indented block."""
    text: str
    mark: str = ""
    value: str = ""
    """Value of the mark: a file, an exit code, a reason."""

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(page: Path) -> list[Block]:
    """Return the code blocks of a page in their order; directives of the site are none."""
    results: list[Block] = []
    mark = ("", "")
    for token in MarkdownIt("commonmark").parse(page.read_text(encoding="utf-8")):
        line = token.map[0] + 1 if token.map else 0
        if token.type == "html_block" and (comment := _MARK.match(token.content)):
            mark = (comment[1], comment[2])
            if mark[0] == "setup":
                results.append(Block(page.name, line, "sh", mark[1], *mark))
                mark = ("", "")
        elif token.type in ("fence", "code_block"):
            language = token.info.partition(" ")[0]
            block = Block(page.name, line, language, token.content, *mark)
            if language == "console":
                results += _dialogue(block)
            elif not language.startswith("{"):
                results.append(block)
            mark = ("", "")
        elif token.type not in ("html_block", "list_item_open", "bullet_list_open"):
            mark = ("", "")
    return results


def _dialogue(block: Block) -> Iterator[Block]:
    """Yield each command of a console block, and its output if there is any."""
    commands, output = list[str](), list[str]()
    start = block.line
    for number, line in enumerate([*block.text.splitlines(), "$ "], block.line + 1):
        if line.startswith("$ "):
            if commands:
                yield block._replace(language="sh", text="\n".join(commands) + "\n", line=start)
            if output:
                text = "\n".join(output) + "\n"
                shown = start + len(commands)
                yield Block(block.page, shown, "text", text, "output")
            commands, output, start = [line.removeprefix("$ ")], [], number - 1
        elif commands and commands[-1].endswith("\\") and not output:
            commands.append(line.removeprefix("> "))
        else:
            output.append(line)


_PARSERS: dict[str, Callable[[str], Any]] = {
    "yaml": lambda text: list(yaml.safe_load_all(text)),
    "json": json.loads,
    "jsonl": lambda text: [json.loads(line) for line in text.splitlines() if line.strip()],
}


def parse(block: Block) -> None:
    """Read the data of a block. Raises: ValueError or YAMLError if it is none of its language."""
    if block.language in _PARSERS and block.mark != "output":
        _PARSERS[block.language](block.text)
