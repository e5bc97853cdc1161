"""Credentials as they occur are masked in every form, and harmless texts are left alone."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from agentool_otel.content.masking.credentials import mask_any, masked
from tests.security.masking_examples import CREDENTIALS, HARMLESS, IN_CLEAR, Example, leaks

FORMS: dict[str, Callable[[str], str]] = {
    "text": mask_any,
    "JSON value": lambda text: json.loads(masked(json.dumps({"result": text})))["result"],
    "JSON in JSON": lambda text: json.loads(
        json.loads(masked(json.dumps({"arguments": json.dumps({"result": text})})))["arguments"]
    )["result"],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("example", CREDENTIALS, ids=lambda it: f"{it.group}: {it.kind}")
def test_a_credential_is_masked_to_its_end_in_every_form(example: Example, form: str) -> None:
    assert leaks(example, example.text), "of what is not there nothing could be left"
    assert leaks(example, FORMS[form](example.text)) == (example.kind in IN_CLEAR)


@pytest.mark.parametrize("form", FORMS)
def test_at_most_three_of_the_harmless_texts_are_touched(form: str) -> None:
    touched = [text for text in HARMLESS if FORMS[form](text) != text]
    assert len(touched) <= 3, touched
