"""The first look at a text never hides a credential from the search behind it."""

from __future__ import annotations

import json
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentool_otel.content.masking import credentials
from agentool_otel.content.masking.command_lines import COMMAND_NAMES
from agentool_otel.content.masking.first_look import may_hold_credential
from agentool_otel.content.masking.secret_names import QUALIFIERS, WORDS
from agentool_otel.content.policy import Policy
from agentool_otel.semconv import gen_ai
from tests.emit.test_masking_work import GRAMMARS, STARTS
from tests.security.masking_examples import CREDENTIALS, HARMLESS
from tests.security.named_examples import NAMED, ORDINARY, PROGRAMS

FOUND = [it.text for it in (*CREDENTIALS, *NAMED)]
CLEAN = [text for texts in (HARMLESS, ORDINARY, *PROGRAMS.values()) for text in texts]
VALUES = (
    *("Xk29vTqhunter", "hunter2!", "Xk29vTqhunterXk29vTq", "a" * 20, "1234", "$X", "None"),
    *("sk-abcDEF0123456789abcd", "AKIAABCDEFGHIJKLMNOP", "dGVzdDpwYXNzd29yZDE=", "/a/b", "a b 9"),
)
SEPARATORS = (
    *("=", ": ", ":", " = ", "=>", "==", ":=", "%3D", " is ", " es ", "\tis\n", " is: ", "\uff1a"),
    *("|", " | ", ",", ", ", ";", "\n", "\t", "\r\n", "\n  ", "\x0b", "\x1b", "\u00a0", "\u3000"),
    *("\\", "\\n", '"', "'", '\\"', '": "', '":"', "','", "', '", "\\u0020", "\\u000a", "%20"),
    *("-", "--", " -", " --", "_", ".", "/", "<", ">", "</", *"[]{}()$@#~* ", "\u00e9", "\u7801"),
    *("\u2019", "\u212a", "\u0130", "\u017f"),
)
NAMES = (
    *(form(word) for word in WORDS for form in (str, str.upper, str.capitalize)),
    *(f"{name}{it}" for name in ("password", "api_key_", "token.") for it in (*QUALIFIERS, "1")),
    *("apiKey", "db.password", "x-auth-token", "tokens", "page_token", "a/page_token", "api key"),
    *("seed phrase", "name", "value", "Value", "key", "header", "variable", "args", "command"),
    *("login", "machine", "curl", "-u", "-p", "-pw", "--PASSWORD", "echo", "chpasswd", "sudo -S"),
    *("kty", "d", "dp", "password '", "##vso[task.setsecret]", ":::", "<password>", "<<<"),
    *COMMAND_NAMES,
)
PLAIN = (
    "the",
    "a",
    "report",
    "design",
    "signal",
    "author",
    "Monday",
    "limit",
    "1",
    "42",
    "keyboard",
)


_ALL = (SEPARATORS, SEPARATORS, NAMES, VALUES, PLAIN, (*STARTS, *GRAMMARS), FOUND)


@st.composite
def pieces(draw: st.DrawFn) -> str:
    """A separator, name, value, word or beginning of a credential, or a part of an example."""
    kind = draw(st.sampled_from(range(len(_ALL))))
    piece: str = draw(st.sampled_from(_ALL[kind]))
    if _ALL[kind] is not FOUND:
        return piece
    places = sorted((draw(st.integers(0, len(piece))), draw(st.integers(0, len(piece)))))
    return piece[places[0] : places[1]]


PIECES = pieces()
DRAWN = st.lists(PIECES, max_size=14).map("".join)


@st.composite
def mutations(draw: st.DrawFn) -> str:
    """An example in which some characters give way to others, in other surroundings."""
    text: str = draw(st.sampled_from(FOUND + CLEAN))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(PIECES) + text[at + draw(st.integers(0, 3)) :]
    before: str = draw(st.sampled_from(("", *SEPARATORS)))
    behind: str = draw(st.sampled_from(("", *PLAIN)))
    return before + text + behind


TEXTS = DRAWN | mutations()
LEAVES = TEXTS | st.integers() | st.lists(st.integers(0, 255), min_size=8, max_size=9)


