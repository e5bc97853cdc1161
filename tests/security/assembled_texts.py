"""Names with a value, put together at random in each grammar that the exact search knows."""

from __future__ import annotations

import json
import random
import re
from typing import Any

from agentool_otel.content.masking import command_lines
from agentool_otel.content.masking.secret_names import QUALIFIERS, WORDS

__all__ = ["assembled"]

_NAMES = (
    *(
        "api",
        "access",
        "auth",
        "client",
        "db",
        "pg",
        "private",
        "signing",
        "refresh",
        "session",
        "wallet",
    ),
    *(
        "recovery",
        "snmp",
        "code",
        "proxy",
        "set",
        "hf",
        "page",
        "sort",
        "api_key",
        "de",
        "mot",
        "ssh",
        "id",
    ),
)
_SIGNS = (
    *(
        ":",
        "=",
        ": ",
        " = ",
        ":=",
        "=>",
        "==",
        "===",
        "%3D",
        "%3d",
        " is ",
        " is: ",
        " es ",
        "\uff1a",
    ),
    *(
        ":\n  ",
        ": |\n  ",
        ": >-\n    ",
        " ",
        "  ",
        "\t",
        "|",
        " | ",
        ",",
        "\n",
        ">",
        "', '",
        '", "',
    ),
    *('" : "', '":["', '":[', '": {"value": "', '": 1', '" value="', "', value: '", "\nvalue: "),
)
_VALUES = (
    *(
        "Xk29vTqhunter",
        "hunter2",
        "aB3dE5gH7jK9mN1pQ3",
        "12345",
        "a",
        "",
        "words only",
        "abcdefghijklmnopqr",
    ),
    *(
        "t=1,v1=aB3dE5gH7jK9mN1pQ3",
        "a=b; sid=c1",
        "Bearer aB3dE5gH7jK9",
        "X abcd",
        "!!!!",
        "pässwört",
    ),
    *(
        "witch collapse practice feed shame open despair creek road again ice least",
        "1,2,3,4,5,6,7,8,9",
    ),
    *(
        "a\\b",
        "a'b1",
        'a"b1',
        "ab/cd/ef/gh/ij/k1l2M",
        "密码密码密码",
        "$HOME",
        "{token}",
        "None",
        "x,1,y",
    ),
)
_BEFORE = (
    "",
    "",
    "my_",
    "my",
    "MY_",
    "-",
    "--",
    " -",
    "x.",
    "\n",
    "<",
    '<input name="',
    "name: ",
    '{"',
    "|",
    "id,",
)


def assembled(choose: random.Random) -> str:
    """Return a name with a value, in a grammar that may be none."""
    return choose.choice(_GRAMMARS)(choose)


def _name(choose: random.Random) -> str:
    words = choose.choices((*WORDS, *_NAMES), k=choose.choice((1, 1, 2)))
    word = choose.choice(("_", "-", " ", "", "\u00a0", ".")).join(words)
    qualifier = choose.choice(("_", "", "-")) + choose.choice((*QUALIFIERS, "2"))
    word += choose.choice(("", "", "", "s", qualifier))
    return choose.choice((str, str, str.upper, str.title, str.capitalize, _camel))(word)


def _camel(text: str) -> str:
    return re.sub(r"[_\-. ](\w)", lambda match: match[1].upper(), text)


def _assignment(choose: random.Random) -> str:
    quote = choose.choice(("", "", '"', "'", '\\"'))
    value = f"{quote}{choose.choice(_VALUES)}{quote}"
    end = choose.choice(("", "", "\n", "}", '"}', ",", "</x>", "]", "'", " ok", "|", "\na,b1,c\n"))
    name = f"{choose.choice(_BEFORE)}{_name(choose)}{choose.choice(('', '', quote, chr(92)))}"
    return f"{name}{choose.choice(_SIGNS)}{value}{end}"


_BLANKS = ("", "", "", " ", "  ", '"', "'", "\t", " \t ")


