"""Credentials by their shape, whatever stands before them.

Every expression begins with letters that are looked for as fast as a word is, and is tried at those
places alone. None looks at a character more often than a fixed number of times, however often its
beginning is repeated: what has been looked at in vain is not looked at again.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

__all__ = ["may_hold", "shaped"]

_TOKEN = r"[A-Za-z0-9_\-]"


def _words(starts: tuple[str, ...], rest: str) -> Iterator[tuple[str, re.Pattern[str]]]:
    """Yield what begins a word. That is looked back at: before it, it would have to be tried at
    every place."""
    for start in starts:
        yield start, re.compile(rf"{start}(?<!\w{start}){rest}")


_SHAPES: tuple[tuple[str, re.Pattern[str]], ...] = (
    *_words(("sk-",), rf"{_TOKEN}{{16,}}"),
    *_words(("sk_live_", "sk_test_", "rk_live_", "rk_test_"), r"[A-Za-z0-9]{10,}"),
    *_words(("AKIA", "ASIA"), r"[0-9A-Z]{16}\b"),
    *_words(("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), r"[A-Za-z0-9]{20,}"),
    *_words(("github_pat_",), r"\w{20,}"),
    *_words(("glpat-",), rf"{_TOKEN}{{16,}}"),
    *_words(("xox",), r"[abeprs]-[A-Za-z0-9\-]{10,}"),
    *_words(("AIza",), rf"{_TOKEN}{{30,}}"),
    *_words(("hf_",), r"[A-Za-z0-9]{20,}"),
    *_words(("eyJ",), rf"{_TOKEN}{{10,}}(?:\.{_TOKEN}{{10,}}\.{_TOKEN}+|(?P<vain>))"),
    ("earer ", re.compile(r"earer (?<=[Bb]earer )(?P<secret>[A-Za-z0-9_\-.=+/~]{8,})")),
    ("Basic ", re.compile(r"Basic (?P<secret>[A-Za-z0-9+/]{12,}={0,2})")),
    ("://", re.compile(r"://(?P<secret>[^\s/:@\"'\\]*:[^\s/@\"'\\]+)@")),
)
"""What a shape begins with, and the whole of it, of which only `secret` is masked where it has that
part. One that has found `vain` is no credential: a later one cannot begin in it."""
_KEY_BEGINS = re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----")
_KEY_ENDS = re.compile(r"-----END [A-Z ]*PRIVATE KEY-----")


def may_hold(text: str) -> bool:
    """Whether a text has the beginning of something of the shape of a credential.

    A single character is found twenty times as fast as several.
    """
    return (
        ("-" in text and _holds_dashed(text))
        or ("J" in text and "eyJ" in text)
        or ("A" in text and ("AKIA" in text or "ASIA" in text or "AIza" in text))
        or ("_" in text and _holds_underscored(text))
        or ("b" in text and "bearer " in text)
        or ("B" in text and ("Bearer " in text or "Basic " in text))
        or ("@" in text and "://" in text)
    )


def _holds_dashed(text: str) -> bool:
    return "sk-" in text or "xox" in text or "glpat-" in text or "PRIVATE KEY-----" in text


def _holds_underscored(text: str) -> bool:
    return (
        "hf_" in text
        or "_live_" in text
        or "_test_" in text
        or "_pat_" in text
        or ("gh" in text and any(f"gh{c}_" in text for c in "pousr"))
    )


def shaped(text: str) -> list[tuple[int, int]]:
    """Return where credentials stand, by shape and not by place; some may overlap."""
    if not may_hold(text):
        return []
    spans = list(_private_keys(text)) if "PRIVATE KEY-----" in text else []
    for start, shape in _SHAPES:
        if start in text:
            part = "secret" if "secret" in shape.groupindex else 0
            spans += [it.span(part) for it in shape.finditer(text) if it.lastgroup != "vain"]
    return spans


def _private_keys(text: str) -> Iterator[tuple[int, int]]:
    """Yield where keys in PEM stand; one whose end was cut off goes to the end of the text."""
    begins = _KEY_BEGINS.search(text)
    while begins is not None:
        ends = _KEY_ENDS.search(text, begins.end())
        end = len(text) if ends is None else ends.end()
        yield begins.start(), end
        begins = _KEY_BEGINS.search(text, end)
