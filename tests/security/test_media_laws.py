"""Recognition of media never lets a credential pass that the search would mask.

The law: wherever a credential is put around, into or beside media, what is recorded has no more of
it than without recognition, and a stored file has nothing of a credential in clear.
"""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.content.masking.credentials import mask_any
from agentool_otel.content.media.replacing import MediaKeeper
from tests.content.images import b64, data_url, image, noise
from tests.security.masking_examples import CREDENTIALS, Example, leaks, made
from tests.security.named_examples import NAMED

EXAMPLES = st.sampled_from([*CREDENTIALS, *NAMED])
URL = data_url(image(9_000))
BODY = b64(image(9_000, 1))
DECLARED = data_url(noise(9_000))
SAFE = base64.urlsafe_b64encode(image(9_000, 2)).decode()
MEDIA = st.sampled_from([URL, BODY, DECLARED, f"data:image/png;base64,{SAFE}", SAFE])
GLUE = st.sampled_from(["", " ", "\n", ".", ",", ";", '"', "'", "=", "==", ":", "/", "-", "_", "&"])
LAYOUTS = (
    "{media}{glue}{text}",
    "{text}{glue}{media}",
    "{text}{glue}{media}{glue}{text}",
    "{media}{glue}{text}{glue}{media}",
    "{head}{text}{glue}{body}",
    "{head}{half}{text}{rest}",
    "{head}{half}{glue}{text}{glue}{rest}",
    "{head}{text}",
    "data:{text};base64,{body}",
    "data:image/png;{text};base64,{body}",
    '<img alt="{text}" src="{media}">',
    "[{text}]({media})",
    '{{"a": "{media}", "b": "{text}"}}',
)


class Memory:
    """A store that keeps all bytes."""

    def __init__(self) -> None:
        self.data = b""

    def put(self, digest: str, data: bytes) -> str | None:
        raise AssertionError("no text is stored here")

    def put_chunks(self, digest: str, size: int, chunks: object) -> str | None:
        assert not isinstance(chunks, (str, bytes))
        self.data += b"".join(bytes(chunk) for chunk in chunks)  # type: ignore[attr-defined]
        return "there"


def laid_out(layout: str, text: str, media: str, glue: str, at: int) -> str:
    head, _, body = media.rpartition(",")
    head = f"{head}," if head else "data:image/png;base64,"
    at = at * 4
    return layout.format(
        text=text, media=media, glue=glue, head=head, body=body, half=body[:at], rest=body[at:]
    )


@pytest.mark.usefixtures("every_search")
@given(EXAMPLES, MEDIA, st.sampled_from(LAYOUTS), GLUE, st.integers(0, 3000), st.booleans())
def test_what_the_search_masks_is_not_recorded(
    example: Example, media: str, layout: str, glue: str, at: int, in_json: bool
) -> None:
    text = laid_out(layout, example.text, media, glue, at)
    text = json.dumps({"note": text}) if in_json else text
    memory = Memory()
    recorded = mask_any(MediaKeeper(memory).text(text))
    assert not leaks(example, recorded) or leaks(example, mask_any(text))
    assert not leaks(example, memory.data.decode("latin-1"))


@given(EXAMPLES, st.integers(1, 400), st.sampled_from(["image/png", "application/pdf", None]))
def test_a_credential_in_base64_is_no_media(
    example: Example, times: int, media_type: str | None
) -> None:
    data = f"{example.text}\n".encode() * times
    text = b64(data) if media_type is None else data_url(data, media_type)
    assert MediaKeeper(None).text(text) is text


@pytest.mark.parametrize("name", ["api_key", "password", "client_secret", "private-key"])
def test_what_has_the_name_of_a_credential_is_masked_as_a_whole(name: str) -> None:
    memory = Memory()
    keeper = MediaKeeper(memory)
    for text in (f"{name}={URL}", json.dumps({name: URL}), json.dumps(json.dumps({name: BODY}))):
        assert keeper.text(text) is text
    value = {name: URL}
    assert keeper.value(value) is value
    assert memory.data == b""


def test_the_secret_beside_an_id_stays_beside_it() -> None:
    """An id that has become the end of a body is still an id to the search."""
    key = f"AKIA{made(16, 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567')}"
    secret = made(40)
    text = f"{URL}{key} {secret}"
    assert secret not in mask_any(text)
    assert secret not in mask_any(MediaKeeper(None).text(text))
