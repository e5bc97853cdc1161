"""Identify the provider behind the server of a client."""

from __future__ import annotations

import functools
from typing import Any
from urllib.parse import urlsplit

from agentool_otel.providers.fields import get, integer, string

__all__ = ["address_in", "provider_at", "provider_of", "server_of"]

_PROVIDERS = {
    "openai.com": "openai",
    "openai.azure.com": "azure.ai.openai",
    "cognitiveservices.azure.com": "azure.ai.openai",
    "ai.azure.com": "azure.ai.inference",
    "deepseek.com": "deepseek",
    "groq.com": "groq",
    "x.ai": "x_ai",
    "perplexity.ai": "perplexity",
    "mistral.ai": "mistral_ai",
    "moonshot.ai": "moonshot_ai",
    "moonshot.cn": "moonshot_ai",
    "cohere.ai": "cohere",
    "cohere.com": "cohere",
    "anthropic.com": "anthropic",
    "generativelanguage.googleapis.com": "gcp.gemini",
    "aiplatform.googleapis.com": "gcp.vertex_ai",
    "amazonaws.com": "aws.bedrock",
}
"""Spec: the values of `gen_ai.provider.name`; by host, as OpenAI-compatible servers have it."""


def server_of(client: Any) -> tuple[str | None, int | None]:
    """Return address and port of the server a client talks to."""
    url = get(client, "base_url")
    host = string(url, "host")
    if not host:
        return None, None
    return host, integer(url, "port") or (80 if string(url, "scheme") == "http" else 443)


def address_in(url: str) -> tuple[str | None, int | None]:
    """Return address and port of the server in a URL, both None if it has none."""
    try:
        parsed = urlsplit(url)
        port = parsed.port or (80 if parsed.scheme in ("http", "ws") else 443)
    except ValueError:
        return None, None
    return (parsed.hostname, port) if parsed.scheme and parsed.hostname else (None, None)


@functools.lru_cache(maxsize=64)
def provider_at(host: str | None) -> str | None:
    """Return the provider behind a host, None if it is not known."""
    for domain, provider in _PROVIDERS.items():
        if host and f".{host}".endswith((f".{domain}", f"-{domain}")):
            return provider
    return None


def provider_of(host: str | None, client_name: str = "") -> str:
    """Return the provider behind a host; `openai` unless it is known to be another."""
    return provider_at(host) or ("azure.ai.openai" if "Azure" in client_name else "openai")
