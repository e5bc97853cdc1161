"""Credentials by the name they are assigned to, in text that is no JSON, or not ours alone.

Lines of an environment file or of YAML, headers, query strings, the repr of a dict, JSON inside a
sentence: a name, a separator, a value. What is looked at first is the little that stands before a
separator, because most of a text is not that.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from agentool_otel.emit._secret_names import WORDS, has_word, names_secret
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

_NAME = re.compile(r"[\w.\-]+\Z")
_SEPARATOR = re.compile(r"s?(?:\\*[\"'])?\s{0,3}(?P<sign>:=|=>|==?|:)\s{0,3}")
_QUOTED = re.compile(r"(?P<quote>\\*[\"'])(?P<value>[\s\S]{1,1024}?)(?<!\\)(?P=quote)")
_BARE = re.compile(
    # A place to fill in, a reference to a variable, a call, the name of a type: none of them is it.
    r"(?![<{(\[]|\*\*|\$[A-Za-z_{(]|[\w.]+[(\[])"
    r"(?!(?i:string|none|null|true|false|undefined|optional|required)\b)"
    r"(?P<value>[^\s\"',;&)}\]\\]{4,})"
)
_AUTHORIZATION = re.compile(
    r"(?P<value>[A-Za-z][\w\-]*[ \t]+[^\s\"'\\]{4,}(?:,[ \t]*[^\s\"'\\]+)*)"
)
"""A scheme, and its credentials or parameters."""
_COOKIES = re.compile(r"(?P<value>[^\s=;\"'\\]+=[^\r\n\"'\\]+)")
_DONE = re.compile(rf"(?:^|\s){re.escape(MASK)}\Z")


def assigns(text: str) -> bool:
    """Whether plain text may assign a value to the name of a credential."""
    return _assigns(text, _IN_TEXT)


def assigns_in_json(text: str, ours: bool) -> bool:
    """The same of JSON text, for what stands inside its strings or is not written as we do.

    A name and its colon without quotes and without a blank (`token:x`) do not count: clean JSON is
    full of such colons, in times and URLs.

    Args:
        text: the JSON text.
        ours: whether it was written without blanks between its tokens.
    """
    return _assigns(text, _IN_STRINGS if ours else _IN_JSON)


def assigned(text: str) -> list[tuple[int, int]]:
    """Return where values stand that are assigned to names of credentials."""
    found: list[tuple[int, int]] = []
    for word, separator in _names(text):
        value = _value(text, word, separator)
        if value is not None and not _DONE.search(value["value"]):
            found.append(value.span("value"))
    return found


def _assigns(text: str, separators: _Separators) -> bool:
    if len(text) <= _WINDOW:
        return _worth_it(text, separators) and next(_names(text), None) is not None
    # A text may consist of separators alone: it is cut at them piece by piece.
    pieces = (text[at : at + _WINDOW + _LONGEST_NAME] for at in range(0, len(text), _WINDOW))
    return any(_worth_it(it, separators) and next(_names(it), None) is not None for it in pieces)


def _worth_it(text: str, separators: _Separators) -> bool:
    """Whether a word that names a credential may stand before a separator."""
    parts: list[str] = []
    for sign, with_sign in separators.items():
        if sign in text:
            for separator in with_sign:
                if separator in text:
                    parts += text.split(separator)[:-1]  # before the end stands none
            if len(parts) * _CLOSE > len(text):
                return has_word(text)
    return bool(parts) and has_word("\0".join([part[-_NEAR:] for part in parts]))


def _names(text: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Yield the last word of each name of a credential before a separator, and the separator."""
    lower = text.lower()
    if len(lower) != len(text):  # letters that have another length in lower case
        lower = text
    for word in WORDS:
        at = lower.find(word)
        while at >= 0:
            end = at + len(word)
            separator = _SEPARATOR.match(text, end)
            if separator is not None:
                name = _NAME.search(text[max(0, end - _LONGEST_NAME) : end])
                if name is not None and names_secret(name[0]):
                    yield word, separator
            at = lower.find(word, end)


def _value(text: str, word: str, separator: re.Match[str]) -> re.Match[str] | None:
    at = separator.end()
    if separator["sign"] == ":":  # a header, whose value has blanks
        if word == "authorization" and (value := _AUTHORIZATION.match(text, at)):
            return value
        if word == "cookie" and (value := _COOKIES.match(text, at)):
            return value
    return _QUOTED.match(text, at) or _BARE.match(text, at)
