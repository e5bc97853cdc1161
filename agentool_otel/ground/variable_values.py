"""Parse the values of environment variables, and report invalid ones.

A reader takes the text of a variable that is set, and raises ValueError with words that follow
`NAME=text` in a sentence: what is wrong, and what may stand there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from urllib.parse import urlsplit

from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.durations import parse_duration
from agentool_otel.ground.untrusted_text import logger

__all__ = [
    "OFF",
    "ON",
    "Notices",
    "Reader",
    "age",
    "check_with",
    "count",
    "options",
    "pairs",
    "positive",
    "seconds",
    "share",
    "size",
    "size_limit",
    "switch",
    "url",
    "word",
]

Reader = Callable[[str], object]

ON = frozenset({"on", "true", "1", "yes"})
OFF = frozenset({"off", "false", "0", "no"})

_SECRET = re.compile(r"HEADERS|KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|TENANT|ATTRIBUTES")
_PLAIN = re.compile(r"(?!.*://)[\w .,:/*+\-]{1,100}")
_PAIR = re.compile(r"\s*[!#$%&'*+\-.^_`|~0-9A-Za-z]+\s*=")
_log = logger("agentool_otel")


class Notices:
    """Notices about the configuration of this process, each logged once."""

    def __init__(self) -> None:
        self.refused: dict[str, tuple[str, str]] = {}
        """For each invalid variable, its value and the notice about it."""
        self._logged: set[str] = set()

    def refuse(self, name: str, text: str, why: str, quiet: bool) -> None:
        """Note that the value of a variable is not used."""
        sentence = f"{name}{_printable_value(name, text)} {' '.join(why.split())}"
        self.refused[name] = text, sentence
        self.log(sentence, quiet)

    def log(self, sentence: str, quiet: bool) -> None:
        """Log a sentence as a warning, which Python writes to stderr where no logging is set up."""
        if not quiet and sentence not in self._logged:
            self._logged.add(sentence)
            _log.warning("agentool_otel: %s", sentence)


def _printable_value(name: str, text: str) -> str:
    """Return `=text`, without parts that may be a credential."""
    secret = _SECRET.search(f"{name} {text}".upper())
    return f"={text}" if _PLAIN.fullmatch(text) and not secret else ", as it is set,"


def switch(text: str) -> bool:
    """Read `on` or `off`, and the words that mean the same."""
    word = text.lower()
    if word in ON:
        return True
    if word in OFF:
        return False
    raise ValueError("is neither on nor off: use on, true, 1 or yes, or off, false, 0 or no")


def word(*choices: str) -> Callable[[str], str]:
    """Return a reader of one of some words, in capital or small letters."""
    *others, last = choices

    def read(text: str) -> str:
        if text.lower() in choices:
            return text.lower()
        raise ValueError(f"is not supported: use {', '.join(others)} or {last}")

    return read


def options(*choices: str) -> Callable[[str], frozenset[str]]:
    """Return a reader of some words in a list that may have others, separated by commas."""
    read_one = word(*choices)

    def read(text: str) -> frozenset[str]:
        chosen = {part.strip().lower() for part in text.split(",")} & set(choices)
        return frozenset(chosen or {read_one(text)})

    return read


def count(text: str) -> int:
    """Read a whole number that is not negative."""
    try:
        number = int(text)
    except ValueError:
        number = -1
    if number < 0:
        raise ValueError("is not an integer from 0 on: use 128, or unset it")
    return number


def positive(of: str) -> Callable[[str], int]:
    """Return a reader of a whole number above 0, of some things."""

    def read(text: str) -> int:
        if not (text.isascii() and text.isdecimal() and len(text) <= 18 and int(text)):
            raise ValueError(f"is not a number of {of} above 0: use 512, or unset it")
        return int(text)

    return read


def seconds(per_s: int = 1) -> Callable[[str], float]:
    """Return a reader of a finite time above 0, in seconds or parts of them."""
    unit = "milliseconds" if per_s > 1 else "seconds"

    def read(text: str) -> float:
        try:
            time = float(text) / per_s
        except ValueError:
            time = math.nan
        if not 0 < time < math.inf:
            raise ValueError(f"is not a number of {unit} above 0")
        return time

    return read


_SIZE = re.compile(r"(\d{1,15}(?:\.\d{1,3})?)\s*([kmgt]i?)?b?", re.ASCII | re.IGNORECASE)


def size(text: str) -> int:
    """Read a number of bytes above 0: `1000000`, `20GB` (of 1000 MB), `512MiB` (of 1024 KiB)."""
    match = _SIZE.fullmatch(text)
    unit = (match[2] or "").lower() if match else ""
    power = "kmgt".index(unit[0]) + 1 if unit else 0
    number = int(float(match[1]) * (1024 if unit.endswith("i") else 1000) ** power) if match else 0
    if number < 1:
        raise ValueError("is not a number of bytes above 0: use 20GB, 512MiB or 1000000000")
    return number


_SMALLEST_LIMIT = 100_000
"""Bytes. A smaller folder would hold nothing but the files that are written at present."""


def size_limit(text: str) -> int:
    """Read the size limit of a folder of recordings, at least 100KB."""
    number = size(text)
    if number < _SMALLEST_LIMIT:
        raise ValueError("is less than the smallest limit, which is 100KB")
    return number


def age(text: str) -> int:
    """Read a duration above 0, such as `7d`, as nanoseconds."""
    duration = parse_duration(text.replace(" ", "").lower())
    if not duration:
        raise ValueError("is not an age above 0: use 7d, 12h or 30m")
    return duration


def share(text: str) -> float:
    """Read a share between 0 and 1."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 <= number <= 1:
        raise ValueError("is not a number from 0 to 1")
    return number


def url(text: str) -> str:
    """Read an HTTP URL with a host."""
    try:
        parts = urlsplit(text)
        is_valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        is_valid = None
    if not is_valid:
        raise ValueError("is not a URL: use http://host:4318")
    return text


def pairs(text: str) -> tuple[str, bool]:
    """Read `key=value` pairs, separated by commas; return those there are, and whether all are."""
    entries = [part for part in text.split(",") if part.strip()]
    valid = [entry for entry in entries if _PAIR.match(entry)]
    return ",".join(valid), len(valid) == len(entries)


def check_with(read: Reader) -> Callable[[str], str]:
    """Return a reader that keeps a text as it is where another one can read it."""

    def keep(text: str) -> str:
        read(text)
        return text

    return keep
