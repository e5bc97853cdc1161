"""Provider and model of a call: LiteLLM writes both into one name, as in `anthropic/claude-opus-5`.

Source: litellm 1.110, litellm_core_utils/get_llm_provider_logic.py; docs.litellm.ai/docs/providers.
"""

from __future__ import annotations

import sys
from collections.abc import Collection
from typing import Any, NamedTuple

from agentool_otel.providers.fields import get, record, string
from agentool_otel.providers.servers import address_in
from agentool_otel.semconv.gen_ai import Provider

__all__ = ["fields_of", "provider_name"]

_NAMES = {
    "azure": Provider.AZURE_AI_OPENAI,
    "azure_text": Provider.AZURE_AI_OPENAI,
    "azure_ai": Provider.AZURE_AI_INFERENCE,
    "bedrock": Provider.AWS_BEDROCK,
    "bedrock_converse": Provider.AWS_BEDROCK,
    "sagemaker": Provider.AWS_BEDROCK,
    "vertex_ai": Provider.GCP_VERTEX_AI,
    "vertex_ai_beta": Provider.GCP_VERTEX_AI,
    "gemini": Provider.GCP_GEMINI,
    "cohere_chat": Provider.COHERE,
    "mistral": Provider.MISTRAL_AI,
    "moonshot": Provider.MOONSHOT_AI,
    "xai": Provider.X_AI,
    "watsonx": Provider.IBM_WATSONX_AI,
    "text-completion-openai": Provider.OPENAI,
    "custom_openai": Provider.OPENAI,
}
"""The conventions' names, where they differ from LiteLLM's."""


def provider_name(name: str | None) -> str | None:
    """Return the conventions' name of a provider of LiteLLM, its own where they have none."""
    return None if name is None else str(_NAMES.get(name, name))


class _Target(NamedTuple):
    provider: str | None
    model: str | None


def fields_of(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return provider, model, server and session of a call, as its parameters name them."""
    target = _target(string(parameters, "model"), string(parameters, "custom_llm_provider"))
    base = string(parameters, "api_base") or string(parameters, "base_url") or ""
    address, port = address_in(base)
    return {
        "provider": provider_name(target.provider),
        "request_model": target.model,
        "server_address": address,
        "server_port": port,
        "conversation_id": _session(parameters),
    }


def _target(model: str | None, provider: str | None) -> _Target:
    """Return the provider of a model and its name there. The provider is None where neither the
    model's name nor LiteLLM's table of models has it."""
    if model is None:
        return _Target(provider, None)
    before, slash, name = model.partition("/")
    if slash and (before == provider or before in _known()):
        return _Target(provider or before, name)
    if provider is None:
        table = record(get(sys.modules.get("litellm"), "model_cost")) or {}
        provider = string(table.get(model), "litellm_provider")
        if provider is not None and provider.startswith("vertex_ai-"):
            provider = "vertex_ai"
    return _Target(provider, model)


def _known() -> Collection[str]:
    """Return LiteLLM's names of the providers; none where its enumeration is not as known."""
    providers = getattr(sys.modules.get("litellm.types.utils"), "LlmProviders", None)
    values: Any = getattr(providers, "_value2member_map_", None)
    return values.keys() if type(values) is dict else ()


def _session(parameters: dict[str, Any]) -> str | None:
    """Return the session that a call names: by a parameter of its own, or in its metadata."""
    own = string(parameters, "litellm_session_id")
    return own or string(parameters.get("metadata"), "session_id")
