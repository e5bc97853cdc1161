"""pyagentspec's components and messages in the terms of the conventions.

Fields are read by name, and only those that are named here: headers, keys, credentials and the
data of requests are never looked at.

Source: pyagentspec llms, tools, property.py, tracing/events/llmgeneration.py at 26.3.1.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from agentool_otel.content.encoding.attributes import allow
from agentool_otel.content.encoding.introspection import class_name, mro
from agentool_otel.content.policy import as_text, encode, jsonable
from agentool_otel.ground.literals import literal
from agentool_otel.model.messages import Message, Part, message, text, tool_call
from agentool_otel.model.operations import AgentInvocation, Inference, ToolExecution, Usage
from agentool_otel.providers.calls import arguments_of as decoded
from agentool_otel.providers.fields import (
    get,
    integer,
    items,
    number,
    plain_text,
    record,
    string,
)
from agentool_otel.providers.servers import address_in, provider_at
from agentool_otel.semconv import agentool
from agentool_otel.semconv.gen_ai import Provider

__all__ = [
    "agent",
    "answer",
    "arguments_of",
    "as_message",
    "class_names",
    "component_type",
    "conversation",
    "definitions",
    "inference",
    "labels",
    "runtime",
    "tool",
    "usage",
]

allow("pyagentspec", "component_type")

_LONGEST_REPR = 100_000
_PROVIDERS = {
    "OpenAiConfig": Provider.OPENAI,
    "OpenAiCompatibleConfig": Provider.OPENAI,
    "GeminiConfig": Provider.GCP_GEMINI,
    "OciGenAiConfig": "oci.generative_ai",
    "OllamaConfig": "ollama",
    "VllmConfig": "vllm",
}
"""By the class of the configuration: who serves the model."""
_REMOTE_TOOLS = frozenset({"RemoteTool", "MCPTool", "BuiltinTool"})
"""Tools that the program itself does not execute."""


def class_names(value: Any) -> list[str]:
    """Return the names of a value's class and of those it is derived from, nearest first."""
    return [class_name(item) for item in mro(type(value))]


def component_type(component: Any) -> str | None:
    """Return the type of a component; its class, if it has none."""
    if component is None:
        return None
    return string(component, "component_type") or class_name(type(component))


def labels(component: Any) -> dict[str, Any]:
    """Return the attributes that identify a component."""
    candidates = {
        "agentspec.component.type": component_type(component),
        "agentspec.component.id": string(component, "id"),
    }
    return {key: value for key, value in candidates.items() if value is not None}


def runtime(span: Any) -> str | None:
    """Return the runtime that a span comes from, None if that is not known.

    Source: wayflowcore agentspec/tracing.py, which keeps the ids of WayFlow's spans; the names that
    pyagentspec adapters/langgraph gives to its own, at 26.3.1.
    """
    current = getattr(sys.modules.get("wayflowcore.tracing.span"), "get_current_span", None)
    if current is not None and string(current(), "span_id") == string(span, "id"):
        return "wayflow"
    return "langgraph" if "Execution[" in (string(span, "name") or "") else None


# -------------------------------------------------------------------------------------- operations


def agent(component: Any) -> AgentInvocation:
    """Return the fields of an agent, or of several that work as one, without content."""
    config = get(component, "llm_config")
    name = string(component, "name")
    extra = {"agentspec.component.type": component_type(component) or "Agent"}
    if name is not None:
        extra[agentool.AGENT_ID] = name  # the id of a component is another in each program
    return AgentInvocation(
        agent_name=name,
        agent_id=string(component, "id"),
        provider=_provider(config),
        request_model=string(config, "model_id"),
        extra=extra,
    )


def tool(component: Any, call_id: str | None) -> ToolExecution:
    remote = not _REMOTE_TOOLS.isdisjoint(class_names(component))
    return ToolExecution(
        name=string(component, "name") or "unknown",
        call_id=call_id,
        tool_type="extension" if remote else "function",
        extra=labels(component),
    )


