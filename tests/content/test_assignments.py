"""Credentials that stand under a name in text that is no JSON of ours."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.content.masking.credentials import MASK, mask_any, mask_text, masked
from agentool_otel.content.policy import Policy
from agentool_otel.semconv import gen_ai

pytestmark = pytest.mark.usefixtures("every_search")

SECRET = "hunter2 & more"
WORD = "hunter2"


def captured(value: Any) -> str:
    text = Policy(capture=True).encoded(gen_ai.TOOL_CALL_RESULT, value)
    assert text is not None
    return text


FOREIGN_JSON = [
    '{"password" : "hunter2 & more", "n": 1}',
    '{"n": 1, "password" :"hunter2 & more"}',
    '{\n  "password"\n:\n"hunter2 & more"}',
    '{"a": {"db.password":\t"hunter2 & more"}}',
    '[{"note": "{\\"api_key\\": \\"hunter2 & more\\"}"}]',
    '{"note": "answer {\\"api_key\\":\\"hunter2 & more\\"} follows"}',
    "{\"note\": \"{'api_key': 'hunter2 & more'}\"}",
    '{"note": "OPENAI_API_KEY=hunter2\\nDEBUG=1"}',
]


@pytest.mark.parametrize("text", FOREIGN_JSON)
def test_a_credential_is_masked_however_the_json_is_formatted(text: str) -> None:
    clean = masked(text)
    assert WORD not in clean
    assert MASK in clean
    json.loads(clean)


TEXTS = [
    ("OPENAI_API_KEY=hunter2\nDEBUG=1", f"OPENAI_API_KEY={MASK}\nDEBUG=1"),
    ("export DB_PASSWORD='hunter2 & more'", f"export DB_PASSWORD='{MASK}'"),
    ("db:\n  password: hunter2\n  port: 5432", f"db:\n  password: {MASK}\n  port: 5432"),
    ("{'api_key': 'hunter2 & more', 'n': 1}", f"{{'api_key': '{MASK}', 'n': 1}}"),
    ("{'password' : 'abc'}", f"{{'password' : '{MASK}'}}"),
    ("Config(api_key='hunter2', n=1)", f"Config(api_key='{MASK}', n=1)"),
    ('{"password": "hunter2 & more"} and text', f'{{"password": "{MASK}"}} and text'),
    ('{"password": "a"}\n{"password": "b"}', f'{{"password": "{MASK}"}}\n{{"password": "{MASK}"}}'),
    ('"{\\"password\\": \\"a \\\\\\" b\\"}"', f'"{{\\"password\\": \\"{MASK}\\"}}"'),
    ("https://host/x?api_key=hunter2&page=2", f"https://host/x?api_key={MASK}&page=2"),
    ("https://ada:hunter2@host/x", f"https://{MASK}@host/x"),
    ("Authorization: Bearer hunter2hunter2", f"Authorization: Bearer {MASK}"),
    ("Authorization: Token hunter2\r\nHost: x", f"Authorization: {MASK}\r\nHost: x"),
    ("curl -H 'Authorization: hunter2' x", f"curl -H 'Authorization: {MASK}' x"),
    ("Cookie: sid=hunter2; theme=dark\nHost: x", f"Cookie: {MASK}\nHost: x"),
    ("X-Api-Key: hunter2", f"X-Api-Key: {MASK}"),
    ("AccountName=a;AccountKey=hunter2==;Suffix=x", f"AccountName=a;AccountKey={MASK};Suffix=x"),
    ("host=db user=ada password=hunter2", f"host=db user=ada password={MASK}"),
    ("password := 'hunter2'", f"password := '{MASK}'"),
    ("'password' => 'hunter2'", f"'password' => '{MASK}'"),
    ("if password == 'hunter2':", f"if password == '{MASK}':"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "clean"), TEXTS)
def test_a_credential_assigned_in_text_is_masked(text: str, clean: str) -> None:
    assert mask_text(text) == clean


@pytest.mark.parametrize(("text", "clean"), TEXTS)
def test_a_credential_assigned_in_tool_arguments_and_results_is_masked(
    text: str, clean: str
) -> None:
    assert json.loads(captured({"text": text, "n": [1]}))["text"] == mask_any(text)
    assert json.loads(captured([f"before {text}"])) == [f"before {clean}"]


LONG = "correct horse battery staple " * 400


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (f"password='{LONG}', n=1", f"password='{MASK}', n=1"),
        (f'{{"password": "{LONG}", n}}', f'{{"password": "{MASK}", n}}'),
        (f'{{\\"password\\": \\"{LONG}\\"}}', f'{{\\"password\\": \\"{MASK}\\"}}'),
        (f"Cookie: {'a' * 9000}={LONG}\nHost: x", f"Cookie: {MASK}\nHost: x"),
        (f"Authorization: Token {'a' * 9000} x", f"Authorization: {MASK} x"),
        (f"API_KEY={'a' * 9000}\nn=1", f"API_KEY={MASK}\nn=1"),
        (f"password = '{LONG}", f"password = '{MASK}"),
        ('cut off: {"api_key": "hunter', f'cut off: {{"api_key": "{MASK}'),
    ],
)
def test_a_value_of_any_length_is_masked_whole(text: str, clean: str) -> None:
    assert mask_text(text) == clean


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ('credentials:\n  password: "a b c"', f'credentials:\n  password: "{MASK}"'),
        ("api_secret=abcd-password = 'x y'", f"api_secret={MASK} = '{MASK}'"),
        ("password=authorization:Token abcdef", f"password={MASK}"),
        ("\u0130 PASSWORD=hunter2", f"\u0130 PASSWORD={MASK}"),
    ],
)
def test_names_inside_values_leave_no_part_of_a_credential(text: str, clean: str) -> None:
    assert mask_text(text) == clean


@pytest.mark.parametrize("text", ["password='', user='x'", 'x(password="") and "y"', "password='"])
def test_an_empty_value_is_not_masked(text: str) -> None:
    assert mask_text(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "token budget: 4000 used",
        "max_tokens=4096, tokens: 12",
        "the password: is it there?",
        "secret: a b c",
        "def login(password: str, api_key: Optional[str] = None) -> None:",
        "api_key=os.environ['OPENAI_API_KEY']",
        "password = getpass()",
        "interface Login { password: string; token: string }",
        "OPENAI_API_KEY=${OPENAI_API_KEY} PASSWORD=$PASSWORD",
        "api_key: <your key>",
        'properties: {"api_key": {"type": "string"}}',
        "primary_key=12345 foreign key: 67890",
        "monkey: banana, keyboard=qwerty",
        "2026-11-21T12:30:00Z https://example.com/?q=1",
    ],
)
def test_text_about_credentials_is_unchanged(text: str) -> None:
    assert mask_text(text) == text
    assert json.loads(captured({"text": text})) == {"text": text}


NAMES = st.sampled_from(["api_key", "PASSWORD", "clientSecret", "x-auth-token"])
SIGNS = st.sampled_from(["=", ": ", " = ", " : ", ":"])
QUOTES = st.sampled_from(["", "'", '"'])
AROUND = st.text("ab \n{}[],:=\"'\\", max_size=12)


@given(AROUND, NAMES, SIGNS, QUOTES, AROUND)
def test_a_credential_is_masked_whatever_surrounds_it(
    before: str, name: str, sign: str, quote: str, after: str
) -> None:
    text = f"{before} {name}{sign}{quote}{WORD}{quote} {after}"
    assert WORD not in mask_text(text)
    if quote or sign != ":":  # `token:x` inside JSON is left, see `assigns_in_json`
        assert WORD not in captured({"text": text, "n": 1})


@given(st.text("pasword=:\"' \n\\", max_size=40))
def test_masking_is_idempotent(text: str) -> None:
    once = mask_text(text)
    assert mask_text(once) == once


def test_a_text_of_only_separators_takes_little_memory() -> None:
    assert mask_text("=" * 1_000_000 + " password=hunter2").endswith(f"password={MASK}")
