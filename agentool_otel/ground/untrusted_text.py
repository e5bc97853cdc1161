"""Make untrusted text safe to print: texts of files, receivers, names and exceptions.

Invisible characters, cursor movements and changes of text direction are escaped, such as `\\x1b`
and `\\u200b`: a terminal would obey them, and in a line they hide text.

Source of what shows nothing: Unicode 16, general categories Cc, Cf, Co, Cs, Zl and Zp, and the
property Default_Ignorable_Code_Point of DerivedCoreProperties.txt. U+FE0E and U+FE0F pass, which
choose how the character before them looks, as in many emoji.
"""

from __future__ import annotations

import logging

from agentool_otel.ground import lazy_re as re

__all__ = ["clean", "count_text", "flat", "in_json", "line", "logger"]

_UNSEEN = (
    "\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2"
    "\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164"
    "\ud800-\udfff\ue000-\uf8ff\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb"
    "\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e0fff\U000f0000-\U0010ffff"
)
"""All but line feed and tab, as ranges of a character class."""
_unseen = re.compile(f"[{_UNSEEN}]")
_breaking = re.compile(f"[\t\n{_UNSEEN}]")
_SPACE = re.compile(r"\s+")
_LONGEST = 4000
"""Characters of a text that are looked at for a single line."""
_NAMED = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def clean(text: str) -> str:
    """Return text with such characters spelled out, except line ends and tabs."""
    if _is_plain(text):
        return text
    return _unseen.sub(_escape, text.replace("\r\n", "\n"))


def flat(text: str) -> str:
    """Return text on one line, every character of it shown or spelled out."""
    return text if _is_plain(text) else _breaking.sub(_escape, text)


def _is_plain(text: str) -> bool:
    """Return whether a text needs no escapes: a fast test that nearly all texts pass."""
    return text.isascii() and text.isprintable()


def line(text: str, most: int = _LONGEST) -> str:
    """Return text on one line, as much as is looked at: a blank for all that is white space."""
    return clean(_SPACE.sub(" ", text[:most]).strip())


def in_json(text: str) -> str:
    """Return JSON text of the same value, with such characters as JSON escapes."""
    return _unseen.sub(_json_escape, text)


def count_text(number: int, noun: str) -> str:
    """Return `1 span`, `2,000 spans`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def logger(name: str) -> logging.Logger:
    """Return a logger whose messages are one clean line each; a traceback stays as it is."""
    log = logging.getLogger(name)
    log.addFilter(_flatten)
    return log


def _flatten(record: logging.LogRecord) -> bool:
    record.msg = flat(str(record.msg))
    if isinstance(record.args, tuple):
        record.args = tuple(
            arg if isinstance(arg, (int, float)) else flat(str(arg)) for arg in record.args
        )
    return True


def _escape(match: re.Match[str]) -> str:
    character = match[0]
    code = ord(character)
    if character in _NAMED:
        return _NAMED[character]
    if code <= 0xFF:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _json_escape(match: re.Match[str]) -> str:
    units = match[0].encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
