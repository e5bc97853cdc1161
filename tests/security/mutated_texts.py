"""Texts near credentials: the examples of the tests, mutated and put into other texts."""

from __future__ import annotations

import ast
import json
import random
import shlex
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from urllib.parse import quote

from tests.security.assembled_texts import assembled
from tests.security.masking_examples import CREDENTIALS, HARMLESS
from tests.security.named_examples import NAMED, ORDINARY, PROGRAMS
from tests.security.vendor_keys import LOOK_ALIKES, VENDOR_KEYS

__all__ = ["mutated_texts"]

_TESTS = Path(__file__).parents[1]
_MODULES = (
    "content/test_masking.py",
    "content/test_assignments.py",
    "content/test_masking_work.py",
)


@cache
def _examples() -> tuple[str, ...]:
    literals = (
        node.value
        for module in _MODULES
        for node in ast.walk(ast.parse((_TESTS / module).read_text("utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    texts = [
        *(example.text for example in (*CREDENTIALS, *NAMED)),
        *(f"401 for {key} at startup" for key in VENDOR_KEYS.values()),
        *(
            text
            for texts in (HARMLESS, ORDINARY, LOOK_ALIKES, *PROGRAMS.values())
            for text in texts
        ),
        *(literal for literal in literals if 4 <= len(literal) <= 2000),
    ]
    return tuple(dict.fromkeys(texts))


_PIECES = (
    *(
        "\\",
        '"',
        "'",
        "\n",
        " ",
        "\t",
        ":",
        "=",
        "://",
        "@",
        "-",
        "--",
        "_",
        ".",
        "/",
        "$",
        "|",
        ",",
    ),
    *(";", "&", "{", "}", "[", "]", "(", ")", "<", ">", "%", "%3D", "\\n", '\\"', "\\u00e9", "é"),
    *("密码", "ß", "\u212a", "\u017f", "\u0130", "\u00a0", "\uff1a", " is ", "=> ", "1", "s", "A"),
    *("password", "token", "api_key", "secret", "key", "name", "value", "data", "None", "null"),
    *(
        "x" * 16,
        "sk-",
        "eyJ",
        "Bearer ",
        "login ",
        " -p ",
        "kty",
        "</",
        "\0",
        "\x0b",
        "😀",
        "\ud800",
    ),
)


def _mutated(text: str, choose: random.Random) -> str:
    for _ in range(choose.randrange(6)):
        if not text:
            return text
        at = choose.randrange(len(text))
        to = min(len(text), at + choose.choice((1, 1, 1, 2, 5, 20)))
        match choose.randrange(7):
            case 0:
                text = text[:at] + choose.choice(_PIECES) + text[at:]
            case 1:
                text = text[:at] + text[to:]
            case 2:
                text = text[:at] + choose.choice(_PIECES) + text[to:]
            case 3:
                text = text[:at] + text[at:to].swapcase() + text[to:]
            case 4:
                text = text[:at] + text[at:to] * 2 + text[to:]
            case 5:
                other = choose.choice(_examples())
                text = text[:at] + other[choose.randrange(len(other)) :][:20] + text[at:]
            case _:
                text = choose.choice((str.upper, str.lower, str.title))(text)
    return text


def _json(text: str, choose: random.Random) -> str:
    ascii_only, blanks = choose.random() < 0.5, choose.random() < 0.3
    value = choose.choice(
        ({"result": text}, [text], {text[:60]: "Xk29vTqhunter"}, {"a": [{"b": text}, 1]})
    )
    separators = (" , ", " : ") if blanks else (",", ":")
    return json.dumps(value, ensure_ascii=ascii_only, separators=separators)


def _levels(text: str, choose: random.Random, levels: int) -> str:
    for _ in range(levels):
        text = _json(text, choose)
    return text


def _cut(text: str, choose: random.Random) -> str:
    return text[: choose.randrange(1, len(text) + 1)] if text else text


_FORMS: tuple[Callable[[str, random.Random], str], ...] = (
    lambda text, choose: text,
    lambda text, choose: text,
    _json,
    lambda text, choose: _levels(text, choose, 2),
    lambda text, choose: _levels(text, choose, choose.choice((3, 4))),
    lambda text, choose: repr({"result": text}),
    lambda text, choose: f"run {shlex.quote(text)} -v",
    lambda text, choose: "note:\n  text: |\n    " + text.replace("\n", "\n    "),
    lambda text, choose: (
        "q=" + quote(text.encode("utf-8", "replace"), safe=choose.choice(("", "=", ":/")))
    ),
    lambda text, choose: _cut(_levels(text, choose, choose.choice((1, 2))), choose),
    lambda text, choose: f"See {choose.choice(_examples())}\n{text} {choose.choice(_examples())}",
    lambda text, choose: json.dumps(
        [choose.choice(_examples()), text, {"name": text[-40:], "value": "a1"}]
    ),
    lambda text, choose: json.dumps(text.split()),
    lambda text, choose: json.dumps({"command": text[:20], "args": text.split()}),
    lambda text, choose: _levels(text[:50], choose, choose.choice((8, 9, 10))),
    lambda text, choose: json.dumps({"a": "plain words; " * 1400, "b": text}),
    lambda text, choose: "<tr>" + text + "</tr>",
    lambda text, choose: json.dumps(text).replace("/", "\\/"),
    lambda text, choose: "\n".join(f"{n},{word}" for n, word in enumerate(text.split())),
)


def mutated_texts(seed: int, count: int) -> Iterator[str]:
    """Yield texts near credentials, the same ones for the same seed."""
    choose = random.Random(seed)
    for _ in range(count):
        text = choose.choice(_examples()) if choose.random() < 0.7 else assembled(choose)
        text = _mutated(text, choose)
        yield choose.choice(_FORMS)(text, choose)
