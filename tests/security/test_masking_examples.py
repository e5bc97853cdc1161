"""Credentials as they occur are masked in every form, and harmless texts are left alone."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from agentool_otel.content.masking.credentials import mask_any, masked
from tests.security.masking_examples import CREDENTIALS, HARMLESS, IN_CLEAR, Example, leaks
from tests.security.named_examples import NAMED, ORDINARY, PROGRAMS

pytestmark = pytest.mark.usefixtures("every_search")

FORMS: dict[str, Callable[[str], str]] = {
    "text": mask_any,
    "JSON value": lambda text: json.loads(masked(json.dumps({"result": text})))["result"],
    "JSON in JSON": lambda text: json.loads(
        json.loads(masked(json.dumps({"arguments": json.dumps({"result": text})})))["arguments"]
    )["result"],
    "in a sentence": lambda text: mask_any(f"the tool answered: {text} (at startup)"),
}
TOUCHED = {"forgot password: click here"}
"""Harmless texts that are taken for credentials."""


@pytest.mark.parametrize("form", [form for form in FORMS if form != "in a sentence"])
@pytest.mark.parametrize("example", CREDENTIALS, ids=lambda item: f"{item.group}: {item.kind}")
def test_a_credential_is_masked_to_its_end_in_every_form(example: Example, form: str) -> None:
    assert leaks(example, example.text), "of what is not there nothing could be left"
    assert leaks(example, FORMS[form](example.text)) == (example.kind in IN_CLEAR)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("example", NAMED, ids=lambda item: f"{item.group}: {item.kind[:40]}")
def test_a_named_credential_is_masked_in_every_form(example: Example, form: str) -> None:
    assert leaks(example, example.text)
    assert not leaks(example, FORMS[form](example.text))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "text", [*HARMLESS, *ORDINARY, *(text for texts in PROGRAMS.values() for text in texts)]
)
def test_a_harmless_text_is_left_alone(text: str, form: str) -> None:
    assert (FORMS[form](text) == plain(text, form)) == (text not in TOUCHED)


def plain(text: str, form: str) -> str:
    return f"the tool answered: {text} (at startup)" if form == "in a sentence" else text