def inference(config: Any, generation: Any = None) -> Inference:
    """Return the request of a model call, without content.

    Args:
        config: an `LlmConfig`.
        generation: an `LlmGenerationConfig`, of this call or of all.
    """
    address, port = address_in(_url(config))
    return Inference(
        provider=_provider(config),
        request_model=string(config, "model_id"),
        server_address=address,
        server_port=port,
        max_tokens=integer(generation, "max_tokens"),
        temperature=number(generation, "temperature"),
        top_p=number(generation, "top_p"),
    )


def _url(config: Any) -> str:
    url = string(config, "url") or ""
    return url if not url or "://" in url else f"http://{url}"


def _provider(config: Any) -> str | None:
    if config is None:
        return None
    address, _ = address_in(_url(config))
    by_class = next((_PROVIDERS[name] for name in class_names(config) if name in _PROVIDERS), None)
    return provider_at(address) or _word(config, "api_provider") or by_class


def _word(obj: Any, name: str) -> str | None:
    """Return a field that is a text, or a member of an enumeration of texts."""
    return string(obj, name) or string(get(obj, name), "value")


def usage(event: Any) -> Usage | None:
    """Return the tokens that a response reports; None if it reports none."""
    counts = Usage(
        input_tokens=integer(event, "input_tokens"), output_tokens=integer(event, "output_tokens")
    )
    return None if counts == Usage() else counts


# ----------------------------------------------------------------------------------------- content


def as_message(role: str, values: Any) -> list[Message] | None:
    """Return the inputs or the outputs of a component as one message; None if it has none."""
    value = record(values)
    if not value:
        return None
    only = plain_text(next(iter(value.values()))) if len(value) == 1 else None
    return [message(role, [text(encode(value) if only is None else only)])]


def conversation(prompt: Iterable[Any]) -> list[Message]:
    """Return the messages of a prompt, which have text only; other values become JSON text."""
    return [
        message(string(item, "role") or "user", [text(_content(item) or "")]) for item in prompt
    ]


def _content(value: Any) -> str | None:
    content = get(value, "content")
    return None if content is None else as_text(content)


def answer(event: Any) -> list[Message] | None:
    """Return a model's answer: text and requests for tools."""
    content = _content(event)
    parts: list[Part] = [text(content)] if content else []
    for call in items(event, "tool_calls"):
        arguments = arguments_of(get(call, "arguments"))
        parts.append(
            tool_call(string(call, "tool_name") or "unknown", arguments, string(call, "call_id"))
        )
    return [message("assistant", parts)] if parts else None


def arguments_of(raw: Any) -> Any:
    """Return a tool call's arguments from their text: JSON, or as Python prints a dict.

    LangGraph's adapter writes the latter.
    """
    arguments = decoded(raw)
    if not isinstance(arguments, str):
        return arguments
    try:
        value = literal(arguments, _LONGEST_REPR)
    except ValueError:
        return arguments
    return jsonable(value) if isinstance(value, (dict, list)) else arguments


def definitions(tools: Iterable[Any]) -> list[dict[str, Any]] | None:
    """Return the tools that a model may call, as the conventions have them."""
    return [_definition(item) for item in tools if string(item, "name")] or None


def _definition(component: Any) -> dict[str, Any]:
    properties = {
        title: jsonable(schema)
        for entry in items(component, "inputs")
        if (title := _title(entry)) and (schema := record(get(entry, "json_schema"))) is not None
    }
    required = [title for title, schema in properties.items() if "default" not in schema]
    parameters: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        parameters["required"] = required
    definition: dict[str, Any] = {"type": "function", "name": string(component, "name")}
    if description := string(component, "description"):
        definition["description"] = description
    return {**definition, "parameters": parameters}


def _title(obj: Any) -> str | None:
    return string(obj, "title") or string(get(obj, "json_schema"), "title")
