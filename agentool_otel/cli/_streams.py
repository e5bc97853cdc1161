"""The standard streams of a command: present, and able to print any character."""

from __future__ import annotations

import os
import sys

__all__ = ["prepare_streams"]

_NAMES = ("stdin", "stdout", "stderr")


def prepare_streams() -> None:
    """Put the null device in the place of streams that were closed by the caller, and print a
    question mark for characters that the terminal cannot show."""
    if any(getattr(sys, name) is None for name in _NAMES):
        _occupy_descriptors()
        for name in _NAMES:
            if getattr(sys, name) is None:
                setattr(sys, name, open(os.devnull, "r" if name == "stdin" else "w"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")


def _occupy_descriptors() -> None:
    """Open the null device under every free number of a standard stream.

    Otherwise the next file that is opened has that number, and whatever writes to the stream,
    as a C library does, writes into the file.
    """
    while (descriptor := os.open(os.devnull, os.O_RDWR)) < len(_NAMES):
        pass
    os.close(descriptor)
