"""Credentials by the name they are assigned to, in text other than JSON.

Lines of an environment file or of YAML, headers, query strings, the repr of a dict, JSON inside a
sentence: a name, a separator, a value. What is looked at first is the little that stands before a
separator, because most of a text is not that.

No text makes this slow: words are searched one by one, each from where the value of the one before
ends, and a value is read once. One without an end goes to the end of the text.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import product
from operator import itemgetter
from typing import NamedTuple

from agentool_otel.content.masking.references import (
    is_template,
    names_value,
    refers,
    stands_for_value,
)
from agentool_otel.content.masking.secret_names import (
    QUALIFIERS,
    WORDS,
    ValueTest,
    anything,
    is_mnemonic,
    is_no_words,
    looks_random,
    spoken,
    strict,
    value_test,
)
from agentool_otel.ground import lazy_re as re
from agentool_otel.semconv.marks import MASK

__all__ = [
    "assigns",
    "find_assignments",
    "is_masked",
    "lower_case",
    "quoted_value",
    "value_at",
]

_WINDOW = 16_384
_LONGEST_NAME = 48
_OVERLAP = 512
"""Characters of a window that the next one has as well: a name, and its quote in JSON that is
nested eight levels deep."""

_QUALIFIER = rf"(?P<more>[_\-.]?(?:{'|'.join(QUALIFIERS)})|[ _\-.]?[0-9]{{1,4}}|[ ]provided)?"
_BEFORE_SIGN = rf"{_QUALIFIER}s?(?:\\*[\"'])?\s{{0,3}}"
_SIGN = r":=|=>|={1,3}|[:\uff1a]|(?<=\s)(?:is|es)(?=[\s:]):?"
_NO_VALUE = (
    r"(?P<empty>\\*[\"'])(?P=empty)(?=[\s,;:.)}\]>/]|\\[nrt]|\Z)"
    r"|(?:none|null|true|false|string|undefined|optional|required)(?=[\s\"',;&)}\]]|\\[nrt\"']|\Z)"
    r"|[a-z_][\w.\-/]{0,2}(?=\s|\\[nrt])"
)
"""Values that are no credential, in lower-case text or its JSON: an empty text, a word that
`refers` knows, and fewer than `_LEAST` characters.
"""
_SCHEME_ALONE = (
    r"f?(?P<quoted>\\*[\"'])(?:bearer|basic|token) {1,3}(?:\{[^{}\\\"']{0,64}\})?(?P=quoted)"
)
"""A header's value without the credential, or with a name in its place, likewise."""
_COMMON = ("key", "token", "secret", "password", "passwd", "pass", "pwd", "credential", "auth")
_PASSED_OVER = {
    **dict.fromkeys(_COMMON, f"{_NO_VALUE}|{_SCHEME_ALONE}"),
    "authorization": _SCHEME_ALONE,
}
"""Values that the expression itself skips, by the name before them: source code is full of these.
"""


def _separator(word: str) -> str:
    no_value = _PASSED_OVER.get(word)
    sign = f"(?:{_SIGN})(?![=>]*\\s{{0,3}}(?:{no_value}))" if no_value else _SIGN
    return rf"{_BEFORE_SIGN}(?P<sign>%3d|{sign})\s{{0,3}}"


_PART_OF_NAME = {
    "key": ("pi", "ss", "te", "al", "et", "ry", "sh", "ng", "on", "er", "nt", "pa", "ed"),
    "seed": ("tp", "fa", "et", "ed"),
    "phrase": ("ed", "ry", "up", "ic", "et"),
    "passe": ("de",),
    "community": (),
}
"""Words that name a credential only with another before them, `api_key` or `seed phrase`, and what
that other ends in where a blank is between."""


def _word(word: str) -> str:
    others = _PART_OF_NAME.get(word)
    if others is None:
        return re.escape(word)
    blank = rf"|(?<=(?:{'|'.join(others)})[ \u00a0]{word})" if others else ""
    return rf"{word}(?:(?<=[\w\-.]{word}){blank})"


_ASSIGNED = {word: re.compile(_word(word) + _separator(word)) for word in WORDS}
"""The last word of a name and what stands between it and its value."""
_REACH = 48
"""The longest of those: a word, a qualifier, a plural s, a sign, three blanks on both sides."""
_TWO_WORDS = re.compile(r"([A-Za-z0-9\-]+)[ \u00a0]([a-z]+)\Z", re.IGNORECASE)
_CAPITALS = bytes(range(ord("A"), ord("Z") + 1))
_FORM = bytes.maketrans(_CAPITALS + b":", _CAPITALS.lower() + b"=")
_BESIDES = b" \t\n\r\f\v\"'\\-_.0123456789"
"""Characters that may stand in a name, or between it and a separator, and are left out."""
_BLANKS = ("\u00a0", "\u202f", "\u3000")
_END = 4
_LONGEST_FORM = 40


