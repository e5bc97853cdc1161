"""Convert model requests and responses to the conventions.

Source: pydantic-ai-slim models/__init__.py, settings.py and usage.py at 1.100 and 2.68.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from agentool_otel.integrations.pydantic_ai.instrumentor import messages
from agentool_otel.model.operations import Inference, Usage
from agentool_otel.providers import tools
from agentool_otel.providers.fields import (
    get,
    integer,
    items,
    number,
    plain_text,
    record,
    string,
    texts,
)
from agentool_otel.providers.servers import address_in, provider_of

__all__ = [
    "answering",
    "attempt_fields",
    "content",
    "identity",
    "provider_named",
    "request_fields",
    "response_fields",
    "tried_in_turn",
]

_PROVIDERS = {
    "azure": "azure.ai.openai",
    "google": "gcp.gemini",
    "google-gla": "gcp.gemini",
    "google-vertex": "gcp.vertex_ai",
    "google-cloud": "gcp.vertex_ai",
    "bedrock": "aws.bedrock",
    "mistral": "mistral_ai",
    "moonshotai": "moonshot_ai",
    "xai": "x_ai",
    "grok": "x_ai",
}
"""Names of providers where the conventions have another word."""


def provider_named(name: str | None, address: str | None = None) -> str | None:
    """Return the provider that pydantic-ai calls by a name."""
    if name == "openai":
        return provider_of(address)
    return None if name is None else _PROVIDERS.get(name, name)


def tried_in_turn(model: Any) -> list[Any]:
    """Return the models that a request may go to, for a `FallbackModel`, or the model itself."""
    wrapped = get(model, "wrapped")
    if wrapped is not None:
        return tried_in_turn(wrapped)
    return [item for each in items(model, "models") for item in tried_in_turn(each)] or [model]


def answering(model: Any, response: Any) -> Any:
    """Return the model that has answered a request."""
    tried, name = tried_in_turn(model), string(response, "model_name")
    named = next((item for item in tried if string(item, "model_name") == name), None)
    failed = len(items(response, "failed_attempts"))  # from 2.0 on
    return named or tried[min(failed, len(tried) - 1)]


def identity(model: Any) -> dict[str, Any]:
    """Return which model it is, and whose."""
    address, port = address_in(string(model, "base_url") or "")
    return {
        "provider": provider_named(string(model, "system"), address),
        "request_model": string(model, "model_name"),
        "server_address": address,
        "server_port": port,
    }


def request_fields(request_context: Any) -> dict[str, Any]:
    """Return the fields of a request, without content."""
    model = tried_in_turn(get(request_context, "model"))[0]
    settings = {
        **(record(get(model, "settings")) or {}),
        **(record(get(request_context, "model_settings")) or {}),
    }
    mode = string(get(request_context, "model_request_parameters"), "output_mode")
    efforts = (v for k, v in settings.items() if k == "thinking" or k.endswith("reasoning_effort"))
    return identity(model) | {
        "stream": True if get(request_context, "streaming") is True else None,
        "output_type": "json" if mode in ("tool", "native", "prompted") else None,
        "temperature": number(settings, "temperature"),
        "top_p": number(settings, "top_p"),
        "top_k": integer(settings, "top_k"),
        "max_tokens": integer(settings, "max_tokens"),
        "frequency_penalty": number(settings, "frequency_penalty"),
        "presence_penalty": number(settings, "presence_penalty"),
        "stop_sequences": texts(settings, "stop_sequences") or None,
        "seed": integer(settings, "seed"),
        "reasoning_level": next(
            (words for effort in efforts if (words := plain_text(effort)) is not None), None
        ),
    }


def content(request_context: Any) -> dict[str, Any]:
    """Return the messages and the tools of a request."""
    parameters = get(request_context, "model_request_parameters")
    offered = [*items(parameters, "function_tools"), *items(parameters, "output_tools")]
    hosted = items(parameters, "native_tools")  # the provider has those
    return {
        "system": messages.instructions(request_context),
        "input": messages.conversation(items(request_context, "messages")),
        "tools": tools.definitions(
            [*offered, *({"type": string(item, "kind")} for item in hosted)]
        ),
    }


def response_fields(response: Any) -> dict[str, Any]:
    """Return the data of a response, without content."""
    finish = messages.reported_finish(response)
    cost = _cost(get(response, "usage"))
    return {
        "response_model": string(response, "model_name"),
        "response_id": string(response, "provider_response_id"),
        "finish_reasons": None if finish is None else [finish],
        "usage": _usage(get(response, "usage")),
        "cost_usd": cost,
    }


def _cost(usage: Any) -> float | None:
    cost = get(usage, "cost")
    return float(cost) if type(cost) is Decimal else number(usage, "cost")


def _usage(usage: Any) -> Usage | None:
    """Return token counts. Counts that pydantic-ai does not know are zero there."""
    details = get(usage, "details")
    reasoning = integer(usage, "output_reasoning_tokens") or integer(details, "reasoning_tokens")
    counts = (integer(usage, "input_tokens"), integer(usage, "output_tokens"))
    if not any(counts):
        return None
    return Usage(
        input_tokens=counts[0],
        output_tokens=counts[1],
        cache_read_tokens=integer(usage, "cache_read_tokens") or None,
        cache_write_tokens=integer(usage, "cache_write_tokens") or None,
        reasoning_tokens=reasoning or None,
        audio_input_tokens=integer(usage, "input_audio_tokens") or None,
        audio_output_tokens=integer(usage, "output_audio_tokens") or None,
    )


def attempt_fields(attempt: Any) -> tuple[Inference, int, int]:
    """Return the fields of an attempt that another followed, its start and its end."""
    error = string(attempt, "error")
    name, _, words = (error or string(attempt, "outcome") or "error").partition(": ")
    operation = Inference(
        request_model=string(attempt, "model_name"),
        provider=provider_named(string(attempt, "provider_name")),
        usage=_usage(get(attempt, "usage")),
        error_type=name,
        error_message=words or None,
    )
    began = _nanoseconds(attempt.timestamp)
    lasted: timedelta = attempt.duration
    return operation, began, began + round(lasted.total_seconds() * 1e9)


def _nanoseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1e9)
