"""Tiny Client: one method, whose calls are model calls."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from agentool_otel.model.messages import message, text
from agentool_otel.model.operations import Inference, Usage
from agentool_otel.tracing.instrumentation import AgentInstrumentor, ClientCall, Patch, method


def _request(client: Any, arguments: dict[str, Any]) -> Inference:
    return Inference(provider="tiny", request_model=arguments.get("model"))


def _content(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"input": [message("user", [text(arguments["prompt"])])]}


class _Answer:
    """Reads the answer of one call: whole, or chunk by chunk where a client streams."""

    complete = True
    has_last_event = False

    def __init__(self, operation: Inference):
        self._operation = operation

    def add(self, chunk: Any) -> None:
        """Take a chunk of a stream; this client has none."""

    def whole(self, response: Any) -> None:
        self._operation = replace(
            self._operation,
            output=[message("assistant", [text(response["text"])])],
            usage=Usage(
                input_tokens=response["usage"]["prompt_tokens"],
                output_tokens=response["usage"]["completion_tokens"],
            ),
        )

    def operation(self) -> Inference:
        return self._operation


COMPLETION = ClientCall("a completion of Tiny Client", __name__, _request, _content, _Answer)


class TinyClientInstrumentor(AgentInstrumentor):
    framework = "tiny-client"
    supports = ("tiny-client >= 1.0",)
    patches = (Patch("tiny_client", "Client.complete", method(COMPLETION)),)
