"""Server-sent events that arrive as bytes or text, cut anywhere.

Source: HTML Living Standard, 9.2.6 "Interpreting an event stream"; only the data is read.
"""

from __future__ import annotations

from codecs import getincrementaldecoder
from typing import Any

from agentool_otel.ground.json_codec import loads

__all__ = ["ServerSentEvents"]

_LIMIT = 16 * 1024 * 1024
"""Most characters of an event that is not complete; a longer one is left out."""


class ServerSentEvents:
    """Puts events together from pieces of a stream, and returns the JSON in their data."""

    __slots__ = ("_data", "_decoder", "_line")

    def __init__(self) -> None:
        self._decoder = getincrementaldecoder("utf-8")("replace")
        self._line = ""
        self._data: list[str] = []

    def add(self, piece: bytes | str) -> list[Any]:
        """Return the events that a piece completes; data that is no JSON is left out."""
        text = self._decoder.decode(piece) if isinstance(piece, bytes) else piece
        *lines, rest = (self._line + text).replace("\r\n", "\n").split("\n")
        self._line = rest if len(rest) < _LIMIT else ""
        return [event for line in lines for event in self.line(line)]

    def line(self, line: str) -> list[Any]:
        """Return the event that a whole line completes, if it does."""
        if line.startswith("data:"):
            self._data.append(line[5:].removeprefix(" "))
            return []
        if line or not self._data:
            return []
        data, self._data = "\n".join(self._data), []
        try:
            return [loads(data.encode())]
        except ValueError:  # `[DONE]`
            return []
