"""Media in content are recognised once, replaced by a mark and kept apart."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.content.encoding.encoder import encode, jsonable
from agentool_otel.content.fitting.offload import Folder
from agentool_otel.content.masking import credentials
from agentool_otel.content.media.recognition import LEAST
from agentool_otel.content.media.replacing import MediaKeeper
from agentool_otel.content.policy import Policy
from agentool_otel.semconv import gen_ai
from tests.content.images import b64, data_url, image, noise

ARGUMENTS = gen_ai.TOOL_CALL_ARGUMENTS
KEPT = MediaKeeper(None)
LARGE = image()
KEY = "sk-proj-" + "k3J9fQ2mXz7LpW4vB8nT" * 2
LINES = "".join(f"API_KEY_{number}={KEY}\n" for number in range(400)).encode()


def mark(data: bytes, media_type: str = "image-png") -> str:
    return f"media-{media_type}-{len(data)}-bytes-sha256-{sha256(data).hexdigest()}"


def test_a_data_url_keeps_its_head() -> None:
    assert KEPT.text(data_url(LARGE)) == f"data:image/png;base64,{mark(LARGE)}"


@pytest.mark.parametrize("size", [30_000, 30_001, 30_002, 49_152, 200_000])
def test_bodies_of_every_length_are_media(size: int) -> None:
    data = image(size)
    assert KEPT.text(b64(data)) == mark(data)


@pytest.mark.parametrize(
    ("first", "media_type"),
    [
        (b"\x89PNG\r\n\x1a\n", "image-png"),
        (b"\xff\xd8\xff\xe0", "image-jpeg"),
        (b"GIF89a", "image-gif"),
        (b"RIFF\0\0\0\0WEBPVP8 ", "image-webp"),
        (b"RIFF\0\0\0\0WAVEfmt ", "audio-wav"),
        (b"\0\0\0 ftypisom", "video-mp4"),
        (b"OggS\0", "audio-ogg"),
        (b"%PDF-1.7\n", "application-pdf"),
    ],
)
def test_bare_base64_is_media_by_its_first_bytes(first: bytes, media_type: str) -> None:
    data = first + noise(20_000)
    assert KEPT.text(b64(data)) == mark(data, media_type)


@pytest.mark.parametrize("media_type", ["image/png", "audio/wav", "video/mp4", "application/pdf"])
def test_a_declared_type_is_enough_for_binary_data(media_type: str) -> None:
    data = noise(20_000)
    expected = mark(data, media_type.replace("/", "-"))
    assert KEPT.text(data_url(data, media_type)).endswith(expected)


def test_base64_for_urls_is_media_as_well() -> None:
    body = base64.urlsafe_b64encode(LARGE).decode()
    assert "_" in body
    assert KEPT.text(f"data:image/png;base64,{body}") == f"data:image/png;base64,{mark(LARGE)}"


@pytest.mark.parametrize(
    "text",
    [
        b64(noise(20_000)),
        data_url(image(5_000)),
        data_url(LARGE, "text/plain"),
        data_url(noise(20_000), "application/json"),
        data_url(noise(20_000), "image/svg+xml"),
        data_url(LINES),
        data_url(LINES.decode().encode("utf-16")),
        data_url(b"\x89PNG" + LINES).replace("base64,", "base64, "),
        data_url(b"openssh-key-v1\0" + noise(20_000)),
        data_url(b"0\x82" + noise(20_000)),
        b64(b"%PDF-1.4\n" + LINES),
        data_url(LARGE)[:-1],
        data_url(LARGE).replace(b64(LARGE)[5000:5004], "*+*+"),
        data_url(LARGE).replace(b64(LARGE)[5000:5004], "+_+_"),
        data_url(noise(20_000))[:-2] + "\ud800=",
        f"{data_url(LARGE)} is an image",
        f"![an image]({data_url(LARGE)})",
        f'"{data_url(LARGE)}password":"hunter"',
        f"api_key={data_url(LARGE)}",
        f'{{"client_secret": "{data_url(LARGE)}"}}',
        "data:image/png;base64," + "é" * 9000,
        "a" * 20_000,
        "0123456789abcdef" * 2000,
        "",
    ],
)
def test_what_only_resembles_media_stays_text(text: str) -> None:
    assert KEPT.text(text) is text


@pytest.mark.parametrize("levels", [0, 1, 2, 3])
def test_media_are_found_in_json_at_any_depth(levels: int) -> None:
    def nested(text: str) -> str:
        for _ in range(levels):
            text = json.dumps({"note": [text, 'a "quote"']})
        return text

    html = "<img src=\"{}\"> and url('{}') é '{}'\n"
    text = nested(html.format(data_url(LARGE), data_url(image(9000, 1)), b64(image(8000, 2))))
    found = html.format(
        f"data:image/png;base64,{mark(LARGE)}",
        f"data:image/png;base64,{mark(image(9000, 1))}",
        mark(image(8000, 2)),
    )
    assert KEPT.text(text) == nested(found)


@given(
    st.lists(
        st.text(max_size=20)
        | st.sampled_from([data_url(LARGE), b64(image(9000)), "x" * 5000, "=", "data:", b64(LINES)])
    )
)
def test_all_but_media_stays_in_its_order(pieces: list[str]) -> None:
    text = json.dumps(pieces)
    expected = text.replace(b64(LARGE), mark(LARGE)).replace(b64(image(9000)), mark(image(9000)))
    assert KEPT.text(text) == expected


@pytest.mark.parametrize(
    "part",
    [
        {"type": "blob", "mime_type": "audio/pcm", "content": None},
        {"type": "base64", "media_type": "audio/pcm", "data": None},
        {"type": "audio", "mimeType": "audio/pcm", "data": None},
        {"type": "file", "mediaType": "audio/pcm", "data": None},
    ],
)
def test_a_member_beside_a_body_declares_its_type(part: dict[str, Any]) -> None:
    data = noise(20_000)
    given = {name: b64(data) if value is None else value for name, value in part.items()}
    expected = {
        name: mark(data, "audio-pcm") if value is None else value for name, value in part.items()
    }
    before = json.dumps(given)
    assert KEPT.value([{"content": (given,)}]) == [{"content": [expected]}]
    assert json.dumps(given) == before


def test_a_declared_type_does_not_excuse_what_follows_the_body() -> None:
    part = {"mime_type": "image/png", "data": f"{b64(noise(20_000))}.{KEY}"}
    assert KEPT.value(part) is part


# ------------------------------------------------------------------------------------- storage


def test_the_bytes_are_stored_under_their_hash(tmp_path: Path) -> None:
    keeper = MediaKeeper(Folder(tmp_path / "content"))
    for _ in range(2):
        keeper.text(json.dumps([data_url(LARGE), b64(image(8000))]))
    files = {path.name: path.read_bytes() for path in (tmp_path / "content").iterdir()}
    assert files.pop(sha256(LARGE).hexdigest()) == LARGE
    assert files.pop(sha256(image(8000)).hexdigest()) == image(8000)
    assert set(files) <= {".gitignore"}


def test_a_stored_image_is_not_decoded_again(tmp_path: Path) -> None:
    store, data = Folder(tmp_path), image()
    digest = sha256(data).hexdigest()
    assert store.put(digest, data)

    class Unread:
        def __iter__(self) -> Iterator[bytes]:
            raise AssertionError("read although it is stored")

    assert store.put_chunks(digest, len(data), Unread()) == str(tmp_path / digest)


def test_a_store_that_fails_costs_only_the_file(tmp_path: Path) -> None:
    (tmp_path / "content").write_text("a file")
    keeper = MediaKeeper(Folder(tmp_path / "content"))
    assert keeper.text(b64(LARGE)) == mark(LARGE)


# -------------------------------------------------------------------------------------- policy


class Part:
    def __init__(self, data: Any):
        self.__dict__.update(data=data)


BYTES = {"$unencodable": "binary", "$length": len(LARGE)}
OF_BYTES = {**BYTES, "$media_type": "image/png", "$sha256": sha256(LARGE).hexdigest()}


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (data_url(LARGE), f"data:image/png;base64,{mark(LARGE)}"),
        (b64(LARGE), mark(LARGE)),
        ([{"type": "image_url", "image_url": {"url": data_url(LARGE)}}], None),
        ({"source": {"media_type": "image/png", "data": b64(LARGE)}, "x": object()}, None),
        (LARGE, {"$type": "bytes", **OF_BYTES}),
        (bytearray(LARGE), {"$type": "bytearray", **OF_BYTES}),
        (memoryview(LARGE), {"$type": "memoryview", **OF_BYTES}),
        (memoryview(LARGE).cast("b"), {"$type": "memoryview", **OF_BYTES}),
        (memoryview(LARGE)[::2], {"$type": "memoryview", **BYTES, "$length": len(LARGE) // 2}),
        (noise(20_000), {"$type": "bytes", **BYTES, "$length": 20_000}),
        (type("Text", (str,), {})(data_url(LARGE)), f"data:image/png;base64,{mark(LARGE)}"),
        (json.dumps({"a": b64(LARGE)}), json.dumps({"a": mark(LARGE)})),
    ],
)
def test_values_of_tools_are_recorded_without_media(value: Any, expected: Any) -> None:
    text = Policy(capture=True).encoded(ARGUMENTS, value)
    assert text is not None
    assert b64(LARGE) not in text
    if expected is None:
        assert mark(LARGE) in text
    else:
        assert json.loads(text) == expected


def test_a_large_value_with_an_image_keeps_all_else() -> None:
    value = {"rows": [{"id": number, "text": "x" * 50} for number in range(5000)], "image": None}
    text = Policy(capture=True).encoded(ARGUMENTS, value | {"image": data_url(LARGE)})
    expected = encode(value | {"image": f"data:image/png;base64,{mark(LARGE)}"})
    assert text == expected


@pytest.mark.parametrize("as_attribute", [False, True])
def test_the_search_for_credentials_does_not_see_media(
    monkeypatch: pytest.MonkeyPatch, as_attribute: bool
) -> None:
    searched: list[int] = []
    for name in ("sees", "find_shapes"):
        before: Callable[[str], Any] = getattr(credentials, name)

        def search(text: str, before: Callable[[str], Any] = before) -> Any:
            searched.append(len(text))
            return before(text)

        monkeypatch.setattr(credentials, name, search)
    value = [{"text": f"the key is {KEY}"}, {"url": data_url(LARGE)}]
    if as_attribute:
        attributes: dict[str, Any] = {ARGUMENTS: json.dumps(value)}
        Policy(capture=True).clean(attributes)
        text = attributes[ARGUMENTS]
    else:
        text = Policy(capture=True).encoded(ARGUMENTS, value) or ""
    assert KEY not in text
    assert mark(LARGE) in text
    assert searched
    assert max(searched) < LEAST


def test_without_capture_nothing_is_read_or_stored(tmp_path: Path) -> None:
    policy = Policy(capture=False, store=Folder(tmp_path / "content"))
    attributes: dict[str, Any] = {ARGUMENTS: json.dumps(data_url(LARGE))}
    policy.clean(attributes)
    assert policy.encoded(ARGUMENTS, LARGE) is None
    assert attributes == {}
    assert not (tmp_path / "content").exists()


def test_a_hook_gets_the_whole_text(tmp_path: Path) -> None:
    texts: list[str] = []

    def redact(name: str, text: str) -> str:
        texts.append(text)
        return text.replace("a dog", "***")

    policy = Policy(capture=True, redact=redact, store=Folder(tmp_path))
    value = ["a dog", data_url(LARGE)]
    redacted: list[str] = []
    text = policy.encoded(ARGUMENTS, value, redacted)
    attributes: dict[str, Any] = {ARGUMENTS: json.dumps(value)}
    policy.clean(attributes)
    assert [json.loads(text) for text in texts] == [value, value]
    assert json.loads(text or "") == ["***", f"data:image/png;base64,{mark(LARGE)}"]
    assert json.loads(attributes[ARGUMENTS]) == json.loads(text or "")
    assert redacted == [ARGUMENTS]
    assert (tmp_path / sha256(LARGE).hexdigest()).read_bytes() == LARGE


# --------------------------------------------------------------------------- all other content

PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=9)
    | st.sampled_from(["y" * 9000, "\ud800" + "é" * 9000, "1 2" * 40_000, b64(noise(20_000))]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.tuples(inner)
        | st.dictionaries(st.text(max_size=4) | st.integers(), inner, max_size=4)
    ),
)


@given(PLAIN)
def test_values_without_media_are_encoded_as_ever(value: Any) -> None:
    assert Policy(capture=True).encoded(ARGUMENTS, [value]) == credentials.masked(encode([value]))


@given(PLAIN)
def test_a_copy_is_the_value_of_its_json(value: Any) -> None:
    assert encode(jsonable(value)) == encode(json.loads(encode(value)))
