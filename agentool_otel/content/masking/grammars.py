"""Credentials named in another grammar than an assignment: XML, SQL, tables, configurations.

A new kind is a row of `_TABLE`: what stands before the value, and what ends that. The name in it is
judged as everywhere (`secret_names.py`); where the grammar itself says that a credential follows,
there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from agentool_otel.content.masking.assignments import is_masked, quoted_value, value_at
from agentool_otel.content.masking.command_lines import MAY_BE_OPTION, in_commands
from agentool_otel.content.masking.secret_names import (
    ValueTest,
    has_common_word,
    has_word,
    is_no_words,
    looks_random,
    value_test,
)
from agentool_otel.ground import lazy_re as re

__all__ = ["PRIVATE_MEMBERS", "find_introduced", "may_introduce"]

_Span = tuple[int, int]


def _to(pattern: str) -> Callable[[str, int], _Span | None]:
    """Return the reader of a value of such characters."""
    run = re.compile(pattern)

    def read(text: str, at: int) -> _Span | None:
        match = run.match(text, at)
        return None if match is None else match.span()

    return read


_IN_ELEMENT = re.compile(r"[^<]+(?=</)")


class _Row(NamedTuple):
    needle: tuple[str, ...]
    """One of these is in every text that has it."""
    before: re.Pattern[str]
    """Text before a value. Its optional group `name` is the value's name, its group `quote` the
    character that ends the value.
    """
    read: Callable[[str, int], _Span | None]
    source: str
    judge: ValueTest | None = None
    """Test that the value has to pass as well."""


_QUOTE = r"\\*[\"']"
_TABLE = (
    _Row(
        ("curl", "wget"),
        re.compile(
            rf" -(?:u|-(?:proxy-)?user)[ =]?(?P<quote>{_QUOTE})?[^\s:\"'\\]{{1,64}}:"
            r"(?=[^\s\"'/\\])"
        ),
        _to(r"[^\s\"'\\]+"),
        "curl(1), --user",
        is_no_words,
    ),
    _Row(
        ("</",),
        re.compile(r"<(?P<name>[A-Za-z][\w:.\-]{1,60})(?:\s[^<>]{0,200})?>(?=[^<\s])"),
        _to(_IN_ELEMENT.pattern),
        "XML 1.0, 3",
    ),
    _Row(
        ("DENTIFIED ", "dentified "),
        re.compile(r"(?i:identified)\s{1,3}(?i:by)\s{1,3}(?i:password\s{1,3})?(?=[\"'])"),
        value_at,
        "MySQL 8.4, CREATE USER",
    ),
    _Row(
        ("DENTIFIED ", "dentified "),
        re.compile(r"(?i:identified)\s{1,3}(?i:by)\s{1,3}(?=[^\"'\s])"),
        value_at,
        "Oracle Database 23, CREATE USER",
        is_no_words,
    ),
    _Row(
        ("word '", "WORD '"),
        re.compile(r"(?:[Pp]assword|PASSWORD) (?=')"),
        value_at,
        "PostgreSQL 17, CREATE ROLE",
    ),
    _Row(
        ("login",),
        re.compile(r"login\s{1,8}\S{1,64}\s{1,8}password\s{1,8}"),
        _to(r"[^\s\"'\\]+"),
        "netrc, GNU Inetutils 2.5, 11.7",
    ),
    _Row(
        (":5432:", ":*:"),
        re.compile(r":(?:5432|\*):[^\s:]{1,64}:[^\s:]{1,64}:(?=[^\s:])"),
        _to(r"[^\s\"'\\]+"),
        "PostgreSQL 17, 32.16",
    ),
    _Row(
        ("[",),
        re.compile(
            rf"\[\s{{0,3}}(?P<around>{_QUOTE})(?P<name>[\w.\-]{{2,60}})(?P=around)\s{{0,3}},"
            r"\s{0,3}(?=\\*[\"'])"
        ),
        value_at,
        "headers as pairs: WSGI, ASGI, HAR",
        is_no_words,
    ),
    _Row(
        (":::",),
        re.compile(r":[0-9]{1,10}:(?=[A-Fa-f0-9]{32}:[A-Fa-f0-9]{32}:::)"),
        _to(r"[A-Fa-f0-9]{32}:[A-Fa-f0-9]{32}"),
        "pwdump: hashes of LM and NT, MS-SAMR 2.2.10.1",
    ),
    _Row(
        ("-server ", "-shared-key ", "-psk ", "key-string "),
        re.compile(
            r"(?:snmp-server community|(?:tacacs|radius)-server (?:host \S{1,64} )?key|"
            r"pre-shared-key(?: (?:local|remote|ascii-text))?|wpa-psk(?: (?:ascii|hex))?|"
            r"key-string)(?: [0-9])? (?=\S)"
        ),
        value_at,
        "Cisco IOS 15, command references; Junos OS 24",
        is_no_words,
    ),
    _Row(
        ("::add-mask::",),
        re.compile(r"::add-mask::(?=\S)"),
        value_at,
        "GitHub Actions, workflow commands",
    ),
    _Row(
        ("##vso[",),
        re.compile(
            r"##vso\[task\.set(?:secret|variable [^\]\r\n]{0,100}?issecret=true[^\]\r\n]{0,40})\]"
            r"(?=[^\s$])"
        ),
        _to(r"[^\s\"'\\]+"),
        "Azure Pipelines, logging commands",
    ),
    _Row(
        ("variable ",),
        re.compile(
            rf"variable\s{{1,3}}(?P<around>{_QUOTE})(?P<name>[\w\-]{{2,60}})(?P=around)\s{{0,3}}\{{"
            r"[^{}]{0,400}?\bdefault\s{0,20}=\s{0,3}(?=\\*[\"'])"
        ),
        value_at,
        "Terraform 1.14, variable block",
    ),
)

_CELL_BEHIND = _Row(
    ("|",),
    re.compile(r"\|[ \t]{0,20}(?P<name>[\w.\-]{2,40})[ \t]{0,40}\|[ \t]{0,20}(?=[^\s|])"),
    _to(r"[^\s|]+(?:[ \t][^\s|]+)*"),
    "GitHub Flavored Markdown, 4.10",
    is_no_words,
)
"""A cell of a table that another one names."""
_BESIDE = (
    rf"(?:{_QUOTE})?\s{{0,3}}[:=]\s{{0,3}}(?:{_QUOTE})?(?P<name>[\w.\-]{{2,60}})(?:{_QUOTE})?[\s,]{{1,16}}"
    rf"(?:{_QUOTE})?[Vv]alue(?:{_QUOTE})?\s{{0,3}}[:=]\s{{0,3}}"
)
_BESIDE_NAME = tuple(
    _Row(("alue",), re.compile(word + _BESIDE), value_at, "Kubernetes v1.34, EnvVar")
    for word in ("ame(?<=[Nn]ame)", "ey(?<=[Kk]ey)")
)
"""Each begins with letters that are looked for as fast as a word is."""


_NO_LM_HASH = "aad3b435b51404ee"
"""Half of the LM hash that stands where there is none, as in Windows since 2008."""
_DASHED = re.compile(
    rf"-(?=[A-Za-z\-])(?:{MAY_BE_OPTION}|mask::|server (?:community|host|key)|shared-key |psk |"
    r"string (?<=key-string ))"
)
_TAGGED = re.compile(r"</[\w:.\-]{0,30}?(?i:pass|pwd|secret|token|key|cred|auth|cookie)")
_LISTED = re.compile(
    r"\[\s{0,3}\\*[\"'][\w.\-]{2,60}\\*[\"']\s{0,3},\s{0,3}\\*[\"'][^\"'\\]{4,4096}\\*[\"']\s{0,3}\]"
)
_QUOTED = re.compile(r"'(?<=(?:word|WORD) ')")
_VALUE = re.compile(r"alue(?=(?:\\*[\"'])?\s{0,3}[:=])")


def may_introduce(text: str) -> bool:
    """Return whether a text may contain a credential with such a name."""
    return (
        may_name_value(text)
        or ("|" in text and _names_cell(text))
        or any(_columns(line) is not None for line in _headings(text).values())
        or ("{" in text and "kty" in text)
    )


def _names_cell(text: str) -> bool:
    cells = _CELL_BEHIND.before.finditer(text)
    return any(value_test(cell["name"]) is not None for cell in cells)


def may_name_value(text: str) -> bool:
    """The same of all grammars but tables and web keys."""
    return (
        ("-" in text and _DASHED.search(text) is not None)
        or ("<" in text and _TAGGED.search(text) is not None)
        or ("'" in text and _QUOTED.search(text) is not None)
        or ("[" in text and _LISTED.search(text) is not None)
        or (_VALUE.search(text) is not None and _names_value(text))
        or ("D" in text and "DENTIFIED " in text)
        or ("f" in text and "dentified by" in text)
        or ("5" in text and (":5432:" in text or _NO_LM_HASH in text))
        or ("*" in text and ":*:" in text)
        or ("w" in text and "machine " in text)
        or ("{" in text and "variable " in text)
        or ("#" in text and "##vso[" in text)
        or ("|" in text and "chpasswd" in text)
    )


_NEAR = 40
"""Characters before the word `value` in which a name ends that it belongs to."""


def _names_value(text: str) -> bool:
    if "<" in text and "alue=" in text:  # attributes of a tag have no order
        return has_word(text)
    return has_word("\0".join([part[-_NEAR:] for part in text.split("alue")[:-1]]))


def find_introduced(text: str) -> list[_Span]:
    """Return the positions of values with such an introduction; some may overlap."""
    spans = list(_named_values(text)) if may_name_value(text) else []
    if "|" in text:
        spans += _values_of_row(_CELL_BEHIND, text)
    if "\n" in text:
        spans += _in_columns(text)
    if "{" in text and "kty" in text:
        spans += _in_web_keys(text)
    return [span for span in spans if not is_masked(text, *span)]


def _named_values(text: str) -> Iterator[_Span]:
    """Yield the positions of values in all grammars but tables."""
    yield from in_commands(text)
    for row in _TABLE:
        for needle in row.needle:
            if needle in text:
                yield from _values_of_row(row, text)
                break
    if "alue" in text and _names_value(text):
        for row in _BESIDE_NAME:
            yield from _values_of_row(row, text)
        if "<" in text:
            yield from _in_tags(text)


def _values_of_row(row: _Row, text: str) -> Iterator[_Span]:
    named = "name" in row.before.groupindex
    end = 0
    for before in row.before.finditer(text):
        judge = value_test(before["name"]) if named else row.judge
        if before.end() < end or (named and judge is None):
            continue
        quote = before["quote"] if "quote" in before.re.groupindex else None
        at = before.end()
        span = quoted_value(text, at, quote) if quote else row.read(text, at)
        if span is None:
            continue
        end = span[1]
        value = text[span[0] : end]
        if all(item is None or item(value) for item in (judge, row.judge)):
            yield span


_TAG = re.compile(r"<[A-Za-z][^<>]{0,1000}>")
_TAG_NAME = re.compile(r"\b(?:name|key|id|type)\s{0,3}=\s{0,3}\\*[\"']([\w.:\-]{1,64})")
_TAG_VALUE = re.compile(r"\b[Vv]alue\s{0,3}=\s{0,3}\\*[\"']([^\"'\\<>]+)")


def _in_tags(text: str) -> Iterator[_Span]:
    """Yield the values of tags that another attribute names. Source: HTML, 4.10.5."""
    for tag in _TAG.finditer(text):
        value = _TAG_VALUE.search(tag[0])
        if value is None:
            continue
        judges = (value_test(name) for name in _TAG_NAME.findall(tag[0]))
        if any(judge is not None and judge(value[1]) for judge in judges):
            yield tag.start() + value.start(1), tag.start() + value.end(1)


PRIVATE_MEMBERS = ("d", "p", "q", "dp", "dq", "qi", "k")
"""Members of a JSON Web Key that are secret. Source: RFC 7518, 6."""
_PRIVATE = re.compile(
    rf"(?:{'|'.join(PRIVATE_MEMBERS)})\\*[\"']\s{{0,3}}:\s{{0,3}}\\*[\"'](?=[A-Za-z0-9_\-])"
)
_LONGEST_WEB_KEY = 8192


def _in_web_keys(text: str) -> Iterator[_Span]:
    """Yield the secret members of JSON Web Keys."""
    end = 0
    while (at := text.find("kty", end)) >= 0:
        begins = max(end, text.rfind("{", end, at), at - _LONGEST_WEB_KEY)
        closes = text.find("}", at, at + _LONGEST_WEB_KEY)
        end = closes if closes >= 0 else min(len(text), at + _LONGEST_WEB_KEY)
        for member in _PRIVATE.finditer(text[begins:end]):
            first = begins + member.end()
            value = _WEB_KEY_VALUE.match(text, first)
            if text[begins + member.start() - 1] in "\"'" and value and looks_random(value[0]):
                yield value.span()


_WEB_KEY_VALUE = re.compile(r"[A-Za-z0-9_\-]+")
_DELIMITERS = "|\t,;"
_CELL = r"[\"' \t]{0,9}[A-Za-z][\w.\-]{0,40}(?: [\w.\-]{1,20})?[\"' \t]{0,40}"
_CELLS = re.compile(_CELL)
_LONGEST_HEADING = 2000


class _Columns(NamedTuple):
    """Columns that their heading names like credentials."""

    delimiter: str
    signs: int
    """Delimiters in each of its lines."""
    judges: dict[int, ValueTest]


_NO_SIGNS = bytes(
    code for code in range(256) if chr(code).isalnum() or code >= 128 or chr(code) in "_.-\"' \r"
)
_SIGNS = bytes(
    code if chr(code) == "\n" else ord("," if chr(code) in _DELIMITERS else "(")
    for code in range(256)
)
_MAY_BE_HEADING = re.compile(r"\n,+\n[^\n,]*,")


def _headings(text: str) -> dict[int, str]:
    """Return the lines that have nothing but cells and delimiters, by number; most texts have none
    before a line with a delimiter."""
    encoded = text.encode("utf-8", "surrogatepass")
    signs = "\n" + encoded.translate(_SIGNS, _NO_SIGNS).decode("ascii")
    if _MAY_BE_HEADING.search(signs) is None or not has_common_word(text):
        return {}
    numbered = zip(signs[1:].split("\n"), text.split("\n"), strict=True)
    return {
        number: line
        for number, (delimiters, line) in enumerate(numbered)
        if delimiters and not delimiters.strip(",") and has_common_word(line)
    }


def _in_columns(text: str) -> Iterator[_Span]:
    """Yield the cells of tables whose heading names a credential. Source: RFC 4180."""
    headings = _headings(text)
    if not headings:
        return
    columns: _Columns | None = None
    begins = 0
    for number, line in enumerate(text.split("\n")):
        if columns is not None and line.count(columns.delimiter) == columns.signs:
            yield from _cells(line, begins, columns)
        else:
            columns = _columns(line) if number in headings else None
        begins += len(line) + 1


def _columns(line: str) -> _Columns | None:
    delimiter = next(delimiter for delimiter in _DELIMITERS if delimiter in line)
    if len(line) > _LONGEST_HEADING:
        return None
    names = [name.strip("\"' \t\r") for name in line.split(delimiter)]
    if not all(_CELLS.fullmatch(name) for name in names if name):
        return None
    judges = ((number, value_test(name)) for number, name in enumerate(names))
    columns = {number: judge for number, judge in judges if judge is not None}
    return _Columns(delimiter, len(names) - 1, columns) if columns else None


def _cells(line: str, begins: int, columns: _Columns) -> Iterator[_Span]:
    """Yield the credentials in a line that begins at a place of the text."""
    for number, cell in enumerate(line.split(columns.delimiter)):
        judge = columns.judges.get(number)
        value = cell.strip("\"' \t\r")
        if value and judge is not None and is_no_words(value) and judge(value):
            at = begins + cell.index(value)
            yield at, at + len(value)
        begins += len(cell) + 1
