"""Converse of Amazon Bedrock by boto3 and aioboto3, in a loop of the program's own."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from tests.situations.situations import QUESTION, SYSTEM, ToolFailed, cancel_when_asked, search_web

NEEDS = ("boto3",)
DISTRIBUTIONS = ("boto3",)
_IS_SYNC = find_spec("aioboto3") is None
IMPOSSIBLE = {
    "two_agents": "a client library has no agents",
    **dict.fromkeys(("asynchronous", "cancelled") if _IS_SYNC else (), "boto3 is synchronous"),
}
TRACERS = {
    "openinference": "openinference.instrumentation.bedrock:BedrockInstrumentor",
    "openllmetry": "opentelemetry.instrumentation.bedrock:BedrockInstrumentor",
}
DOUBLED = {("openllmetry", "stream"): "its span of a stream is not the current one, and has no id"}

_SCHEMA = {"type": "object", "properties": {"query": {"type": "string"}}}
_TOOL = {
    "name": "search_web",
    "description": "Search the web.",
    "inputSchema": {"json": _SCHEMA},
}


def _options(url: str) -> dict[str, Any]:
    return {
        "region_name": "us-east-1",
        "endpoint_url": url.removesuffix("/v1"),
        "aws_access_key_id": "none",
        "aws_secret_access_key": "none",
        "config": import_module("botocore.config").Config(retries={"total_max_attempts": 1}),
    }


def _client(url: str) -> Any:
    return import_module("boto3").client("bedrock-runtime", **_options(url))


def _asked(messages: list[Any]) -> dict[str, Any]:
    return {
        "modelId": "anthropic.claude-sonnet-5-v1:0",
        "system": [{"text": SYSTEM}],
        "messages": messages,
        "inferenceConfig": {"maxTokens": 1000},
        "toolConfig": {"tools": [{"toolSpec": _TOOL}]},
    }


def _question() -> list[Any]:
    return [{"role": "user", "content": [{"text": QUESTION}]}]


def _calls(message: Any) -> list[Any]:
    return [block["toolUse"] for block in message["content"] if "toolUse" in block]


def _text(message: Any) -> str:
    return "".join(block.get("text", "") for block in message["content"])


def _results(message: Any, tool: Any = search_web) -> list[Any]:
    results: list[Any] = []
    for call in _calls(message):
        result = {"toolUseId": call["toolUseId"]}
        try:
            result["content"] = [{"text": tool(**call["input"])}]
        except ToolFailed as error:
            result |= {"content": [{"text": f"failed: {error}"}], "status": "error"}
        results.append({"toolResult": result})
    return [message, {"role": "user", "content": results}]


def _run(url: str, tool: Any = search_web) -> str:
    messages, client = _question(), _client(url)
    try:
        while True:
            answer = client.converse(**_asked(messages))["output"]["message"]
            if not _calls(answer):
                return _text(answer)
            messages += _results(answer, tool)
    finally:
        client.close()


def plain(url: str) -> str:
    return _run(url)


parallel_tools = plain
model_error = plain


def tool_error(url: str) -> str:
    def fails(query: str) -> str:
        raise ToolFailed("no network")

    return _run(url, fails)


async def _run_async(url: str) -> str:
    messages = _question()
    session = import_module("aioboto3").Session()
    config = import_module("aiobotocore.config").AioConfig(retries={"total_max_attempts": 1})
    options = _options(url) | {"config": config}
    async with session.client("bedrock-runtime", **options) as client:
        while True:
            answer = (await client.converse(**_asked(messages)))["output"]["message"]
            if not _calls(answer):
                return _text(answer)
            messages += _results(answer)


if not _IS_SYNC:

    def asynchronous(url: str) -> str:
        return asyncio.run(_run_async(url))

    def cancelled(url: str) -> None:
        asyncio.run(cancel_when_asked(_run_async(url)))


def stream(url: str) -> list[str]:
    messages, client = _question(), _client(url)
    try:
        while True:
            answer, pieces = _joined(client.converse_stream(**_asked(messages))["stream"])
            if not _calls(answer):
                return pieces
            messages += _results(answer)
    finally:
        client.close()


def _joined(events: Iterable[Any]) -> tuple[Any, list[str]]:
    """Return the message of a stream, and the pieces of its text."""
    use: dict[str, Any] = {}
    pieces: list[str] = []
    for event in events:
        use |= event.get("contentBlockStart", {}).get("start", {}).get("toolUse", {})
        delta = event.get("contentBlockDelta", {}).get("delta", {})
        if "text" in delta:
            pieces.append(delta["text"])
        if "toolUse" in delta:
            use["input"] = use.get("input", "") + delta["toolUse"]["input"]
    if not use:
        return {"role": "assistant", "content": [{"text": "".join(pieces)}]}, pieces
    arguments = import_module("json").loads(use["input"])
    return {"role": "assistant", "content": [{"toolUse": use | {"input": arguments}}]}, pieces
