"""One JSON document of any size, value by value, in memory that does not grow with it.

    {"resourceSpans": [{"resource": {…}, "scopeSpans": [{"scope": {…}, "spans": [a, b, …]}]}]}

What fits into the window is one value. What does not is entered: each item inside is a value, in
the objects around it as far as they have been read: `{"resourceSpans": [{"resource": {…},
"scopeSpans": [{"scope": {…}, "spans": [a]}]}]}`, then the same with `b`. So a member counts for
the items behind it only. A span is never entered, however large it is, nor is a trace of Jaeger's.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterator
from typing import BinaryIO

from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.invalid_utf8 import MARKING
from agentool_otel.ground.json_codec import Json
from agentool_otel.reading.sources.files.damage import encoded
from agentool_otel.reading.sources.files.pushback import Pushback
from agentool_otel.reading.sources.files.salvage import is_cut

__all__ = ["LargeJson"]

_WINDOW = 4 << 20
"""Characters that are looked at together; their values take some ten times as much memory."""
_LONGEST = 64 << 20
"""Characters of a text: a longer one counts as damage."""
_DEEPEST = 100
"""Objects and arrays around a value: anything deeper counts as damage. Python up to 3.13
cannot decode a thousand, and newer ones any number."""
_BETWEEN = re.compile(r"[\s,:\ufeff]*")
_OF_A_SPAN = re.compile(
    r'\{\s*"(?:traceId|spanId|trace_id|span_id|parentSpanId|name|context|_spanContext|spanContext'
    r'|traceID)"'
)
"""Beginning of a span, by its first member, or of a Jaeger trace, whose `processes` come last."""
_raw_decode = json.JSONDecoder().raw_decode


class _Frame:
    """An array or object that has been entered."""

    def __init__(self, is_object: bool):
        self.is_object = is_object
        self.members: dict[str, Json] = {}
        self.size = 0
        self.key = ""
        """The name of the member that is being read."""
        self.delivered = not is_object
        """Whether its members have been part of a value."""


class LargeJson:
    """Reads the documents of a stream from a place on, as long as they are JSON."""

    def __init__(self, begun: bytes, stream: BinaryIO | Pushback, window: int = _WINDOW):
        """
        Args:
            begun: what has been read of the document already.
            stream: the rest of it.
            window: characters that are looked at together.
        """
        self._window = window
        self._context = window // 4
        """Characters of members that are kept for the items behind them."""
        self._decoder = codecs.getincrementaldecoder("utf-8")(MARKING)
        self._stream = stream
        self._ended = False
        self._text = self._decoder.decode(begun)
        self._at = 0
        self._size = 0
        """Characters of the last value."""
        self._key = ""
        """The name and colon before the value that could not be read."""
        self._frames: list[_Frame] = []
        self._damaged = False

    @property
    def rest(self) -> bytes | None:
        """Return the bytes of a damaged document that were taken from the stream but not decoded;
        None unless the document is damaged.
        """
        if not self._damaged:
            return None
        pending, _ = self._decoder.getstate()
        return encoded(self._key + self._text[self._at :]) + pending

    @property
    def around(self) -> dict[str, Json]:
        """Return the members of the parents of the present place, as far as they are kept."""
        return {key: value for frame in self._frames for key, value in frame.members.items()}

    def values(self) -> Iterator[Json]:
        """Yield the values, up to the end of the stream or to where it is damaged."""
        while self._more(self._window // 2):
            first = self._text[self._at]
            frame = self._frames[-1] if self._frames else None
            if frame is not None and first == ("}" if frame.is_object else "]"):
                self._at += 1
                self._frames.pop()
                if not frame.delivered:
                    yield self._within(frame.members)
                continue
            self._key = ""
            try:
                if frame is not None and frame.is_object:
                    frame.key = str(self._value())
                    self._key = f"{json.dumps(frame.key)}:"
                    self._more(self._window // 2)
                value = self._value()
            except _TooLarge:
                if len(self._frames) == _DEEPEST:
                    self._damaged = True
                    return
                self._frames.append(_Frame(self._text[self._at] == "{"))
                self._at += 1
                continue
            except ValueError:
                self._damaged = True
                return
            if frame is None or not frame.is_object:
                yield self._within(value)
            elif self._size + frame.size < self._context:
                frame.members[frame.key] = value
                frame.size += self._size
            else:
                yield self._within(value)
                frame.members, frame.size = {}, 0
        self._key, self._damaged = "", bool(self._frames)

    def _value(self) -> Json:
        """Return the value at the place reached, and go behind it.

        Raises:
            _TooLarge: it is an object or array that does not fit into the window.
            ValueError: there is no value.
        """
        wanted = self._window
        while True:
            try:
                value, end = _raw_decode(self._text, self._at)
                if end < len(self._text) or self._ended:  # else it might be half a number
                    self._size, self._at = end - self._at, end
                    return value
            except RecursionError:
                raise ValueError("nested too deeply") from None
            except ValueError as error:
                if self._ended or not is_cut(error, self._text):
                    raise
            if len(self._text) - self._at >= wanted:
                if self._text[self._at] not in "{[":
                    if wanted > _LONGEST:
                        raise ValueError("longer than any text")
                elif not _OF_A_SPAN.match(self._text, self._at):
                    raise _TooLarge
                wanted *= 2
            self._fill(wanted)

    def _more(self, wanted: int) -> bool:
        """Go to the next value or bracket, with some text behind it; False at the end."""
        while True:
            between = _BETWEEN.match(self._text, self._at)
            self._at = between.end() if between else self._at
            if len(self._text) - self._at >= wanted or self._ended:
                return self._at < len(self._text)
            self._fill(self._window)

    def _fill(self, wanted: int) -> None:
        parts = [self._text[self._at :]]
        missing = wanted - len(parts[0])
        while missing > 0 and not self._ended:
            data = self._stream.read(missing)
            self._ended = not data
            parts.append(self._decoder.decode(data, final=self._ended))
            missing -= len(parts[-1])
        self._text, self._at = "".join(parts), 0

    def _within(self, value: Json) -> Json:
        """Return a value inside the members that were entered."""
        for frame in reversed(self._frames):
            frame.delivered = True
            value = {**frame.members, frame.key: value} if frame.is_object else [value]
        return value


class _TooLarge(Exception):
    """A value has to be entered."""
