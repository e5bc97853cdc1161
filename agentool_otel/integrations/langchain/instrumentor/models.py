"""Model calls of LangChain: request and response as fields of an inference.

Source: langchain-core language_models/chat_models.py (`_get_ls_params`, `_get_invocation_params`)
and outputs at 1.0 and 1.7; parameter names as the provider packages have them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentool_otel.model.messages import Message, message, text
from agentool_otel.model.operations import Inference, Operation, Usage
from agentool_otel.providers import openai_usage, tools
from agentool_otel.providers.fields import get, integer, items, number, plain_text, string, texts
from agentool_otel.providers.langchain import finish_reason, from_message, refusal, usage_of
from agentool_otel.providers.servers import address_in, provider_of, server_of
from agentool_otel.tracing.spans.settings import guarded

__all__ = ["offered_tools", "request_fields", "response_fields", "server_of_model"]

_PROVIDERS = {
    "azure": "azure.ai.openai",
    "azure_openai": "azure.ai.openai",
    "azure_ai": "azure.ai.inference",
    "google_genai": "gcp.gemini",
    "google_vertexai": "gcp.vertex_ai",
    "google_anthropic_vertex": "gcp.vertex_ai",
    "amazon_bedrock": "aws.bedrock",
    "bedrock": "aws.bedrock",
    "mistral": "mistral_ai",
    "mistralai": "mistral_ai",
    "xai": "x_ai",
    "ibm": "ibm.watsonx.ai",
}
"""`ls_provider` where the conventions have another word."""

_REPORTING = {
    *("openai", "azure.ai.openai", "anthropic", "aws.bedrock", "gcp.gemini", "gcp.vertex_ai"),
    *("groq", "deepseek", "x_ai", "mistral_ai"),
}
"""Providers whose streams end with a finish reason, and whose packages pass it on."""

_CLIENTS = ("root_client", "root_async_client", "client", "async_client", "_client")
"""Attributes in which models keep the client of their provider."""

_ADDRESSES = ("openai_api_base", "base_url", "azure_endpoint", "anthropic_api_url", "endpoint_url")


def request_fields(
    serialized: Any, metadata: Mapping[str, Any], params: Mapping[str, Any], model: Any
) -> dict[str, Any]:
    """Return the fields of the request, without content."""
    address, port = server_of_model(model)
    if address is None:
        address, port = _server(get(serialized, "kwargs"))
    provider_name = string(metadata, "ls_provider")
    provider = None if provider_name is None else _PROVIDERS.get(provider_name, provider_name)
    if provider is None:
        identity = items(serialized, "id")
        cls = plain_text(identity[-1]) if identity else None
        provider = "langchain" if cls is None else cls.removeprefix("Chat").lower()
    if provider == "openai":
        provider = provider_of(address)
    effort = string(params, "reasoning_effort") or string(get(params, "reasoning"), "effort")
    choices = integer(params, "n")
    fields = {
        "provider": provider,
        "request_model": string(metadata, "ls_model_name")
        or _first(string, params, "model", "model_name", "model_id", "deployment_name"),
        "server_address": address,
        "server_port": port,
        "temperature": _first(number, params, "temperature"),
        "top_p": _first(number, params, "top_p"),
        "top_k": _first(integer, params, "top_k"),
        "max_tokens": _first(
            integer, params, "max_completion_tokens", "max_tokens", "max_output_tokens"
        ),
        "frequency_penalty": _first(number, params, "frequency_penalty"),
        "presence_penalty": _first(number, params, "presence_penalty"),
        "seed": _first(integer, params, "seed"),
        "stop_sequences": _stops(params) or _stops({"stop": metadata.get("ls_stop")}),
        "choice_count": choices if choices != 1 else None,
        "reasoning_level": effort,
        "output_type": "json" if params.get("response_format") is not None else None,
    }
    if fields["temperature"] is None:
        fields["temperature"] = number(metadata, "ls_temperature")
    if fields["max_tokens"] is None:
        fields["max_tokens"] = integer(metadata, "ls_max_tokens")
    return {name: value for name, value in fields.items() if value is not None}


def _first(read: Any, source: Any, *names: str) -> Any:
    for name in names:
        value = read(source, name)
        if value is not None:
            return value
    return None


def _stops(params: Mapping[str, Any]) -> list[str] | None:
    for name in ("stop", "stop_sequences"):
        if (value := string(params, name)) is not None:
            return [value]
        if stops := texts(params, name):
            return stops
    return None


def _server(settings: Any) -> tuple[str | None, int | None]:
    for name in _ADDRESSES:
        url = string(settings, name)
        if url and "://" in url:
            address, port = address_in(url)
            if address is not None:
                return address, port
    return None, None


def server_of_model(model: Any) -> tuple[str | None, int | None]:
    """Return address and port of the server of a model's client, both None if the model does not
    show them.

    A client that has not been made yet is not made.

    Source: langchain-openai chat_models/base.py and llms/base.py at 1.7 (`root_client`, `client`),
    langchain-anthropic and langchain-ollama 1.0 (`_client`), langchain-aws 1.0 (`client`).
    """
    with guarded("reading the address of a model's client"):
        for name in _CLIENTS:
            client = get(model, name)
            for each in (client, get(client, "_client")):
                server = _server_of_client(each)
                if server[0] is not None:
                    return server
    return None, None


def _server_of_client(client: Any) -> tuple[str | None, int | None]:
    address = string(client, "base_url") or string(get(client, "meta"), "endpoint_url")
    return server_of(client) if address is None else address_in(address)


def offered_tools(params: Mapping[str, Any]) -> list[Any] | None:
    """Return the tools that a model may call."""
    return tools.definitions(items(params, "tools") or params.get("functions"))


def response_fields(result: Any) -> dict[str, Any]:
    """Return the fields of an `LLMResult`: its choices, as far as a stream got."""
    fields: dict[str, Any] = {}
    reasons: list[str] = []
    output: list[Message] = []
    usage: Usage | None = None
    for choices in items(result, "generations"):
        for choice in items(choices):
            reply = get(choice, "message")
            about = get(reply, "response_metadata")
            calls = items(reply, "tool_calls") or items(reply, "invalid_tool_calls")
            why = finish_reason(about, get(choice, "generation_info"))
            why = why or _finish_of_status(string(about, "status"), bool(calls))
            if why in (None, "stop") and refusal(reply):
                why = "content_filter"  # as OpenAI's client has it, which reports `stop`
            if why is not None:
                reasons.append(why)
            if reply is None:
                output.append(message("assistant", [text(string(choice, "text") or "")], why))
            else:
                output.append(from_message(reply, why))
            usage = usage or usage_of(get(reply, "usage_metadata"))
            for field, names in (
                ("response_model", ("model_name", "model", "model_id", "model_version")),
                ("response_id", ("id", "response_id")),
            ):
                model = _first(string, about, *names)
                if model and field not in fields:
                    fields[field] = model
            response_id = string(reply, "id")
            if (
                response_id
                and "response_id" not in fields
                and not response_id.startswith(("run-", "lc_"))
            ):
                fields["response_id"] = response_id
    about = get(result, "llm_output")
    if "response_model" not in fields and (named := _first(string, about, "model_name", "model")):
        fields["response_model"] = named
    usage = usage or openai_usage.usage_of(_first(get, about, "token_usage", "usage"))
    if usage is not None:
        fields["usage"] = usage
    if reasons:
        fields["finish_reasons"] = reasons
    if output:
        fields["output"] = output
    return fields


def lacks_last_event(operation: Operation, answer: Mapping[str, Any]) -> bool:
    """Return whether a streamed answer has no finish reason, of a provider that always sends one
    with the last event."""
    is_reported = isinstance(operation, Inference) and operation.provider in _REPORTING
    return is_reported and "finish_reasons" not in answer


def _finish_of_status(status: str | None, calls: bool) -> str | None:
    """Return why a model of OpenAI's responses API stopped, which has a status instead."""
    if status == "completed":
        return "tool_call" if calls else "stop"
    return {"incomplete": "length", "failed": "error"}.get(status or "")
