"""Credentials by the name they are assigned to, in text that is no JSON, or not ours alone.

Lines of an environment file or of YAML, headers, query strings, the repr of a dict, JSON inside a
sentence: a name, a separator, a value. What is looked at first is the little that stands before a
separator, because most of a text is not that.

No text makes this slow: words are searched one by one, each from where the value of the one before
ends, and a value is read once. One without an end goes to the end of the text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from agentool_otel.content.masking.secret_names import WORDS, ends_as_secret, has_word
from agentool_otel.semconv.marks import MASK

__all__ = ["assigned", "assigns", "assigns_in_json"]

_NEAR = 20
"""Characters in which the last word of a name ends before a separator, with what may stand between:
a plural s, a quote, blanks."""
_CLOSE = 40
"""Characters between separators from which it costs less to look at all of the text."""
_WINDOW = 16_384
_LONGEST_NAME = 48

_Separators = Mapping[str, tuple[str, ...]]
"""By a character that each of them has: looking for one costs a twentieth of looking for two."""
_IN_TEXT: _Separators = {"=": ("=",), ":": (":",)}
_IN_STRINGS: _Separators = {
    "=": ("=",),
    " ": (": ",),
    "'": ("':", ":'"),
    "\\": ('\\":', ':\\"'),
}
_IN_JSON: _Separators = {**_IN_STRINGS, " ": (": ", " :"), "\n": ("\n:",), "\t": ("\t:",)}

_SEPARATOR = r"s?(?:\\*[\"'])?\s{0,3}(?P<sign>:=|=>|==?|:)\s{0,3}"
_PART_OF_NAME = {"key", "token"}
"""Words that name a credential only with another before them: `api_key`."""
_ASSIGNED = {
    word: re.compile((rf"{word}(?<=[\w\-]{word})" if word in _PART_OF_NAME else word) + _SEPARATOR)
    for word in WORDS
}
"""The last word of a name and what stands between it and its value."""
_REACH = 24
"""The longest of those: a word, a plural s, a sign, three blanks before it and three behind."""
_BEFORE_NAME = re.compile(r"(?:.*[^\w.\-])?", re.DOTALL)

_QUOTE = re.compile(r"(?P<quote>\\*[\"'])(?!\Z|(?P=quote)(?:[\s,;:.)}\]>/]|\Z))")
"""The quote before a value that is not empty."""
_BARE = re.compile(
    # A place to fill in, a reference to a variable, a call, the name of a type: none of them is it.
    r"(?![<{]|\*\*|\$[A-Za-z_{(])"
    r"(?!(?i:string|none|null|true|false|undefined|optional|required)\b)"
    r"(?=[^\s\"',;&)}\]\\]{4})"
    r"[\w.]*(?![\w.(\[])[^\s\"',;&)}\]\\]*"
)
_HEADERS = {
    "authorization": re.compile(r"[A-Za-z][\w\-]*[ \t]+[^\s\"'\\]{4,}"),
    "cookie": re.compile(r"(?:[^\s=;\"'\\]{1,255}=|[^\s=;\"'\\]{256})[^\r\n\"'\\]+"),
}
"""Values with blanks in them: a scheme and its credentials, and all cookies of a line."""


def assigns(text: str) -> bool:
    """Whether plain text names a credential before a separator."""
    return _may_assign(text, _IN_TEXT) and _names(text)


def assigns_in_json(text: str, ours: bool) -> bool:
    """The same of JSON text, for what stands inside its strings or is not written as we do.

    A name and its colon without quotes and without a blank (`token:x`) do not count: clean JSON is
    full of such colons, in times and URLs.

    Args:
        text: the JSON text.
        ours: whether it was written without blanks between its tokens.
    """
    return _may_assign(text, _IN_STRINGS if ours else _IN_JSON) and _names(text)


def assigned(text: str) -> list[tuple[int, int]]:
    """Return where values stand that are assigned to names of credentials; some may overlap."""
    if not _may_assign(text, _IN_TEXT):
        return []
    lower = _lower(text)
    return [span for word in WORDS for span in _assigned_to(word, text, lower)]


def _may_assign(text: str, separators: _Separators) -> bool:
    """Whether a word that names a credential may stand before a separator."""
    if len(text) <= _WINDOW:
        return _has_word_before(text, separators)
    # A text may consist of separators alone: it is cut at them piece by piece.
    pieces = (text[at : at + _WINDOW + _LONGEST_NAME] for at in range(0, len(text), _WINDOW))
    return any(_has_word_before(piece, separators) for piece in pieces)


def _has_word_before(text: str, separators: _Separators) -> bool:
    parts: list[str] = []
    for sign, with_sign in separators.items():
        if sign in text:
            for separator in with_sign:
                if separator in text:
                    parts += text.split(separator)[:-1]  # before the end stands none
            if len(parts) * _CLOSE > len(text):
                return has_word(text)
    return bool(parts) and has_word("\0".join([part[-_NEAR:] for part in parts]))


def _lower(text: str) -> str:
    """Return a text in lower case, each character in its place."""
    lower = text.lower()
    # This letter alone becomes two.
    return lower if len(lower) == len(text) else text.replace("\u0130", "i").lower()


def _names(text: str) -> bool:
    lower = _lower(text)
    return any(_next_name(text, lower, word, 0) is not None for word in WORDS)


def _next_name(text: str, lower: str, word: str, at: int) -> re.Match[str] | None:
    """Return the next separator behind the name of a credential that ends in a word, with it."""
    pattern = _ASSIGNED[word]
    while (match := pattern.search(lower, at)) is not None:
        at = match.end()
        end = match.start() + len(word)
        name = _BEFORE_NAME.match(text, max(0, end - _LONGEST_NAME), end)
        if name is not None and ends_as_secret(text[name.end() : end]):
            return match
    return None


def _assigned_to(word: str, text: str, lower: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    at = end = 0
    while (name := _next_name(text, lower, word, at)) is not None:
        at = name.end()
        header = _header(text, word, name)
        # Within a value another one ends where that does, unless it is a header's.
        value = header or (_value(text, at) if at >= end else None)
        if value is not None:
            end = max(end, value[1])
            if not _is_masked(text, *value):
                spans.append(value)
        if word not in _HEADERS or (header and word == "cookie"):
            at = max(at, end - _REACH)
    return spans


def _header(text: str, word: str, name: re.Match[str]) -> tuple[int, int] | None:
    if word not in _HEADERS or name["sign"] != ":":
        return None
    line = _HEADERS[word].match(text, name.end())
    return None if line is None else line.span()


def _value(text: str, at: int) -> tuple[int, int] | None:
    quote = _QUOTE.match(text, at)
    if quote is not None:
        return quote.end(), _end_of_quoted(text, quote.end(), quote["quote"])
    bare = _BARE.match(text, at)
    return None if bare is None else bare.span()


def _end_of_quoted(text: str, at: int, quote: str) -> int:
    """Return where a value ends that begins behind a quote: before the next one that is escaped as
    often, or at the end of the text."""
    end = at
    while (end := text.find(quote, end + 1)) >= 0:
        if text[end - 1] != "\\":
            return end
    return len(text)


def _is_masked(text: str, begins: int, ends: int) -> bool:
    """Whether a value is the mask, or a scheme and the mask."""
    mask = ends - len(MASK)
    if mask < begins or not text.startswith(MASK, mask):
        return False
    return mask == begins or text[mask - 1].isspace()
