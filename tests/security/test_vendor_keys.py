"""A key of a vendor is masked wherever it stands, and what only looks like one is left alone."""

from __future__ import annotations

import json
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.content.masking.credentials import mask_text, masked
from tests.prefilters import Look
from tests.security.vendor_keys import LOOK_ALIKES, VENDOR_KEYS

pytestmark = pytest.mark.usefixtures("every_search")

AROUND = (
    "the client answered 401 for {} at startup",
    "{}",
    'use "{}", please\n',
    "keys\n{}\nend",
    "(at {})",
)


@pytest.mark.parametrize("around", AROUND)
@pytest.mark.parametrize("kind", VENDOR_KEYS)
def test_a_key_is_masked_alone_in_a_text(kind: str, around: str) -> None:
    key = VENDOR_KEYS[kind]
    text = around.format(key)
    assert masked_tail(key) not in mask_text(text)
    nested = json.dumps({"note": json.dumps({"text": text})})
    assert masked_tail(key) not in masked(nested)


def masked_tail(key: str) -> str:
    return key[-12:]


@pytest.mark.parametrize(
    "kind", sorted(VENDOR_KEYS.keys() - {"Amazon Bedrock, short term", "Microsoft Teams"})
)
def test_a_key_is_masked_from_its_beginning(kind: str) -> None:
    assert mask_text(f"a {VENDOR_KEYS[kind]} b") == "a [masked] b"


@pytest.mark.parametrize("text", LOOK_ALIKES)
def test_a_text_that_looks_alike_is_left_alone(text: str) -> None:
    for around in AROUND:
        assert mask_text(around.format(text)) == around.format(text)


@pytest.mark.parametrize("kind", VENDOR_KEYS)
def test_a_key_is_seen_by_the_prefilter(kind: str, prefilter_look: Look) -> None:
    assert prefilter_look(VENDOR_KEYS[kind].encode())


@given(st.sampled_from(sorted(VENDOR_KEYS)), st.sampled_from(string.ascii_letters + string.digits))
def test_a_key_inside_a_word_is_none(kind: str, letter: str) -> None:
    if kind in (
        "Microsoft Teams",
        "Azure OpenAI",
        "Azure DevOps",
        "Terraform",
        "Amazon Bedrock, short term",
    ):
        return
    key = VENDOR_KEYS[kind]
    assert mask_text(f"{letter}{key}")[:1] == letter
