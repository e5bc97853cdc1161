"""Whom a client of the package talks to."""

from __future__ import annotations

from typing import Any

from agentool_otel.content.encoding.introspection import class_name, mro
from agentool_otel.providers.fields import get, string
from agentool_otel.providers.servers import provider_at, server_of
from agentool_otel.semconv.gen_ai import Provider

__all__ = ["client_fields", "provider_of"]

_PLATFORMS = {
    "AnthropicBedrock": Provider.AWS_BEDROCK,
    "AnthropicVertex": Provider.GCP_VERTEX_AI,
    "AnthropicFoundry": Provider.AZURE_AI_INFERENCE,
}
"""By the beginning of a class's name; `AnthropicAWS` and `AnthropicGoogleCloud` are not among them:
what they reach is run by Anthropic."""


def client_fields(client: Any) -> dict[str, Any]:
    """Return the fields that every call of a client has in common."""
    address, port = server_of(client)
    return {
        "provider": provider_of(client, address),
        "server_address": address,
        "server_port": port,
        # what the client's option `open_telemetry` names
        "conversation_id": string(get(client, "_otel"), "conversation_id"),
    }


def provider_of(client: Any, host: str | None) -> str:
    """Return the provider by the client's class, else by the host it talks to."""
    for base in mro(type(client)):
        name = class_name(base).removeprefix("Async")
        for platform, provider in _PLATFORMS.items():
            if name.startswith(platform):
                return provider
    return provider_at(host) or Provider.ANTHROPIC
