"""Media in the spans of other libraries are replaced before anything leaves."""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from opentelemetry.sdk.trace import TracerProvider

from agentool_otel.content.fitting.offload import Folder
from agentool_otel.content.policy import Policy
from agentool_otel.tracing.export.masking.spans import Masking
from tests.content.images import b64, data_url, image

PNG = image(40_000)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (data_url(PNG), "data:image/png;base64,{}"),
        (json.dumps([{"url": data_url(PNG)}]), '[{{"url": "data:image/png;base64,{}"}}]'),
        (PNG, "{}"),
        ((data_url(PNG), "b"), ["data:image/png;base64,{}", "b"]),
    ],
)
@pytest.mark.parametrize("name", ["input.value", "acme.screenshot"])
def test_media_of_other_libraries_are_replaced(
    tmp_path: Path, name: str, value: Any, expected: Any
) -> None:
    digest = sha256(PNG).hexdigest()
    mark = f"media-image-png-{len(PNG)}-bytes-sha256-{digest}"
    with TracerProvider(shutdown_on_exit=False).get_tracer("a").start_as_current_span("b") as span:
        span.set_attribute(name, value)
    clean: Any = Masking(Policy(capture=True, store=Folder(tmp_path)))(span)  # type: ignore[arg-type]
    texts = [expected] if isinstance(expected, str) else expected
    wanted = [text.format(mark) for text in texts]
    assert clean.attributes[name] == (wanted[0] if isinstance(expected, str) else wanted)
    assert (tmp_path / digest).read_bytes() == PNG


def test_without_content_no_bytes_of_other_libraries_are_stored(tmp_path: Path) -> None:
    with TracerProvider(shutdown_on_exit=False).get_tracer("a").start_as_current_span("b") as span:
        span.set_attributes({"input.value": data_url(PNG), "acme.screenshot": data_url(PNG)})
    policy = Policy(capture=False, store=Folder(tmp_path / "content"))
    clean: Any = Masking(policy)(span)  # type: ignore[arg-type]
    assert list(clean.attributes) == ["acme.screenshot"]
    assert b64(PNG)[100:200] not in clean.attributes["acme.screenshot"]
    assert not (tmp_path / "content").exists()
