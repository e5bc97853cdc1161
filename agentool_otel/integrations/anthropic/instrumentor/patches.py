"""Anthropic's client: messages, plain, parsed and streamed, and the tool runner.

    messages.create, parse     chat; sync and async, beta or not, raw responses, `stream=True`
    messages.stream            chat, from where the manager is entered, which sends the request
    beta.messages.tool_runner  invoke_agent around its run, the model calls as above inside
    a tool of the runner       execute_tool, under the id of the call; called by hand, without one

Threads (`beta.messages.thread`) make their calls through `create`. The clients for Bedrock, Vertex
and Foundry share these methods.

Not seen: `count_tokens` and batches, which call no model now; managed agents (`beta.sessions`),
whose model is called by the server; text completions, which are gone since 1.0. A runner that was
made before `instrument()` has no `invoke_agent`, but all that is inside. With 0.x, what `create`
returns with `stream=True` is no instance of `Stream` for `isinstance`.

Source: anthropic-sdk-python resources/{messages,beta/messages}/messages.py, lib/streaming,
lib/tools, lib/{bedrock,vertex,foundry} at 0.104, 1.0, 1.17 and 2.12.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.integrations.anthropic.instrumentor import tool_runner
from agentool_otel.integrations.anthropic.instrumentor.clients import client_fields
from agentool_otel.model.operations import Inference
from agentool_otel.providers import anthropic as messages
from agentool_otel.providers.fields import get
from agentool_otel.tracing.instrumentation.client_calls import (
    ClientCall,
    async_method,
    entered,
    method,
)
from agentool_otel.tracing.instrumentation.instrumentor import AgentInstrumentor, Patch

__all__ = ["AnthropicInstrumentor"]

_SCOPE = "agentool_otel.instrumentation.anthropic.instrumentor"
"""Recordings hold this name, so it stays when the module moves."""


def _operation(resource: Any, parameters: dict[str, Any]) -> Inference:
    return Inference(**client_fields(get(resource, "_client")), **messages.request(parameters))


_CALL = ClientCall("a message", _SCOPE, _operation, messages.content, messages.MessagesReading)
_STREAMED = entered(_CALL._replace(stream_in="_raw_stream"))


def _resource(module: str, optional: bool = False) -> tuple[Patch, ...]:
    """Return the patches of `Messages` and `AsyncMessages` in a module."""
    return (
        Patch(module, "Messages.create", method(_CALL), optional),
        Patch(module, "AsyncMessages.create", async_method(_CALL), optional),
        Patch(module, "Messages.parse", method(_CALL), optional=True),
        Patch(module, "AsyncMessages.parse", async_method(_CALL), optional=True),
        Patch(module, "Messages.stream", _STREAMED, optional),
        Patch(module, "AsyncMessages.stream", _STREAMED, optional),
    )


_PLATFORMS = ("bedrock", "vertex", "foundry", "aws", "google_cloud")


class AnthropicInstrumentor(AgentInstrumentor):
    """Messages, parsed and streamed, of Anthropic's client and of those for Bedrock, Vertex and
    Foundry; its tool runner with its tools: patches."""

    framework = "anthropic"
    supports = ("anthropic >= 0.104",)
    patches = (
        *_resource("anthropic.resources.messages.messages"),
        *_resource("anthropic.resources.beta.messages.messages"),
        # These classes hold copies of the functions above.
        *_resource("anthropic.lib.bedrock._beta_messages", optional=True),
        *_resource("anthropic.lib.vertex._beta_messages", optional=True),
        *tool_runner.PATCHES,
    )
    native_scopes = (
        tool_runner.SCOPE,
        *(f"{tool_runner.SCOPE}.{platform}" for platform in _PLATFORMS),
    )
    passed = (("anthropic", "Anthropic.request"), ("anthropic", "AsyncAnthropic.request"))