def _plain(text: str) -> bytes:
    """Return a text in bytes, which are translated ten times as fast, without odd blanks."""
    if not text.isascii():
        text = text.replace("\uff1a", ":").replace("\u0130", "i").lower()
        for blank in _BLANKS:
            text = text.replace(blank, " ")
    return text.encode("utf-8", "surrogatepass")


def _letters(text: str) -> bytes:
    return _plain(text).translate(_FORM, _BESIDES)


def _forms() -> dict[bytes, str]:
    """Return what may stand before a separator, each with the word of a name in it."""
    parts = product(WORDS, ("", "provided", *QUALIFIERS), ("", "s"), ("", "is", "es"))
    return {_letters("".join(part)): part[0] for part in reversed(list(parts))}


def _by_ending() -> dict[bytes, list[bytes]]:
    endings: dict[bytes, list[bytes]] = {}
    for form in _WORD_OF:
        # Before a short one may stand anything.
        for before in (b"", *_BYTES) if len(form) < _END else (b"",):
            endings.setdefault((before + form)[-_END:], []).append(form)
    return endings


_BYTES = [bytes((code,)) for code in range(256)]
_WORD_OF = _forms()
_BY_ENDING = _by_ending()
_ENDINGS = frozenset(_BY_ENDING)
_ending = itemgetter(slice(-_END, None))
_BEFORE_NAME = re.compile(r"(?:.*[^\w.\-])?", re.DOTALL)
_ESCAPES = {
    "\\": re.compile(r"[bfnrt]|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}"),
    "%": re.compile(r"[0-9A-Fa-f]{2}"),
}
"""Rest of an escape that looks like the beginning of a name, by the character that starts the
escape: in JSON text, at each level of it, and in URLs. Sources: RFC 8259, section 7; RFC 3986, 2.1.
"""

_BLOCK = re.compile(r"(?:[|>][+\-0-9]{0,2})?[ \t]*\r?\n(?P<indent>[ \t]+)(?=[^\s])")
"""Beginning of a value that spans several lines. Source: YAML 1.2.2, 8.1."""
_LINES = r"[^\r\n]+(?:\r?\n{0}[^\r\n]+)*"

_QUOTE = re.compile(
    r"(?P<prefix>[BbFfRrUu]{1,2})?(?P<quote>\\*[\"'])"
    r"(?!\Z|(?P=quote)(?:[\s,;:.)}\]>/]|\Z))"
)
"""The quote before a value that is not empty, and in Python the prefix of a literal."""
_LEAST = 4
"""Characters of a value that has no end, or no quotes."""


class _Bare(NamedTuple):
    """A value without quotes: to the first character that ends it where it stands."""

    run: re.Pattern[str]
    goes_on: re.Pattern[str]
    """One that could end it, and does not."""

    def end(self, text: str, at: int) -> int:
        while True:
            run = self.run.match(text, at)
            at = at if run is None else run.end()
            if at == len(text) or self.goes_on.match(text, at) is None:
                return at
            at += 1


_WORD = _Bare(
    re.compile(r"[^\s\"'\\,;&)\]}]*"),
    re.compile(
        r"[,;&](?![\s\"'\\]|\Z|amp;|[\w.\-]{1,32}[ ]?[=:])"
        r"|[\"'](?![\s,;:.)}\]>/\\]|\Z)"
        r"|\\(?![bfnrtux\"'\\]|\Z)"
        r"|[)\]}](?![\s,;:.)}\]>\"'\\&]|\Z)"
    ),
)
"""Commas and the like end a value where another name or nothing follows."""
_WORD_ENDS = re.compile(r"[\s\"'\\,;&)\]}]|\Z")
_LITERAL = re.compile(r"[\w+/=~\-:%$!]*")
"""A value without signs of an expression."""
_IN_URL = _Bare(re.compile(r"[^\s\"'\\&%<>]*"), re.compile(r"%(?!26|23|3[bB])"))
"""A value in a URL that is a parameter of another one."""
_COOKIES = _Bare(
    re.compile(r"[^\r\n\"'\\]*"), re.compile(r"(?<==)[\"']|[\"'](?=;)|\\(?![rn\"'\\]|\Z)")
)
_SIGNATURES = re.compile(r"[^\s\"'\\]{4,}")
_MNEMONIC = re.compile(r"[a-z]{3,8}(?:[ \t,]{1,2}[a-z]{3,8}){11,23}(?![a-z])")
_PAIR = re.compile(r"[^\s=;\"'\\]{1,255}=|[^\s=;\"'\\]{256}")
_SCHEME = re.compile(r"[A-Za-z][\w\-]*[ \t]+[^\s\"'\\]{4,}")


