"""Masking goes over a text a fixed number of times, whatever the text is: steps are counted."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.content.masking.credential_shapes import _SHAPES
from agentool_otel.content.masking.secret_names import WORDS
from tests.content.counted_masking import _STEPS, CountedText, work

KEYS = ("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", "-----BEGIN ", "-----END ")
_SAME = (
    "sk_test_",
    "rk_",
    "gho_",
    "ghu_",
    "ghs_",
    "ghr_",
    "gld",
    "glr",
    "glpt",
    "xox",
    "do",
    "hvb",
    "hvr",
)
"""Beginnings whose expression is that of another one."""
STARTS = (
    *(shape.start for shape in _SHAPES if not shape.start.startswith(_SAME)),
    "xoxb-",
    "dop_v1_",
    *KEYS,
)
GRAMMARS = (
    *("--password ", "curl -u a:", "mysql -p", "mysql ", "<password>", '<input name="password" '),
    *(
        "value=",
        "IDENTIFIED BY ",
        "PASSWORD '",
        "| password | ",
        "password,a\n",
        "login a password ",
    ),
    *(":5432:a:b:", "name: password\nvalue: ", '["password", "', "password: |\n ", "\\u0077"),
    *("password%3D", "-----BEGIN PGP PRIVATE KEY BLOCK-----", 'Digest response="', "user,token\n"),
    *(
        "docker login -p ",
        "redis-cli -a ",
        "mysql -uroot -p",
        "'--api-key', '",
        "echo a | chpasswd",
    ),
    *("echo @ | x --password-stdin", "--password-stdin <<< ", "-Password ", "::add-mask::"),
    *("##vso[task.setvariable issecret=true]", 'variable "password" { default = "', "kty {"),
    *('{"kty":"RSA","d":"', "snmp-server community ", "pre-shared-key ", ":5:aad3b435b51404ee:"),
    *("password is ", "the api key ", "seed phrase: witch ", "Unseal Key 1: ", "key-data: "),
    *("Stripe-Signature: t=1,v1=", "mot de passe : ", "\\u043b\\u044c", "password: e.a.b.c"),
    *(
        "password: `${",
        "password => a",
        "api key provided: ",
        "password=='",
        "contrase\u00f1a es: ",
    ),
    *("password=password?", "password==", "token=>", "token=='", "--with-token<<<aaaa"),
    *('mysql"-paaaa|', "echo a| x --password-stdin<<<", "--api-key aaaa"),
)
"""Texts before values in other grammars, and their beginnings."""
NAMES = (
    *WORDS,
    *GRAMMARS,
    "api_key",
    "authToken",
    "set-cookie",
    "secret_key_base",
    "Bearer ",
    "Digest ",
)
SEPARATORS = (
    *"-_.:=/@\"'\\ \n\t,;&(",
    *(": ", " = ", "=>", "\r\n", '":"', '\\":\\"', "='", " a ", ":a ", "=aaaa ", "\n  ", "://"),
)
_FEW, _SIGNS = 5, 11
"""Separators of the quick test, and those that are one sign."""
STEPS = 750
"""Most steps per character, in a text and in JSON together: a hundred searches for single letters
and words read each text in which one of them has matched, and some forty expressions."""


def repeated(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size]


def assert_linear(unit: str, before: str = "", behind: str = "@", size: int = 500) -> None:
    """Mask a text that repeats a unit, and one four times as long: a character costs about the same
    in both. Which searches are worth it depends on the text; were the work quadratic, it would cost
    four times as much."""
    short, long = (
        work(f"{before}{repeated(unit, item)}{behind}", most=STEPS * (item + 100))
        for item in (size, 4 * size)
    )
    assert long < 4 * 1.8 * short, (unit, short, long)


@pytest.mark.parametrize("start", [*STARTS, *NAMES])
def test_a_repeated_prefix_costs_linear_time(start: str) -> None:
    for separator in SEPARATORS[:_FEW]:
        assert_linear(start + separator)


@pytest.mark.thorough
@pytest.mark.parametrize("start", [*STARTS, *NAMES])
def test_a_prefix_repeated_with_any_sign_costs_linear_time(start: str) -> None:
    for separator in SEPARATORS[_FEW:_SIGNS]:
        assert_linear(start + separator)


@pytest.mark.thorough
@pytest.mark.parametrize("start", [*STARTS, *NAMES])
def test_a_prefix_repeated_with_more_than_a_sign_costs_linear_time(start: str) -> None:
    for separator in SEPARATORS[_SIGNS:]:
        assert_linear(start + separator)


@pytest.mark.thorough
@pytest.mark.parametrize("start", [*STARTS, *NAMES])
def test_a_repeated_prefix_in_a_very_large_text_costs_linear_time(start: str) -> None:
    assert_linear(f"{start}=", size=6000)


PIECES = st.sampled_from([*STARTS, *NAMES, *SEPARATORS, "a", "A1", "a" * 20, "[masked]", "{", "}"])
TEXTS = st.lists(PIECES, min_size=1, max_size=6).map("".join)


@settings(deadline=None)
@given(TEXTS, TEXTS, TEXTS)
def test_any_repeated_text_costs_linear_time(unit: str, before: str, behind: str) -> None:
    assert_linear(unit, before, behind)


@pytest.mark.thorough
@pytest.mark.parametrize("unit", ["1,", "[],", '{"key":1},', "token:1,"])
def test_deeply_nested_json_in_json_is_not_read_more_often(unit: str) -> None:
    text = f'[{repeated(unit, 12_000 // len(unit) * len(unit))}"sk-"]'
    for _ in range(12):
        work(text, most=3 * STEPS * len(text))
        text = json.dumps([text])


@pytest.mark.parametrize(("begins", "steps"), [(0, 901), (700, 201), (900, 1)])
def test_a_search_backwards_counts_what_lies_between_its_bounds(begins: int, steps: int) -> None:
    taken = _STEPS.taken
    CountedText("a" * 1000).rfind("b", begins, 900)
    assert _STEPS.taken - taken == steps


def test_the_instrumented_copy_masks_like_the_real_module() -> None:
    """Otherwise the tests above would prove nothing."""
    from agentool_otel.content.masking.credentials import mask_text
    from tests.content.counted_masking import masking

    for start in (*STARTS, *NAMES):
        text = f"{start}=hunter2hunter2hunter2hunter2.hunter2hunter2 {start}: a:b@c"
        assert masking.mask_text(text) == mask_text(text)
