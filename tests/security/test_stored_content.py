"""Stored content is ours or it is not read.

A file of spans is untrusted: it may name any place as the store of a shortened text. Nothing is
opened because of it.
"""

from __future__ import annotations

import json
import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.reading.sources import offloaded
from agentool_otel.reading.sources.offloaded import restore_texts
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.semconv import agentool

needs_posix = pytest.mark.skipif(os.name != "posix", reason="pipes and links of POSIX")


def noted(stored: object, data: bytes, **second: object) -> dict[str, Any]:
    """Return the attributes of a text that was stored somewhere."""
    note = {"stored": stored, "sha256": sha256(data).hexdigest(), "bytes": len(data), **second}
    return {"a": "short", agentool.CONTENT_SHORTENED: json.dumps({"a": note})}


@pytest.fixture
def secret(tmp_path: Path) -> bytes:
    """The content of a file beside the folder of a recording, which the recording knows."""
    data = os.urandom(20).hex().encode()
    (tmp_path / "secret").write_bytes(data)
    (tmp_path / "recordings" / "content").mkdir(parents=True)
    (tmp_path / "recordings" / "spans.jsonl").write_bytes(b"{}\n")
    open_source(tmp_path / "recordings")
    return data


def test_only_the_folder_of_the_recording_is_looked_into(tmp_path: Path, secret: bytes) -> None:
    content = tmp_path / "recordings" / "content"
    for stored in (tmp_path / "secret", content / ".." / ".." / "secret", "secret", "/dev/zero"):
        text = noted(str(stored), secret)
        assert restore_texts(text) is text


def test_offloaded_texts_of_a_moved_recording_are_found(tmp_path: Path, secret: bytes) -> None:
    content = tmp_path / "recordings" / "content"
    (content / sha256(secret).hexdigest()).write_bytes(secret)
    assert restore_texts(noted("/was/there/before", secret)) == {"a": secret.decode()}


@pytest.mark.parametrize("where", ["file://{}/off/../secret", "file://{}/off", "file://{}"])
def test_a_url_is_read_below_the_offload_under_the_hash_alone(
    tmp_path: Path, secret: bytes, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("fsspec")
    (tmp_path / "off").mkdir()
    monkeypatch.setenv("AGENTOOL_OFFLOAD", f"file://{tmp_path}/off")
    text = noted(where.format(tmp_path), secret)
    assert restore_texts(text) is text
    (tmp_path / "off" / sha256(secret).hexdigest()).write_bytes(secret)
    assert restore_texts(text) == {"a": secret.decode()}


def test_of_a_url_no_more_is_read_than_was_stored(
    tmp_path: Path, secret: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("fsspec")
    monkeypatch.setenv("AGENTOOL_OFFLOAD", f"file://{tmp_path}")
    with (tmp_path / sha256(secret).hexdigest()).open("wb") as endless:
        endless.truncate(1 << 40)
    text = noted("anywhere", secret)
    assert restore_texts(text) is text


@needs_posix
@pytest.mark.parametrize("kind", ["link", "folder linked", "pipe", "device", "sparse"])
def test_only_a_regular_file_of_the_right_size_is_read(
    tmp_path: Path, secret: bytes, kind: str
) -> None:
    content = tmp_path / "recordings" / "content"
    place = content / sha256(secret).hexdigest()
    if kind == "link":
        place.symlink_to(tmp_path / "secret")
    elif kind == "folder linked":
        content.rmdir()
        (tmp_path / "secret").rename(tmp_path / place.name)
        content.symlink_to(tmp_path)
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "device":
        place.symlink_to("/dev/zero")
    else:
        with place.open("wb") as sparse:
            sparse.truncate(6 << 30)
    text = noted(str(place), secret)
    assert restore_texts(text) is text


def test_a_size_beyond_the_limit_is_not_read(tmp_path: Path, secret: bytes) -> None:
    for size in (offloaded.LARGEST + 1, -1, True, 1e300, "9"):
        place = tmp_path / "recordings" / "content" / sha256(secret).hexdigest()
        with place.open("wb") as sparse:
            sparse.truncate(int(size) if size == offloaded.LARGEST + 1 else 1)
        text = noted(str(place), secret, bytes=size)
        assert restore_texts(text) is text


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(json_values | st.fixed_dictionaries({"a": st.fixed_dictionaries(
    {}, optional={"stored": json_values, "sha256": json_values, "bytes": json_values}
)}))  # fmt: skip
def test_any_span_is_read_without_errors_or_invented_data(note: Any) -> None:
    texts = {"a": "short", agentool.CONTENT_SHORTENED: json.dumps(note)}
    assert restore_texts(texts) is texts
