"""Media in the messages of model calls, in the shape of each provider's API."""

from __future__ import annotations

import base64
import json
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from agentool_otel.content.fitting.offload import Folder
from agentool_otel.content.policy import Policy
from agentool_otel.model.messages import message
from agentool_otel.model.operations import Inference, Operation
from agentool_otel.providers import anthropic, bedrock, google, openai_chat, openai_responses
from agentool_otel.providers.blocks import parts_of
from agentool_otel.tracing.instrumentation.client_calls import ClientCall, start
from agentool_otel.tracing.spans.settings import settings
from tests.content.images import b64, data_url, image, noise

PNG = image(40_000)
SOUND = noise(40_000)
FILE = b"%PDF-1.7\n" + noise(40_000)
URL_SAFE = base64.urlsafe_b64encode(PNG).decode()


def _chat(*parts: Any) -> dict[str, Any]:
    return openai_chat.content({"messages": [{"role": "user", "content": [*parts]}]})


def _responses(*parts: Any) -> dict[str, Any]:
    return openai_responses.content({"input": [{"role": "user", "content": [*parts]}]})


def _anthropic(*parts: Any) -> dict[str, Any]:
    return anthropic.content({"messages": [{"role": "user", "content": [*parts]}]})


def _google(*parts: Any) -> dict[str, Any]:
    return google.content({"contents": [{"role": "user", "parts": [*parts]}]})


def _bedrock(*parts: Any) -> dict[str, Any]:
    return bedrock.content({"messages": [{"role": "user", "content": [*parts]}]})


def _blocks(*parts: Any) -> dict[str, Any]:
    return {"input": [message("user", parts_of([*parts]))]}


def _source(data: bytes, media_type: str) -> dict[str, Any]:
    return {"type": "base64", "media_type": media_type, "data": b64(data)}


def _inline(data: Any, media_type: str = "image/png") -> dict[str, Any]:
    return {"inlineData": {"mimeType": media_type, "data": data}}


SHAPES: dict[str, tuple[dict[str, Any], bytes]] = {
    "image_url": (_chat({"type": "image_url", "image_url": {"url": data_url(PNG)}}), PNG),
    "random bytes": (_chat({"type": "image_url", "image_url": {"url": data_url(SOUND)}}), SOUND),
    "input_audio": (
        _chat({"type": "input_audio", "input_audio": {"data": b64(SOUND), "format": "wav"}}),
        SOUND,
    ),
    "file_data": (
        _chat({"type": "file", "file": {"file_data": data_url(FILE, "application/pdf")}}),
        FILE,
    ),
    "bare file_data": (_chat({"type": "file", "file": {"file_data": b64(FILE)}}), FILE),
    "input_image": (_responses({"type": "input_image", "image_url": data_url(PNG)}), PNG),
    "input_file": (
        _responses({"type": "input_file", "filename": "a.pdf", "file_data": b64(FILE)}),
        FILE,
    ),
    "image source": (_anthropic({"type": "image", "source": _source(PNG, "image/png")}), PNG),
    "document source": (
        _anthropic({"type": "document", "source": _source(FILE, "application/pdf")}),
        FILE,
    ),
    "tool result": (
        _anthropic(
            {
                "type": "tool_result",
                "tool_use_id": "1",
                "content": [{"type": "image", "source": _source(PNG, "image/png")}],
            }
        ),
        PNG,
    ),
    "inlineData": (_google(_inline(URL_SAFE)), PNG),
    "inline_data": (
        _google(SimpleNamespace(inline_data=SimpleNamespace(mime_type="image/png", data=PNG))),
        PNG,
    ),
    "inline_data, random": (_google(_inline(SOUND, "audio/pcm")), SOUND),
    "Bedrock": (_bedrock({"image": {"format": "png", "source": {"bytes": PNG}}}), PNG),
    "LangChain": (_blocks({"type": "image", "base64": b64(PNG), "mime_type": "image/png"}), PNG),
    "MCP": (_blocks({"type": "image", "data": b64(SOUND), "mimeType": "image/png"}), SOUND),
    "Vercel": (_blocks({"type": "file", "data": b64(PNG), "mediaType": "image/png"}), PNG),
}
CALLED = "a call"


def called(content: dict[str, Any]) -> None:
    """Make a model call with some content, which answers with the same."""

    class Reading:
        complete = has_last_event = True

        def __init__(self, request: Inference):
            self.request = request

        def whole(self, response: Any) -> None: ...

        def add(self, chunk: Any) -> None: ...

        def operation(self) -> Operation:
            return self.request

    def request(owner: Any, parameters: dict[str, Any]) -> Operation:
        return Inference(provider="openai", request_model="m")

    call = ClientCall(CALLED, "tests", request, lambda _: content, Reading)
    ending = start(call, None, {})
    assert ending is not None
    ending.whole(None)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("keeps_open", [False, True])
def test_an_image_is_recorded_by_type_size_and_hash(
    spans: Any, tmp_path: Path, shape: str, keeps_open: bool
) -> None:
    content, data = SHAPES[shape]
    before = repr(content)
    settings.configure(policy=Policy(capture=True, store=Folder(tmp_path)))
    settings.on_described = (lambda _: None) if keeps_open else None
    settings.infer_runs = False
    called(content)
    text = spans.attributes()["gen_ai.input.messages"]
    digest = sha256(data).hexdigest()
    assert text.count(f"-{len(data)}-bytes-sha256-{digest}") == 1
    assert b64(data)[100:200] not in text
    assert len(text) < 500
    assert (tmp_path / digest).read_bytes() == data
    assert repr(content) == before


@pytest.mark.parametrize("shape", SHAPES)
def test_nothing_of_an_image_is_recorded_without_content(
    spans: Any, tmp_path: Path, shape: str
) -> None:
    content, data = SHAPES[shape]
    settings.configure(policy=Policy(capture=False, store=Folder(tmp_path / "content")))
    settings.infer_runs = False
    called(content)
    attributes = json.dumps(spans.attributes())
    assert sha256(data).hexdigest() not in attributes
    assert b64(data)[100:200] not in attributes
    assert not (tmp_path / "content").exists()


@pytest.mark.parametrize("shape", SHAPES)
def test_a_hook_gets_the_text_that_it_got_before(spans: Any, tmp_path: Path, shape: str) -> None:
    content, data = SHAPES[shape]
    texts: list[str] = []

    def redact(name: str, text: str) -> str:
        texts.append(text)
        return text

    settings.configure(policy=Policy(capture=True, redact=redact, store=Folder(tmp_path)))
    settings.infer_runs = False
    called(content)
    [text] = texts
    if "inline_data" in shape:
        assert f'\\"$length\\":{len(data)}' in text
    else:
        assert b64(data) in text or URL_SAFE in text
        assert sha256(data).hexdigest() in spans.attributes()["gen_ai.input.messages"]
