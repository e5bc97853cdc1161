"""An error handler that marks bytes which are not UTF-8, so that a reader can note where they were.

    data.decode("utf-8", MARKING)

A mark is a character as any other: U+FDD0, one of those that Unicode keeps for uses inside a
program, and that no text has. `reading.sources.files.damage` finds the marks in a record.
"""

from __future__ import annotations

import codecs

__all__ = ["MARK", "MARKING"]

MARK = "\ufdd0"

MARKING = "agentool_otel.marking"
"""Name of the error handler."""


def _mark(error: UnicodeError) -> tuple[str, int]:
    if isinstance(error, UnicodeDecodeError):
        return MARK, error.end
    raise error


codecs.register_error(MARKING, _mark)