@st.composite
def values(draw: st.DrawFn, depth: int = 0) -> Any:
    """A JSON value whose members, names and strings of JSON are made of such texts."""
    kind = draw(st.sampled_from(("leaf", "leaf", "list", "members", "text")))
    if depth == 3 or kind == "leaf":
        return draw(LEAVES)
    below = values(depth + 1)
    if kind == "text":
        return json.dumps(draw(below), ensure_ascii=draw(st.booleans()))
    if kind == "list":
        return draw(
            st.lists(below, min_size=1, max_size=3) | st.lists(TEXTS, min_size=9, max_size=9)
        )
    return draw(st.dictionaries(st.sampled_from(NAMES) | TEXTS, below, max_size=3))


VALUES_OF_JSON = values()


@contextmanager
def without_first_look() -> Generator[None, None, None]:
    credentials.HARMLESS.clear()
    with patch.object(credentials, "may_hold_credential", lambda text, ours=False: True):
        yield
    credentials.HARMLESS.clear()


def encoded(value: Any) -> list[str]:
    return [
        json.dumps(value),
        json.dumps(value, ensure_ascii=False, separators=(",", ":")),
        json.dumps(value, indent=1),
    ]


def agree(text: str) -> None:
    """Both searches mask a text alike, and where the first look finds nothing, neither does."""
    with without_first_look():
        expected = credentials.mask_text(text), credentials.masked(text)
        if not may_hold_credential(text):
            assert expected == (text, text)
    assert (credentials.mask_text(text), credentials.masked(text)) == expected


@pytest.mark.parametrize("text", FOUND + CLEAN)
def test_an_example_is_masked_as_without_the_first_look(text: str) -> None:
    agree(text)
    for json_text in encoded({"result": text}) + encoded([json.dumps({"a": [text]})]):
        agree(json_text)


@given(TEXTS)
@example("Basic cpBearer MNEMONIC")
@example("password '\tis\n")
@example("id\tapi_key\n1\tXk29vTqhunterXk29vTq")
@example("<passwd>r</pass")
@example("gh auth login --with-token<<<Xk29vTqhunter")
@example('variable "passwd"{default\u3000="r"')
@example("-token Xk29vTqhunterXk29vTq")
def test_a_text_is_masked_as_without_the_first_look(text: str) -> None:
    agree(text)


@given(VALUES_OF_JSON)
@example(["a>\u039a\u03c9\u03b4\u03b9\u03ba\u03cc\u03c2'\"PHPSESSID", "Xk29vTqhunter"])
@example({"pa\u017f\u017fword": "Xk29vTqhunter", "t": "the Bearer {x}"})
@example({"a/page_token": "Xk29vTqhunterXk29vTq"})
@example({"t": "Mot\tde passe\u00a0: Xk29vTqhunter"})
@example([{"value": "Xk29vTqhunter", "n": 1, "name": "password"}])
def test_json_is_masked_as_without_the_first_look(value: Any) -> None:
    for text in encoded(value):
        agree(text)


@given(VALUES_OF_JSON)
def test_a_result_is_masked_as_without_the_first_look(value: Any) -> None:
    policy = Policy(capture=True)
    with (
        without_first_look(),
        patch.multiple(
            "agentool_otel.content.policy",
            holds_secret=credentials.holds_secret,
            suspicious=credentials.suspicious,
        ),
    ):
        expected = policy.encoded(gen_ai.TOOL_CALL_RESULT, value)
    assert policy.encoded(gen_ai.TOOL_CALL_RESULT, value) == expected


@pytest.mark.parametrize(
    "text",
    [
        "The token budget isn't the problem - the key question is who pays; see page 3.",
        "2026-11-24T04:29:49Z INFO [worker-3] id=8f3a-22 path=/v1?limit=50 key=items:50 ok=1",
        "| name | type |\n| --- | --- |\n| limit | int |\n",
        "max_tokens: 4096, token: str = None",
        '{"next_page_token": "abc", "usage": {"tokens": 12, "total_tokens": 3}}',
        "Die Sitzung begann um neun Uhr; das ist n\u00f6tig.",
    ],
)
def test_an_ordinary_text_gets_no_further_than_the_first_look(text: str) -> None:
    assert not may_hold_credential(text)
    assert not may_hold_credential(json.dumps({"result": text}))
