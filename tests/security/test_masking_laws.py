"""Encoded text is searched as the text it stands for: one rule, for whatever is masked."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.content.masking.credentials import mask_any, mask_text, masked
from agentool_otel.ground.json_codec import dumps
from tests.security.masking_examples import CREDENTIALS, HARMLESS, IN_CLEAR, made
from tests.security.mutated_texts import mutated_texts
from tests.security.named_examples import NAMED, ORDINARY, PROGRAMS

pytestmark = pytest.mark.usefixtures("every_search")

KEY = f"sk-proj-{made(40)}"
TEXTS = st.sampled_from(
    [
        *(credential.text for credential in CREDENTIALS if credential.group != "JSON"),
        *(item.text for item in NAMED),
        *(text for texts in (HARMLESS, ORDINARY, *PROGRAMS.values()) for text in texts),
    ]
)
AROUND = st.text("ab \n\t\r\f\b\u001b{}[],:=\"'\\/\u00e9", max_size=8)


def in_json(text: str, levels: int, ascii_only: bool) -> str:
    for _ in range(levels):
        text = json.dumps({"note": text}, ensure_ascii=ascii_only)
    return text


def out_of_json(text: str, levels: int) -> str:
    for _ in range(levels):
        text = json.loads(text)["note"]
    return text


@given(TEXTS, AROUND, AROUND, st.integers(1, 3), st.booleans())
def test_a_text_is_masked_the_same_in_nested_json(
    text: str, before: str, behind: str, levels: int, ascii_only: bool
) -> None:
    text = f".{before} {text} {behind}"
    encoded = in_json(text, levels, ascii_only)
    assert out_of_json(masked(encoded), levels) == mask_text(text)


@given(
    st.sampled_from(["password", "api_key", "token", "contraseña", "пароль"]),
    st.sampled_from(["Xk29vTqhunterXk29vTq"]),
    st.integers(1, 10),
    st.booleans(),
    st.booleans(),
)
def test_a_member_is_masked_at_every_depth(
    name: str, value: str, levels: int, ascii_only: bool, blanks: bool
) -> None:
    separators = (" , ", " : ") if blanks else (",", ":")
    text = json.dumps({name: value}, ensure_ascii=ascii_only, separators=separators)
    for _ in range(levels):
        text = json.dumps({"note": text}, ensure_ascii=ascii_only, separators=separators)
    assert "Xk29" not in masked(text)


@given(st.integers(0, 1 << 32), st.integers(1, 6))
@settings(max_examples=60)
def test_a_document_is_masked_the_same_in_another_one(seed: int, levels: int) -> None:
    """What parsing the text of a document masks, no cheap test before it passes over."""
    for text in mutated_texts(seed, 20):
        document = json.dumps({"result": text, "n": 1}).encode("utf-8", "replace").decode()
        encoded = in_json(document, levels, False)
        assert json.loads(out_of_json(masked(encoded), levels)) == json.loads(masked(document))


@pytest.mark.parametrize(
    "text",
    [
        '["--PASSWORD", "XK29!VTQ_HUNTER"]',
        '["run", "--hasło-prod", "Xk29vTqhunter"]',
        '{"note": "jelsz\\u00f3s=Xk29vTqhunter"}',
        '{"note": "a password://%20is%20Xk29vTqhunter"}',
        '"postgres:\\/\\/ada:Xk29vTqhunter@db.example.com"',
    ],
)
def test_json_that_a_cheap_test_passed_over_is_masked(text: str) -> None:
    assert "29v" not in masked(text).lower()


@given(st.sampled_from(["password", "api_key", "token"]), st.integers(1, 6), st.data())
def test_a_name_whose_letters_are_escaped_is_the_same_name(
    name: str, levels: int, data: st.DataObject
) -> None:
    escaped = data.draw(st.sets(st.integers(0, len(name) - 1), min_size=1))
    letters = (f"\\u{ord(item):04x}" if at in escaped else item for at, item in enumerate(name))
    text = f'{{"{"".join(letters)}":"Xk29vTqhunterXk29vTq"}}'
    encoded = text if levels == 1 else in_json(text, levels - 1, False)
    assert "Xk29" not in masked(encoded)


@pytest.mark.parametrize(
    "escape", ["\\n", "\\t", "\\r", "\\f", "\\b", "\\u000b", "\\u001b", "\\r\\n"]
)
@pytest.mark.parametrize("depth", [1, 2, 4])
@pytest.mark.parametrize(
    "text", ["password=Xk29vTqhunter", "api_key: Xk29vTqhunter", "DB_PASS=Xk29vTqhunter", KEY]
)
def test_escapes_in_broken_json_are_not_part_of_a_name(escape: str, depth: int, text: str) -> None:
    """JSON that was cut off is no JSON: its text is searched as it stands."""
    escape = escape.replace("\\", "\\" * depth)
    cut_off = f'{{"result": "user: ada{escape}{text}'
    assert masked(cut_off) == mask_any(cut_off)
    assert mask_text(cut_off).removeprefix(f'{{"result": "user: ada{escape}') == mask_text(text)


@given(
    st.sampled_from(
        [
            credential.text
            for credential in (*CREDENTIALS, *NAMED)
            if credential.kind not in IN_CLEAR
        ]
    )
)
def test_what_is_masked_is_not_masked_again(text: str) -> None:
    once = mask_any(text)
    assert mask_any(once) == once
    assert masked(dumps({"a": once})) == dumps({"a": once})
