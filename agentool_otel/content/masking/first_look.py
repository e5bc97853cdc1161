"""A first look at a text: may a credential be in it at all?

Most texts have none, and every traced call pays for the look at them. An expression that begins
with one character costs one fast loop, and is tried only where that character is. So each row
begins with the character that its kind of credential cannot do without. A name stands before a
separator: it is looked for in the reversed text, where the separator comes first.

The law: where `may_hold_credential` returns False, no search of this package finds anything: not in
the text and, if that is JSON, not in its strings at any level. A row may accept more than these
searches find, never less. `tests/security/test_first_look.py` compares both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

from agentool_otel.content.masking.assignments import (
    PART_OF_NAME,
    end_of_quoted,
    judge_before,
    lower_case,
)
from agentool_otel.content.masking.command_lines import COMMAND_NAMES, SHORT_OPTIONS, STDIN_SIGNS
from agentool_otel.content.masking.credential_shapes import is_basic, prefixes
from agentool_otel.content.masking.grammars import ESCAPED_WORDS, PRIVATE_MEMBERS
from agentool_otel.content.masking.secret_names import (
    QUALIFIERS,
    WORDS,
    Judge,
    has_common_word,
    has_word,
    judge_of,
    looks_random,
)
from agentool_otel.ground import lazy_re as re

__all__ = ["may_hold_credential"]


def _any_of(words: Iterable[str]) -> str:
    """Return an expression for any of some words that compares a common beginning once."""
    rests: dict[str, list[str]] = {}
    for word in sorted(words, reverse=True):  # the longest first
        rests.setdefault(word[:1], []).append(word[1:])
    letters = [first for first, rest in rests.items() if first and not any(rest)]
    branches = [re.escape(first) + _any_of(rest) for first, rest in rests.items() if any(rest)]
    if letters:
        branches.append(
            f"[{re.escape(''.join(letters))}]" if len(letters) > 1 else re.escape(*letters)
        )
    if "" in rests:
        branches.append("")
    return branches[0] if len(branches) == 1 else f"(?:{'|'.join(branches)})"


# ------------------------------------------------------------------------- in the text as it stands


class _Row(NamedTuple):
    sign: str
    """A text without it has no such credential."""
    find: Callable[[str], object]
    """Look for one in a text that has the sign."""


_TOKEN = r"[A-Za-z0-9_\-]"
_SPACE = r"(?:\s|\\+[bfnrt])"
"""A blank, also as JSON has it at any level."""
_WORDS = (*WORDS, "credentials", "jsessionidsso")
_NAMES = _any_of(_WORDS)
_QUALIFIED = rf"(?:[_\-.]?(?:{_any_of(QUALIFIERS)}|[0-9]{{1,4}}))?"
_STARTS_WORD = r"(?:(?<!\w-)|(?<=\\[bfnrt]-)|(?<=u[0-9a-f]{4}-))"
_OPTION = (
    rf"(?i:(?=[a-z])[a-z0-9_\-]{{0,41}}?{_NAMES}{_QUALIFIED}(?=[\s\"'\\]))|"
    rf"(?:(?<=[\"']-)|(?<=[\"']--))(?i:[^\"'\\]{{0,64}}?{_NAMES}{_QUALIFIED}\\*[\"'])"
)
"""An option of a command, or any argument in a list, that ends like the name of a credential."""
_SHORT = rf"(?P<short>{_any_of((*SHORT_OPTIONS, 'u', 'user', 'proxy-user'))})"
_COMMAND = re.compile("|".join(sorted({*COMMAND_NAMES, "curl", "wget"})))
_BASIC = re.compile(r"asic ([A-Za-z0-9+/]{8,}={0,2})")


_DASHED = prefixes("-")
_DASHES = re.compile(
    rf"-(?:(?=[A-Za-z0-9_])(?:{_TOKEN}{{10}}(?<=(?:{_DASHED})-.{{10}})|"
    r"SECRET-KEY-1|Lines:|mask::|server |shared-key |psk |string |"
    rf"{_STARTS_WORD}(?:{_OPTION}|{_SHORT}))|"
    rf"-(?:---BEGIN |{_TOKEN}{{9}}(?<=(?:{_DASHED})--.{{9}})))"
)
_URLS = re.compile(r"://(?:[^\s\"'<>\\]|\\+u[0-9A-Fa-f]{4})+")
_FIRST_OF_LIST = re.compile(
    rf"\[(?=[\s\\\"']){_SPACE}*(\\*[\"'])([^\"'\\]*)(\\*[\"'])?({_SPACE}*,)?"
)
"""The quotes around the first text of a list, that text, and the comma behind it."""
_STRING = re.compile(r"[^\"\\]*(?:\\.[^\"\\]*)*", re.DOTALL)
_NEXT_OF_LIST = re.compile(rf"\\*[\"']{_SPACE}*,")


def _finds_dash(text: str) -> bool:
    short = False
    for match in _DASHES.finditer(text):
        if not match["short"]:
            return True
        short = True
    return short and _COMMAND.search(text) is not None


def _finds_user(text: str) -> bool:
    return any("@" in url for url in _URLS.findall(text))


def _finds_pair(text: str) -> bool:
    """Whether a list may begin with the name of a credential, before its value."""
    names: list[str] = []
    for match in _FIRST_OF_LIST.finditer(text):
        begins, name, ends, comma = match.groups()
        if begins != ends:
            name = _quoted_before_comma(text, match.end(1), begins)
        if comma or begins != ends:
            names.append(name[-_LONGEST_NAME:])
    together = "\0".join(names)
    return "\\" in together or (bool(together) and has_word(together) and any(map(judge_of, names)))


def _quoted_before_comma(text: str, at: int, quote: str) -> str:
    """Return the text between quotes that stands before a comma, which may have others in it."""
    end = end_of_quoted(text, at, quote)
    if quote == '"' and text.find("\\", at, end) >= 0:
        string = _STRING.match(text, at)
        end = end if string is None else min(end, string.end())
    return text[at:end] if _NEXT_OF_LIST.match(text, end) is not None else ""


def _finds_piped(text: str) -> bool:
    return ("echo" in text or "printf" in text) and any(sign in text for sign in STDIN_SIGNS)


_LONGEST_NAME = 64


_ROWS = (
    _Row("-", _finds_dash),
    _Row("_", re.compile(rf"_{_TOKEN}{{10}}(?<=(?:{prefixes('_')})_.{{10}})").search),
    _Row(
        ".",
        re.compile(rf"\.{_TOKEN}{{16}}(?<=(?:{prefixes('.')})\..{{16}})").search,
    ),
    _Row("J", re.compile(rf"J(?<=eyJ){_TOKEN}{{10}}").search),
    _Row("A", re.compile(rf"A(?:KIA|SIA|Iza{_TOKEN}{{30}}|A(?<=:AA){_TOKEN}{{33}})").search),
    _Row("@", _finds_user),
    _Row("K", re.compile(r"K(?<=SK)[a-f0-9]{32}").search),
    _Row("Z", re.compile("Z(?<=b3BlbnNzaC1rZ)XktdjE").search),
    _Row("~", re.compile(r"~(?<=[0-9]Q~)").search),
    _Row("$", re.compile(r"\$(?:apr1|2[abxy]|[156y]|argon2(?:id|i|d))\$").search),
    _Row("p", re.compile(r"dapi[a-f0-9]{32}").search),
    _Row(
        "\\",
        re.compile(
            r"\\(?:/|u(?:00(?:0[89a-d]|1[c-f]|[2-7]|85|a0)|1680|20(?:0[0-9a]|2[89f]|5f)|3000|ff1a|"
            rf"212a|0130|017f|(?:{ESCAPED_WORDS})(?!(?!s|{_any_of(QUALIFIERS)})[^\W\d_])))",
            re.IGNORECASE,
        ).search,
    ),
    _Row("[", _finds_pair),
    _Row("#", re.compile(r"##vso\[").search),
    _Row("<", re.compile(r"<<<").search),
    _Row("|", _finds_piped),
    _Row("\u017f", bool),
)
_LOWER_ROWS = (
    _Row("<", re.compile(rf"<(?=[a-z])[\w:.\-]{{0,61}}?{_NAMES}{_QUALIFIED}(?=[\s>\\])").search),
    _Row("bearer ", re.compile(r"bearer [a-z0-9_\-.=+/~]{8}").search),
    _Row("dentified", re.compile(rf"dentified{_SPACE}").search),
)


# ----------------------------------------------------------------------------- in the reversed text

_ECAPS = r"(?:\s|[bfnrt]\\+)"
"""`_SPACE` reversed."""


def _reversed(words: Iterable[str]) -> list[str]:
    return [word[::-1] for word in words]


def _part_of_name(word: str, before: Iterable[str]) -> str:
    """Return an expression for a reversed word that counts only with another before it."""
    blank = rf"|[ \u00a0](?:{'|'.join(_reversed(before))})" if before else ""
    return rf"{word[::-1]}(?:[\w\-.]{blank})"


_NAME = (
    rf"s?(?:{_any_of(_reversed(QUALIFIERS))}[_\-.]?|[0-9]{{1,4}}[ _\-.]?|dedivorp )?(?P<name>"
    + "|".join(
        [
            _any_of(_reversed(it for it in _WORDS if it not in PART_OF_NAME)),
            *(_part_of_name(word, before) for word, before in PART_OF_NAME.items()),
        ]
    )
    + ")"
)
_PRIVATE = rf"[\"']\\*(?P<private>{_any_of(_reversed(PRIVATE_MEMBERS))})\\*[\"']"
_ASSIGNED = re.compile(
    rf"(?:s[ie]{_ECAPS}|d3%|[=:\uff1a])(?:{_ECAPS}{{0,3}}(?:[\"']\\*)?{_ECAPS}{{0,3}}"
    rf"(?:{_NAME}|(?P<value>eulav))|{_ECAPS}*{_PRIVATE}|(?:yek|edoc)[?&]|\\*esnopser)"
)
_CELL = re.compile(
    rf".[\s\"'|\\bfnrt]{{0,99}}{_NAME}"
    rf"(?=[\w.\-]*(?: [\w.\-]+)?[\"' \t]*(?:[|,;\t\n:\[{{\"\\]|\Z))",
    re.DOTALL,
)
"""A name in a heading: one or two words behind another cell or the beginning of a line."""
_BESIDE = re.compile(rf"eulav(?:[\"']\\*)?(?:,|{_ECAPS}){{1,16}}(?:[\"']\\*)?{_NAME}")
"""A name right before the word `value`."""
_TEXT_MEMBER = re.compile(rf":{_SPACE}*\\*\"([^\"]*)\"")
_ANY_CELL = r"[\\\"' \t|]*(?:[\w.\-]{1,62}(?![\w.\-])(?: [\w.\-]{1,62}(?![\w.\-]))?[\\\"' \t]*)?"
_LAST_CELLS = rf"{_ANY_CELL}(?:[,;|\t]|\\(?<=t\\)){_ANY_CELL}(?:[,;|\t\\\"\n:\[{{]|\Z)"
"""The end of a heading, reversed: two cells of one or two words."""


def _name_ends() -> set[str]:
    """Return what a name ends in, reversed: a word, or enough to look at it more closely."""
    words = set(_reversed(_WORDS))
    qualifiers = set(_reversed((*QUALIFIERS, "value")))
    plurals = {f"s{it[:3]}" for it in words | qualifiers} | {f"s{digit}" for digit in "0123456789"}
    ends = words | qualifiers | plurals | {"dedivorp"}
    return {it if it[0].isascii() else it[0] for it in ends}


_NUMBERED = rf"[0-9]{{1,4}}(?![0-9])[ _\-.]?{_any_of({it[-1:-3:-1] for it in _WORDS})}"
_CELL_END = rf"(?:{_NUMBERED}|{_any_of(_name_ends())[3:]}"
_END = rf"(?:[bfnrt]\\|{_CELL_END[3:]}"
"""What stands before a sign: alternatives of which the first characters differ."""
_BETWEEN = r"[\s\"'\\]*(?![\s\"'\\])"
_BETWEEN_CELLS = r"[\s\"'|\\]*(?![\s\"'|\\])"
_EQUALS = re.compile(rf"={_BETWEEN}(?:edoc[?&]|esnopser|tluafed|{_END[3:]}")
_COLON_ENDS = rf"(?:2345:|\*:|::|{_BETWEEN}(?:[dpqk][\"'\\]|(?:pd|qd|iq)[\"'\\]|{_END[3:]})"
_COLON = re.compile(rf":{_COLON_ENDS}")
_COLON_OURS = re.compile(rf":(?!\"(?!\\|eulav\")){_COLON_ENDS}")
_HAS_S = re.compile(
    rf"s(?:[ie](?<=[\s:\\]s.)(?=(?:\s|[bfnrt]\\){_BETWEEN}{_END})|"
    r"ab(?<= cisab)|sap(?<=[\s\\]drowssap)|koohbew(?<=/skoohbew)|kooh(?<=\.skooh))"
)
"""The word `is` behind a name; and other words with this letter."""
_RARE = re.compile(rf"(?:d3%|\uff1a){_BETWEEN}{_END}")
_LINE_ENDS = (
    re.compile(rf"\n\r?{_LAST_CELLS}"),
    re.compile(rf"\\(?<=n\\)\\*(?:r\\+)?{_LAST_CELLS}"),
)
_BAR = re.compile(rf"\|(?={_BETWEEN_CELLS}{_CELL_END})")
_CELLS = re.compile(rf"(?:[,;\t\n]|\\(?<=[nt]\\)\\*(?:r\\+)?)(?={_BETWEEN_CELLS}{_CELL_END})")
_MAY_BE_RANDOM = re.compile(
    r"(?:[\s=:>|+\-\"'\\]|(?<=\\)[nrt]|(?<=[|>+\-])[0-9])*(?:[\[{]|[\w+/=.~\-:%$!|\\]{16})"
)
"""What follows a name whose value has to look random: an array, an object or one long word."""


def may_hold_credential(text: str, ours: bool = False) -> bool:
    """Return False only for a text without credentials, which most are.

    Args:
        text: the text, which may be JSON.
        ours: whether it is JSON of ours whose own member names are known to be harmless.
    """
    for sign, find in _ROWS:
        if sign in text and find(text):
            return True
    lower = lower_case(text)
    for sign, find in _LOWER_ROWS:
        if sign in lower and find(lower):
            return True
    backwards = lower[::-1]
    return _may_assign(text, lower, backwards, ours) or _may_head_column(text, lower, backwards)


def _may_assign(text: str, lower: str, backwards: str, ours: bool) -> bool:
    """Whether a name of a credential, or one that may be named elsewhere, stands before a sign."""
    return (
        ("=" in lower and _ends_name(_EQUALS, text, lower, backwards))
        or (":" in lower and _ends_name(_COLON_OURS if ours else _COLON, text, lower, backwards))
        or _ends_name(_HAS_S, text, lower, backwards)
        or (
            (("%" in lower and "%3d" in lower) or "\uff1a" in lower)
            and _ends_name(_RARE, text, lower, backwards)
        )
    )


def _ends_name(sign: re.Pattern[str], text: str, lower: str, backwards: str) -> bool:
    """Whether a name ends before one of the signs that an expression begins with, or what else it
    finds is in the text."""
    if sign.search(backwards) is None:
        return False
    tag = sign is _EQUALS and "<" in text
    once: set[str] = set()
    for near in sign.finditer(backwards):
        match = _ASSIGNED.match(backwards, near.start())
        if match is None:
            once.add(_DEFAULT if near[0].endswith(_DEFAULT) else near[0][1:])
        elif match["name"]:
            if _takes_value(text, match):
                return True
        elif match["value"]:
            at = match.start("value")
            beside = _BESIDE.match(backwards, at)
            if beside is not None and _judges(text, beside):
                return True
            if tag or backwards[at - 1] == '"':
                once.add("value")
        elif match["private"]:
            once.add("private")
        else:
            return True
    return bool(once) and any(_ONCE[it](text, lower) for it in once if it in _ONCE)


def _may_be_login(text: str, lower: str) -> bool:
    return "login" in lower or re.search(r"password\s'", lower) is not None


def _may_be_variable(text: str, lower: str) -> bool:
    return "variable" in lower


def _has_basic(text: str, lower: str) -> bool:
    return any(map(is_basic, _BASIC.findall(text)))


def _may_be_named_elsewhere(text: str, lower: str) -> bool:
    """Whether another member, or attribute of a tag, may name the member `value`."""
    return has_word(lower) if "<" in text else has_word("\0".join(_TEXT_MEMBER.findall(text)))


_DEFAULT = "tluafed"
_ONCE: dict[str, Callable[[str, str], bool]] = {
    "value": _may_be_named_elsewhere,
    _DEFAULT: _may_be_variable,
    "private": lambda text, lower: "kty" in text,
    "ab": _has_basic,
    "sap": _may_be_login,
    "kooh": lambda text, lower: "hooks.slack.com/services/" in text,
    "koohbew": lambda text, lower: "/api/webhooks/" in text,
    **dict.fromkeys(("2345:", "*:", "::"), lambda text, lower: True),
}
"""What decides for all of a text, however often it is asked."""


def _takes_value(text: str, match: re.Match[str]) -> bool:
    """Whether what follows the sign may be the credential that its name asks for."""
    judges = _judges(text, match)
    return any(it is not looks_random for it in judges) or (
        bool(judges) and _MAY_BE_RANDOM.match(text, len(text) - match.start()) is not None
    )


def _may_head_column(text: str, lower: str, backwards: str) -> bool:
    """Whether a cell of a heading may name a credential. A heading is a line of cells."""
    if "|" in text and _ends_cell(_BAR, text, backwards):
        return True
    return (
        (
            ("\n" in text and _LINE_ENDS[0].search(backwards) is not None)
            or ("\\" in text and _LINE_ENDS[1].search(backwards) is not None)
        )
        and has_common_word(lower)
        and _ends_cell(_CELLS, text, backwards)
    )


def _ends_cell(sign: re.Pattern[str], text: str, backwards: str) -> bool:
    for near in sign.finditer(backwards):
        match = _CELL.match(backwards, near.start())
        if match is not None and _judges(text, match):
            return True
    return False


_ESCAPE = re.compile(r"\\+(?:u[0-9A-Fa-f]{4}|[bfnrt])")


def _judges(text: str, match: re.Match[str]) -> set[Judge]:
    """Return the judges of the name at a match in the reversed text: as one in a text, in JSON, and
    as a member's, which may have any characters."""
    end = len(text) - match.start("name")
    name = text[max(0, end - _LONGEST_NAME) : end]
    quote = name.rfind('"')
    judges = {judge_before(text, end), judge_of(name[quote + 1 :])}
    if "\\" in name:
        plain = _ESCAPE.sub(" ", name)
        judges |= {judge_of(name), judge_before(plain, len(plain))}
    return {it for it in judges if it is not None}