def assigns(text: str) -> bool:
    """Return whether plain text has the name of a credential before a separator."""
    words = _words_before(text)
    if not words:
        return False
    lower = lower_case(text)
    return any(
        word in lower and next(_names_ending_in(text, lower, word, 0), None) is not None
        for word in words
    )


def find_assignments(text: str) -> list[tuple[int, int]]:
    """Return the positions of values that are assigned to names of credentials; some may
    overlap.
    """
    words = _words_before(text)
    if not words:
        return []
    lower = lower_case(text)
    return [span for word in words if word in lower for span in _assigned_to(word, text, lower)]


def _words_before(text: str) -> Collection[str]:
    """Return the words of which one may end a name before a separator; most texts have none."""
    if len(text) > _WINDOW:
        return {word for piece in _pieces(text) for word in _words_before(piece)}
    plain = b"=".join(_plain(text).split(b" is "))
    if b"%" in plain:
        plain = plain.replace(b"%3D", b"=").replace(b"%3d", b"=")
    # Few parts end like a word: only those are looked at more closely.
    parts = plain.translate(_FORM, _BESIDES).split(b"=")
    if _ENDINGS.isdisjoint(map(_ending, parts)):
        return ()
    near = {part[-_LONGEST_FORM:] for part in parts if part[-_END:] in _ENDINGS}
    return {
        _WORD_OF[form] for part in near for form in _BY_ENDING[part[-_END:]] if part.endswith(form)
    }


def _pieces(text: str) -> Iterator[str]:
    """Yield pieces of a text that overlap by a name. A text may consist of separators alone: it is
    cut at them piece by piece."""
    for at in range(0, len(text), _WINDOW - _OVERLAP):
        yield text[at : at + _WINDOW]


def lower_case(text: str) -> str:
    """Return a text in lower case, each character in its place."""
    lower = text.lower()
    # This letter alone becomes two.
    return lower if len(lower) == len(text) else text.replace("\u0130", "i").lower()


class _Name(NamedTuple):
    sign: str
    ends: int
    """Index at which the value begins."""
    judge: ValueTest


def _names_ending_in(text: str, lower: str, word: str, at: int) -> Iterator[_Name]:
    """Yield the next separators behind names of credentials that end in a word."""
    for match in _ASSIGNED[word].finditer(lower, at):
        judge = _judge_before(text, match.start() + len(word))
        if judge is None:
            continue
        if match["more"]:
            judge = strict(judge)
        sign = match["sign"]
        yield _Name(sign, match.end(), _in_sentence(judge) if sign[:1] in "ie" else judge)


def _judge_before(text: str, end: int) -> ValueTest | None:
    """Return the value test of the name that ends at a place, None if it is no secret name."""
    first = max(0, end - _LONGEST_NAME)
    before = _BEFORE_NAME.match(text, first, end)
    at = 0 if before is None else before.end()
    name = text[at:end]
    escape = _ESCAPES.get(text[at - 1 : at])
    encoded = None if escape is None else escape.match(name)
    decoded = None if encoded is None else value_test(name[encoded.end() :])
    return decoded or value_test(name) or _value_test_of_two_words(text[first:end])


def _value_test_of_two_words(text: str) -> ValueTest | None:
    """Return the judge of a name that ends a text and has a blank in it: `seed phrase`."""
    words = _TWO_WORDS.search(text)
    judge = None if words is None else value_test(f"{words[1]}_{words[2]}")
    return None if judge is None or judge is looks_random else _in_sentence(judge)


def _in_sentence(judge: ValueTest) -> ValueTest:
    return spoken if judge in (anything, is_no_words) else judge


def _assigned_to(word: str, text: str, lower: str) -> list[tuple[int, int]]:
    spans: list[tuple[int, int]] = []
    at = end = refused = 0
    while (name := next(_names_ending_in(text, lower, word, at), None)) is not None:
        at = name.ends
        if name.sign in _OPERATORS and at < refused:
            continue
        header = _header(text, word, name)
        # Within a value another one ends where that does, unless it is a header's.
        value = header or (_value(text, name) if at >= end else None)
        if value is not None:
            end = max(end, value[1])
            if name.judge(text[value[0] : value[1]]) and not is_masked(text, *value):
                spans.append(value)
        elif name.sign in _OPERATORS:
            # What follows an operator in here ends with the same expression: it is read once.
            refused = _end_of_literal(text, at)
        if word not in _HEADERS or (header and word != "authorization"):
            at = max(at, end - _REACH)
    return spans


