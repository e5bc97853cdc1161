"""The loopback model understands clients of other languages."""

from __future__ import annotations

import json
import subprocess
import sys
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import pytest

from agentool_otel.model.operations import Inference
from agentool_otel.providers.anthropic import MessagesReading
from agentool_otel.testing.loopback_model import LoopbackModel, ToolCall, Turn


def test_a_body_in_chunks_is_read() -> None:
    """Java's clients send no content length."""
    body = json.dumps({"messages": [{"role": "user", "content": "Where?"}]}).encode()
    with LoopbackModel("There.") as model:
        connection = HTTPConnection(urlsplit(model.base_url).netloc)
        connection.request(
            "POST", "/v1/chat/completions", iter([body[:9], body[9:]]), encode_chunked=True
        )
        answer = json.loads(connection.getresponse().read())
        connection.close()
    assert model.requests[0].last_user == "Where?"
    assert answer["choices"][0]["message"]["content"] == "There."


def ask(model: LoopbackModel, path: str, **body: Any) -> tuple[int, dict[str, str], str]:
    connection = HTTPConnection(urlsplit(model.root_url).netloc)
    requests = {"model": "claude", "messages": [{"role": "user", "content": "Where?"}]}
    connection.request("POST", path, json.dumps(requests | body))
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, {name.lower(): item for name, item in answer.getheaders()}, text


def events_of(text: str) -> list[dict[str, Any]]:
    lines = [line for line in text.splitlines() if line.startswith("data: ")]
    return [json.loads(line.removeprefix("data: ")) for line in lines]


THINKING = Turn(
    text="There.",
    reasoning="Where indeed?",
    tool_calls=(ToolCall("look", {"at": "map"}, "toolu_1"),),
    input_tokens=10,
    output_tokens=5,
    cached_tokens=3,
    cache_write_tokens=2,
    reasoning_tokens=4,
)


def test_a_message_has_blocks_a_reason_and_the_tokens_that_were_not_cached() -> None:
    with LoopbackModel(THINKING) as model:
        message = json.loads(ask(model, "/v1/messages?beta=true")[2])
    assert [block["type"] for block in message["content"]] == ["thinking", "text", "tool_use"]
    assert message["content"][2]["input"] == {"at": "map"}
    assert message["content"][0]["signature"]
    assert message["stop_reason"] == "tool_use"
    assert message["usage"]["input_tokens"] == 5
    assert message["usage"]["cache_read_input_tokens"] == 3
    assert message["usage"]["cache_creation_input_tokens"] == 2


def test_messages_in_events_are_the_same() -> None:
    with LoopbackModel(THINKING, THINKING) as model:
        document = json.loads(ask(model, "/v1/messages")[2])
        events = events_of(ask(model, "/v1/messages", stream=True)[2])
    reading = MessagesReading(Inference())
    for event in events:
        reading.add(event)
    messages_reading = MessagesReading(Inference())
    messages_reading.whole(document)
    assert reading.complete
    assert reading.operation().output == messages_reading.operation().output
    assert reading.operation().usage == messages_reading.operation().usage


def test_messages_fail_in_the_shapes_of_their_api() -> None:
    busy = Turn(status=429, error="slow down", headers={"retry-after": "0"})
    with LoopbackModel(busy, Turn(error_after=3, error="overloaded")) as model:
        status, headers, text = ask(model, "/v1/messages")
        events = events_of(ask(model, "/v1/messages", stream=True)[2])
    error = {"type": "rate_limit_error", "message": "slow down"}
    assert (status, headers["retry-after"]) == (429, "0")
    assert json.loads(text) == {"type": "error", "error": error}
    assert events[-1] == {
        "type": "error",
        "error": {"type": "overloaded_error", "message": "overloaded"},
    }


