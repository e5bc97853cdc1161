"""Stored media are removed with the last recording that has their mark; texts never by a mark."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from agentool_otel.content.media.replacing import MediaKeeper
from agentool_otel.tracing.export.disk.stored_texts import mentioned_digests, referenced_media
from tests.content.images import data_url, image


def test_a_mark_refers_to_a_stored_image_and_never_to_a_text(tmp_path: Path) -> None:
    text = b"a stored text"
    digests = [sha256(data).hexdigest() for data in (image(), text, b"\xff gone")]
    (tmp_path / "content").mkdir()
    for digest, data in zip(digests[:2], (image(), text), strict=True):
        (tmp_path / "content" / digest).write_bytes(data)
    recording = tmp_path / "spans.jsonl"
    marks = [f"media-image-png-13-bytes-sha256-{digest}" for digest in digests[1:]]
    recording.write_text(f'{{"a":"{MediaKeeper(None).text(data_url(image()))}"}}\n{marks}\n')
    assert referenced_media(recording, tmp_path) == {digests[0]}
    assert {digest.decode() for digest in mentioned_digests(recording)} == set(digests)
