"""Docstrings and help texts as Markdown."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

__all__ = ["cell", "docstring", "prose"]

_SECTIONS = ("Args", "Attributes", "Returns", "Yields", "Raises")
_SECTION = re.compile(rf"^({'|'.join(_SECTIONS)}):(?: (.*))?$")
_ENTRY = re.compile(r"^ {4}([*\w][*\w., ]*): (.*)$")
_CODE = re.compile(r"(`[^`]*`)")


def docstring(text: str | None) -> str:
    """Return a docstring in Google style as Markdown."""
    title, body = "", list[str]()
    parts: list[tuple[str, list[str]]] = [(title, body)]
    for line in inspect.cleandoc(text or "").splitlines():
        head = _SECTION.match(line)
        if head:
            title, body = head[1], [f"    {head[2]}"] if head[2] else []
            parts.append((title, body))
        elif title and line and not line.startswith(" "):  # prose goes on behind a section
            title, body = "", [line]
            parts.append((title, body))
        else:
            body.append(line)
    return "\n\n".join(
        f"**{title}**\n\n{_entries(title, body)}" if title else prose("\n".join(body))
        for title, body in parts
        if any(body)
    )


def prose(text: str) -> str:
    """Return plain text as Markdown: paragraphs, and what is indented as it stands."""
    return "\n\n".join(_block(block) for block in re.split(r"\n\s*\n", text.strip("\n")) if block)


def cell(text: str) -> str:
    """Return text as a cell of a table."""
    return _escaped(" ".join(text.split())).replace("|", "\\|")


def _block(block: str) -> str:
    lines = block.splitlines()
    if lines[0] == "\b":  # click: keep the lines as they are
        return _verbatim(lines[1:])
    if all(line.startswith("  ") for line in lines if line.strip()):
        return _verbatim(lines)
    flush = next((n for n, line in enumerate(lines) if line.startswith("    ")), None)
    if flush and all(line.startswith("    ") for line in lines[flush:]):
        return f"{_block(chr(10).join(lines[:flush]))}\n\n{_verbatim(lines[flush:])}"
    if all(line.startswith(("- ", "  ")) for line in lines):
        return _escaped("\n".join(lines))
    return _escaped(" ".join(line.strip() for line in lines))


def _verbatim(lines: list[str]) -> str:
    return f"```text\n{inspect.cleandoc(chr(10).join(['', *lines]))}\n```"


def _entries(title: str, lines: list[str]) -> str:
    """Return the entries of a section as a list; a section without names as a paragraph."""
    if title in ("Returns", "Yields"):
        return prose(inspect.cleandoc("\n".join(["", *lines])))
    return "\n".join(f"- `{name}`: {_escaped(text)}" for name, text in _named(lines))


def _named(lines: list[str]) -> Iterator[tuple[str, str]]:
    name, words = "", list[str]()
    for line in lines:
        entry = _ENTRY.match(line)
        if entry:
            if name:
                yield name, " ".join(words)
            name, words = entry[1], [entry[2]]
        elif line.strip():
            words.append(line.strip())
    if name:
        yield name, " ".join(words)


def _escaped(text: str) -> str:
    """Return text in which nothing but code spans is markup."""
    return "".join(
        part if part.startswith("`") else re.sub(r"([<*\[\]_])", r"\\\1", part)
        for part in _CODE.split(text)
    )