def _table(choose: random.Random) -> str:
    sign, end = choose.choice("|\t,;"), choose.choice(("\n", "\n", "\r\n"))
    width = choose.randrange(1, 5)
    bare = choose.random() < 0.7

    def line(cells: tuple[str, ...]) -> str:
        around = [f"{choose.choice(_BLANKS)}{cell}{choose.choice(_BLANKS)}" for cell in cells]
        return sign.join(around) if bare else f"{sign}{sign.join(around)}{sign}"

    others = ("id", "user name", "x1", "", "Größe", "a b c")
    heading = (
        _name(choose) if choose.random() < 0.4 else choose.choice(others) for _ in range(width)
    )
    lines = [line(tuple(heading))]
    for _ in range(choose.randrange(4)):
        lines.append(line(tuple(choose.choice((*_VALUES, "1", "", "x y")) for _ in range(width))))
    before = choose.choice(("", f"some text{end}", f"x,y{end}"))
    return before + end.join(lines) + choose.choice(("", end, f"{end}end"))


def _element(choose: random.Random) -> str:
    name = _name(choose).replace(" ", "_")
    if choose.random() < 0.5:
        attribute = choose.choice(("", " a=1", "\nb"))
        return f"<{choose.choice(('', 'a:'))}{name}{attribute}>{choose.choice(_VALUES)}</{name}>"
    before = choose.choice(("", "x" * choose.choice((3, 55, 60, 64)), "my-"))
    attributes = [
        f'{choose.choice(("name", "key", "id", "type", "class"))}="{before}{name}"',
        f"{choose.choice(('value', 'Value'))}='{choose.choice(_VALUES)}'",
        "disabled",
    ]
    choose.shuffle(attributes)
    end = choose.choice((">", " />", ""))
    return f"<{choose.choice(('input', 'x:y'))} {' '.join(attributes)}{end}"


def _command(choose: random.Random) -> str:
    command = choose.choice(command_lines._COMMANDS)
    option = choose.choice(sorted(command.options | command.glued))
    value = choose.choice(_VALUES)
    parts = [
        *sorted(command.words),
        choose.choice((f"-{option} {value}", f"-{option}{value}", f"--{_name(choose)} {value}")),
        "x",
    ]
    choose.shuffle(parts)
    if choose.random() < 0.5:
        return choose.choice(("", "cd x && ", "$ ")) + " ".join(parts)
    arguments = [word for part in parts for word in part.split(" ", 1)]
    document: Any = {"command": arguments[0], "args": arguments[1:]}
    return json.dumps(document if choose.random() < 0.3 else arguments)


def _document(choose: random.Random) -> str:
    value = choose.choice(_VALUES)
    values = (
        value,
        [value],
        12345,
        True,
        1.5,
        [1] * 9,
        {"value": value},
        {"a": 1, "value": [1] * 9},
        "",
    )
    by = choose.choice(("name", "Name", "key", "Key", "header", "variable"))
    documents: tuple[Any, ...] = (
        {_name(choose) + choose.choice(("", "", "\n", "\\")): choose.choice(values)},
        {by: _name(choose), choose.choice(("value", "Value")): choose.choice(values), "x": 1},
        [_name(choose), value],
        {choose.choice(("d", "p", "dp", "k", "n")): value, "kty": "RSA", "e": "AQAB"},
    )
    separators = choose.choice(((",", ":"), (", ", ": "), (" ,  ", " :  ")))
    return json.dumps(
        choose.choice(documents), ensure_ascii=choose.random() < 0.5, separators=separators
    )


def _url(choose: random.Random) -> str:
    scheme, user = choose.choice(("http", "postgres")), choose.choice(("", "a", "@b", *_VALUES))
    rest = choose.choice(("h", "h/p", "://x@", "h/?a=1@b"))
    return f"x {scheme}://{user}{choose.choice((':', ''))}{choose.choice(_VALUES)}@{rest}"


_GRAMMARS = (_assignment, _assignment, _assignment, _table, _element, _command, _document, _url)