_HEADERS = {"authorization", "cookie", "signature"}
"""Names of values with more in them: a scheme and its credentials, all cookies of a line, several
signatures."""


def _header(text: str, word: str, name: _Name) -> tuple[int, int] | None:
    if word not in _HEADERS or name.sign != ":":
        return None
    if word == "cookie":
        pair = _PAIR.match(text, name.ends)
        return None if pair is None else (name.ends, _COOKIES.end(text, pair.end()))
    if word == "signature":
        signatures = _SIGNATURES.match(text, name.ends)
        return None if signatures is None else signatures.span()
    line = _SCHEME.match(text, name.ends)
    return None if line is None or names_value(text, name.ends) else line.span()


def value_at(text: str, at: int) -> tuple[int, int] | None:
    """Return the position of a value that begins at a place, quoted or not; None if there
    is none.
    """
    return _value(text, _Name("", at, anything))


def _value(text: str, name: _Name) -> tuple[int, int] | None:
    quote = _QUOTE.match(text, name.ends)
    if quote is not None:
        if name.sign == ":" and not quote["prefix"] and _closes(text, quote):
            return None
        span = quoted_value(text, quote.end(), quote["quote"])
        if span is None or refers(text, *span):
            return None
        in_template = "f" in (quote["prefix"] or "").lower()
        return None if in_template and is_template(text, *span) else span
    if name.sign == "%3d":
        return name.ends, _IN_URL.end(text, name.ends)
    if name.judge is is_mnemonic:
        words = _MNEMONIC.match(text, name.ends)
        return None if words is None else words.span()
    if name.sign == ":" and (block := _block(text, name.ends)) is not None:
        return block
    if stands_for_value(text, name.ends):
        return None
    return (_literal if name.sign in _OPERATORS else _bare)(text, name.ends)


_OPENED = re.compile(r"(?:\A|[\s(\[{,=+:])[\"'][A-Za-z]")


def _closes(text: str, quote: re.Match[str]) -> bool:
    """Return whether a quote ends a prompt for a credential: `input("Password: ")`."""
    at = text.rfind(quote[0], max(0, quote.start() - _LONGEST_NAME), quote.start())
    return (
        at >= 0
        and text[quote.start() - 1].isspace()
        and text[quote.end()] in " \t\n)],;+"
        and _OPENED.match(text, max(0, at - 1)) is not None
    )


_OPERATORS = {"==", "===", "=>"}
"""Signs that in programs compare or introduce an expression."""


def _end_of_literal(text: str, at: int) -> int:
    literal = _LITERAL.match(text, at)
    return at if literal is None else literal.end()


def _literal(text: str, at: int) -> tuple[int, int] | None:
    """Return the position of a random value behind an operator; None for an expression."""
    end = _end_of_literal(text, at)
    ends_word = _WORD_ENDS.match(text, end) is not None and _WORD.goes_on.match(text, end) is None
    return (at, end) if ends_word and looks_random(text[at:end]) else None


def quoted_value(text: str, at: int, quote: str) -> tuple[int, int] | None:
    """Return the position of a value that begins behind a quote; None if there is none."""
    end = _end_of_quoted(text, at, quote)
    return (at, end) if end < len(text) or end - at >= _LEAST else None


def _block(text: str, at: int) -> tuple[int, int] | None:
    """Return the lines of a block in YAML, of which the separator may have taken the beginning."""
    block = _BLOCK.match(text, at)
    if block is None:
        return None
    lines = re.compile(_LINES.format(block["indent"])).match(text, block.end())
    return None if lines is None else lines.span()


def _bare(text: str, at: int) -> tuple[int, int] | None:
    end = _WORD.end(text, at + len(MASK) if text.startswith(MASK, at) else at)
    return (at, end) if end - at >= _LEAST else None


def _end_of_quoted(text: str, at: int, quote: str) -> int:
    """Return where a value ends that begins behind a quote: before the next one that is escaped as
    often, or at the end of the text."""
    end = at
    while (end := text.find(quote, end + 1)) >= 0:
        if text[end - 1] != "\\":
            return end
    return len(text)


def is_masked(text: str, begins: int, ends: int) -> bool:
    """Return whether a value is the mask, or an authentication scheme and the mask."""
    mask = ends - len(MASK)
    if mask < begins or not text.startswith(MASK, mask):
        return False
    return mask == begins or text[mask - 1].isspace()
