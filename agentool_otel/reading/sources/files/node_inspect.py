"""Objects as JavaScript prints them: `util.inspect`, used by `ConsoleSpanExporter` for spans.

    {
      resource: { attributes: { 'service.name': 'bot' } },
      traceId: '6a…', parentSpanContext: undefined, kind: 0, status: { code: 0 },
      attributes: { 'gen_ai.input.messages': "it's" }, events: [ [Object] ],
    }

Source: Node.js 24 documentation, util.inspect; Bun and Deno print the same with other quotes. What
the printer left out (`[Object]`, `[Array]`, `… more items`) is absent here, and counted.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from agentool_otel.ground import lazy_re as re

__all__ = ["Inspected", "inspected", "looks_inspected"]

_BEGINS = re.compile(r"""\{\s*(?:[A-Za-z_$][\w$]*|'[^'\\\n]*(?:\\.[^'\\\n]*)*')\s*:""")
_SPACE = re.compile(r"[\s,]*")
_KEY = re.compile(r"""([A-Za-z_$][\w$]*)|(?=['"`])""")
_COLON = re.compile(r"\s*(?::|=>)\s*")
_QUOTED = re.compile(
    "|".join(rf"{quote}([^{quote}\\]*(?:\\.[^{quote}\\]*)*){quote}" for quote in "'\"`"), re.DOTALL
)
_JOINED = re.compile(r"""\s*\+\s*(?=['"`])""")
_MORE = re.compile(r"\s*\.\.\. \d+ more (?:items?|characters?)")
_LEFT_OUT = re.compile(
    r"\[(?:Object|Array|Circular[^\]\n]*|Getter[^\]\n]*|Function[^\]\n]*|class [^\]\n]*|[A-Z]\w*)\]"
    r"|<Buffer [^<>]*>|Symbol\([^()]*\)"
)
_BEFORE = re.compile(
    r"(?:<ref \*\d+>\s*)?[A-Za-z_$][\w$]*(?:\(\d+\))?\s*(?:\[[^\]\n]*\]\s*)?(?=[{\[])"
)
"""A class or a size before an object: `Resource {`, `Map(2) {`, `Object [null prototype] {`."""
_NUMBER = re.compile(r"(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(n?)(?![\w-])")
_WORD = re.compile(r"[^\s,\]}]+")
_ESCAPED = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|u\{?([0-9A-Fa-f]{4,6})\}?|(.))", re.DOTALL)
_LETTERS = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": ""}
_WORDS: dict[str, Any] = {
    "null": None,
    "true": True,
    "false": False,
    "None": None,
    "True": True,
    "False": False,  # of a Python dictionary, printed likewise
}
_DEEP = 60
_ABSENT: Any = object()


class Inspected(NamedTuple):
    value: dict[str, Any]
    end: int
    """Index at which it ends in the text."""
    left_out: int
    """Number of values that the printer left out or truncated."""


def looks_inspected(text: str, at: int) -> bool:
    """Return whether a printed object begins here; JSON has its keys in double quotes."""
    return _BEGINS.match(text, at) is not None


def inspected(text: str, at: int) -> Inspected:
    """Return the printed object at a place in a text.

    Raises:
        ValueError: there is no object, or it is incomplete.
    """
    printed = _Printed(text)
    value, end = printed.read(at, 0)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return Inspected(value, end, printed.left_out)


class _Printed:
    def __init__(self, text: str):
        self.left_out = 0
        self._text = text

    def read(self, at: int, level: int) -> tuple[Any, int]:
        """Return the value at a place, and where it ends."""
        text = self._text
        if level > _DEEP:
            raise ValueError("nested too deeply")
        if left_out := _LEFT_OUT.match(text, at):
            self.left_out += 1
            return _ABSENT, left_out.end()
        if before := _BEFORE.match(text, at):
            at = before.end()
        first = text[at : at + 1]
        if first == "{":
            return self._object(at + 1, level)
        if first == "[":
            return self._array(at + 1, level)
        if first and first in "'\"`":
            return self._string(at)
        if number := _NUMBER.match(text, at):
            digits = number[1]
            return int(digits) if digits.lstrip("-").isdigit() else float(digits), number.end()
        if word := _WORD.match(text, at):
            return _WORDS.get(word[0], _ABSENT if word[0] == "undefined" else word[0]), word.end()
        raise ValueError(f"no value at character {at}")

    def _object(self, at: int, level: int) -> tuple[dict[str, Any], int]:
        members: dict[str, Any] = {}
        while True:
            at = self._next(at)
            if self._text[at : at + 1] == "}":
                return members, at + 1
            if left_out := _LEFT_OUT.match(self._text, at):  # a member named by a symbol
                key, at = "", left_out.end()
            elif (word := _KEY.match(self._text, at)) is None:
                raise ValueError(f"no name of a member at character {at}")
            elif word[1]:
                key, at = word[1], word.end()
            else:
                key, at = self._string(at)
            if (colon := _COLON.match(self._text, at)) is None:
                raise ValueError(f"no colon at character {at}")
            value, at = self.read(colon.end(), level + 1)
            if value is not _ABSENT and key:
                members[key] = value

    def _array(self, at: int, level: int) -> tuple[list[Any], int]:
        items: list[Any] = []
        while True:
            at = self._next(at)
            if self._text[at : at + 1] == "]":
                return items, at + 1
            value, at = self.read(at, level + 1)
            if value is not _ABSENT:
                items.append(value)

    def _string(self, at: int) -> tuple[str, int]:
        """Long text is printed in lines with a plus between, and cut where it is very long."""
        parts: list[str] = []
        while quoted := _QUOTED.match(self._text, at):
            parts.append(_ESCAPED.sub(_unescaped, quoted[quoted.lastindex or 0]))
            at = quoted.end()
            if (joined := _JOINED.match(self._text, at)) is None:
                return "".join(parts), self._next(at) if _MORE.match(self._text, at) else at
            at = joined.end()
        raise ValueError(f"a text without its end at character {at}")

    def _next(self, at: int) -> int:
        """Return where the next member or item begins, or the bracket behind the last one."""
        while True:
            space = _SPACE.match(self._text, at)
            at = space.end() if space else at
            if (more := _MORE.match(self._text, at)) is None:
                return at
            self.left_out += 1
            at = more.end()


def _unescaped(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2]
    if code is None:
        return _LETTERS.get(escape[3], escape[3])
    number = int(code, 16)
    return chr(number) if number < 0x110000 else "\N{REPLACEMENT CHARACTER}"