def test_a_response_calls_custom_and_namespaced_tools() -> None:
    patch = ToolCall("apply_patch", "*** Begin Patch", "call_1", custom=True)
    lookup = ToolCall("lookup", {"key": "a"}, "call_2", namespace="mcp__demo")
    with LoopbackModel(Turn(tool_calls=(patch, lookup))) as model:
        custom, function = json.loads(ask(model, "/v1/responses", input="Change it.")[2])["output"]
    assert (custom["type"], custom["input"]) == ("custom_tool_call", "*** Begin Patch")
    assert (function["type"], function["namespace"]) == ("function_call", "mcp__demo")


def test_custom_input_is_streamed() -> None:
    patch = ToolCall("apply_patch", "*** Begin Patch", custom=True)
    with LoopbackModel(Turn(tool_calls=(patch,))) as model:
        events = events_of(ask(model, "/v1/responses", input="Change it.", stream=True)[2])
    kind = "response.custom_tool_call_input.delta"
    pieces = [event["delta"] for event in events if event["type"] == kind]
    assert "".join(pieces) == "*** Begin Patch"


def test_a_message_of_a_response_has_its_phase() -> None:
    with LoopbackModel(Turn(text="I look.", phase="commentary"), "There.") as model:
        first, second = (
            json.loads(ask(model, "/v1/responses", input="Where?")[2])["output"][0]
            for _ in range(2)
        )
    assert (first.get("phase"), second.get("phase")) == ("commentary", None)


def test_counting_tokens_takes_no_turn() -> None:
    with LoopbackModel("There.") as model:
        count = json.loads(ask(model, "/v1/messages/count_tokens")[2])
        message = json.loads(ask(model, "/v1/messages")[2])
    assert count["input_tokens"] > 0
    assert message["content"][0]["text"] == "There."


def test_an_offered_tool_is_called_once_before_the_answer() -> None:
    tool = {"name": "look", "input_schema": {"type": "object", "properties": {"at": {}}}}
    with LoopbackModel() as model:
        first = json.loads(ask(model, "/v1/messages", tools=[tool])[2])
        result = {"type": "tool_result", "tool_use_id": first["content"][0]["id"]}
        turns = [{"role": "user", "content": [result]}]
        second = json.loads(ask(model, "/v1/messages", tools=[tool], messages=turns)[2])
    assert first["content"][0]["input"] == {"at": "Where?"}
    assert second["stop_reason"] == "end_turn"


def test_the_environment_names_both_kinds_of_clients() -> None:
    with LoopbackModel() as model:
        env = model.env()
    assert env["OPENAI_BASE_URL"] == f"{env['ANTHROPIC_BASE_URL']}/v1"
    assert env["ANTHROPIC_API_KEY"]


@pytest.mark.parametrize("port", ["taken", "70000"])
def test_a_port_that_cannot_be_used_is_one_line(port: str) -> None:
    with LoopbackModel() as loopback_model:
        number = str(urlsplit(loopback_model.base_url).port) if port == "taken" else port
        done = subprocess.run(
            [sys.executable, "-m", "agentool_otel.testing.loopback_model", "--port", number],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert (done.returncode, done.stdout) == (1, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"error: port {number} cannot be used: ")
    assert line.endswith("; hint: --port 0 takes a free one")


_PATHS = ("/v1/chat/completions", "/v1/responses", "/v1/embeddings", "/v1/messages")


@pytest.mark.parametrize("path", [*_PATHS, "/v1beta/models/m:generateContent", "/model/m/converse"])
@pytest.mark.parametrize(
    "body",
    [
        *("[1, 2]", '"x"', "3", "null", "{", "\udcff", "[" * 100_000),
        *('{"messages": [1]}', '{"tools": [7]}', '{"contents": 5}'),
        '{"messages": [{"role": "user", "content": [1]}]}',
    ],
    ids=lambda body: ascii(body[:20]),
)
def test_what_is_no_request_is_refused(path: str, body: str, capfd: Any) -> None:
    with LoopbackModel() as model:
        connection = HTTPConnection(urlsplit(model.root_url).netloc)
        connection.request("POST", path, body.encode(errors="surrogateescape"))
        answer = connection.getresponse()
        error = json.loads(answer.read())["error"]
        connection.close()
    assert (answer.status, error["type"]) == (400, "invalid_request_error")
    assert capfd.readouterr().err == ""
