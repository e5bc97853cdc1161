"""The command line that started this program, for hints that are ready to paste."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from agentool_otel.cli._help import COMMANDS
from agentool_otel.ground import lazy_re as re

__all__ = ["as_called", "note_call", "program"]

_NAME = "agentool-otel"
_MODULE = "agentool_otel"
_COMMAND = re.compile(rf"(?<![\w./\\-]){_NAME}(?= (?:{'|'.join(COMMANDS)}|--?\w[\w-]*)(?![\w:]))")
"""The name of the program before a command or an option, as in every hint."""


class _Call:
    """The program of the call that runs in this process."""

    program = _NAME


_call = _Call()


def program() -> str:
    """Return how to call this program, as shell words."""
    return _call.program


def as_called(text: str) -> str:
    """Return a text with its commands as the user would call them."""
    if _call.program == _NAME:
        return text
    return _COMMAND.sub(lambda _: _call.program, text)


def note_call(argv: Sequence[str] = (), orig_argv: Sequence[str] = ()) -> None:
    """Note how this program was called.

    Args:
        argv: `sys.argv`, by default that of this process.
        orig_argv: `sys.orig_argv`, by default that of this process.
    """
    _call.program = _program(argv or sys.argv, orig_argv or sys.orig_argv)


def _program(argv: Sequence[str], orig_argv: Sequence[str]) -> str:
    path = Path(argv[0])
    if path.name == "__main__.py" and path.parent.name == _MODULE:
        return f"{_found(orig_argv[0])} -m {_MODULE}"
    if path.stem == _NAME:
        return _found(argv[0])
    return _NAME  # called by another program


def _found(program: str) -> str:
    """Return a program by its name where PATH leads to it, else by its path."""
    name = os.path.basename(program).removesuffix(".exe")
    with suppress(OSError):
        path = shutil.which(name)
        if program == name or (path is not None and os.path.samefile(path, program)):
            return name
    return shlex.quote(program)
