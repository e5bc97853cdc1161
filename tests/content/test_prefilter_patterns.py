"""Patterns of the prefilter: wider than the expressions they stem from, and none left out."""

from __future__ import annotations

import json
import re

import pytest

from agentool_otel.content.masking import credential_shapes, grammars, secret_names
from agentool_otel.content.masking.prefilter import supersets
from agentool_otel.content.masking.prefilter.names import names
from agentool_otel.content.masking.prefilter.patterns import looks
from agentool_otel.content.masking.prefilter.supersets import (
    Untranslatable,
    superset,
    superset_behind,
    superset_of,
)


def matches(expression: str, text: str) -> bool:
    return re.search(superset_of(expression).encode(), text.encode(), re.DOTALL) is not None


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        (r"key(?<=[?&]key)=", "key="),
        (r"\Aa+$", "caab"),
        (r"a{3,7}b", "aaaaaaaaaaaab"),
        (r"(?P<q>[\"'])x(?P=q)", "'x\""),
        (r"(?i:by)x", "BYx"),
        (r"a(?!b)", "ab"),
        (r"[^\s]b", "éb"),
        (r"\w{4}", "密码"),
        (r"x(?=yz)", "xyz"),
    ],
)
def test_a_pattern_is_wider_than_its_expression(expression: str, text: str) -> None:
    assert matches(expression, text)


def test_what_lies_ahead_at_the_end_is_text() -> None:
    assert not matches("x(?=yz)", "x")
    assert re.search(superset(re.compile("x(?=yz)"), ahead=False).encode(), b"x")


@pytest.mark.parametrize("depth", range(5))
@pytest.mark.parametrize("text", ['a"b', "a\nb", "a\tb", "a/b", "a\\b", "aéb", "a\x0bb", "a😀b"])
def test_a_character_matches_its_escapes_at_any_depth(text: str, depth: int) -> None:
    encoded = text
    for _ in range(depth):
        encoded = json.dumps(encoded).replace("/", "\\/")
    assert matches(f"a{re.escape(text[1])}b", encoded) or not text[1].isascii()
    assert matches(r"a[^x]b", encoded)
    assert matches(rf"a[{re.escape(text[1])}\s\w\W]b", encoded)


@pytest.mark.parametrize("name", ["api_key", "api-key", "apikey", "apiKey", "API_KEY", "api key"])
def test_separators_of_a_name_may_be_missing(name: str) -> None:
    patterns = [name.pattern.encode() for name in names() if name.sort == "anything"]
    assert any(re.search(pattern, name.encode()) for pattern in patterns)


def test_the_rest_behind_a_group_is_one_pattern() -> None:
    pattern = re.compile(r"(?P<q>')(?P<name>\w+)(?P=q)\s*=")
    assert superset_behind(pattern, "name") == superset_of(r"(')\s*=")


@pytest.mark.parametrize("expression", [r"(?-i:a)b", r"(a)?(?(1)b|c)"])
def test_an_unknown_part_of_an_expression_raises(expression: str) -> None:
    with pytest.raises(Untranslatable):
        superset(re.compile(expression))


def test_a_new_value_test_of_names_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = (*secret_names._NAMES, (re.compile("pin$"), str.isdigit))
    monkeypatch.setattr(secret_names, "_NAMES", rows)
    names.cache_clear()
    with pytest.raises(Untranslatable, match="isdigit"):
        looks()
    monkeypatch.undo()
    names.cache_clear()


def test_a_new_value_test_of_shapes_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    shape = credential_shapes._Shape("zz-", re.compile("zz-[a-z]{9}"), str.islower)
    monkeypatch.setattr(credential_shapes, "_SHAPES", (shape,))
    with pytest.raises(Untranslatable, match="zz-"):
        looks()


def test_a_new_value_test_of_grammars_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    row = grammars._TABLE[0]._replace(judge=str.isdigit)
    monkeypatch.setattr(grammars, "_TABLE", (row,))
    with pytest.raises(Untranslatable, match="curl"):
        looks()


def test_a_new_row_is_a_new_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    shape = credential_shapes._Shape("zz-", re.compile("zz-[a-z]{9}"), None)
    monkeypatch.setattr(credential_shapes, "_SHAPES", (*credential_shapes._SHAPES, shape))
    assert any(re.fullmatch(look.patterns[0].encode(), b"zz-abcdefghi") for look in looks())


def test_letters_that_equal_ascii_are_looked_for() -> None:
    """Every letter that `re` takes for one of ASCII where case is ignored, or that becomes one."""
    odd = {
        char
        for char in map(chr, range(0x80, 0x2200))
        if re.fullmatch("[a-z]", char, re.IGNORECASE) or char.lower()[0].isascii()
    }
    (pattern,) = next(look.patterns for look in looks() if look.rule == "other letters")
    assert odd == {"\u0130", "\u0131", "\u017f", "\u212a"}
    assert all(re.fullmatch(pattern.encode(), char.encode()) for char in odd)


def test_every_case_of_a_letter_beyond_ascii_is_known() -> None:
    for letter in {char for word in secret_names.ANY_SCRIPT for char in word if not char.isascii()}:
        equal = [char for char in map(chr, range(0x80, 0x3000)) if char.lower() == letter]
        assert supersets._cases(letter) >= {letter, letter.upper(), *equal}
