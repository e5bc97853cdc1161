"""deepset's Haystack: agents, their steps, pipelines and components, distinguished by the span's
name.

Source: deepset-ai/haystack `haystack/components/agents/agent.py`, `.../agents/tool_calling.py`,
`haystack/core/pipeline` and `haystack/dataclasses/chat_message.py` at v3.4, spans by
`opentelemetry-haystack` 2.0. A component's class shows what it does.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import (
    NOT_MINE,
    OWN_ROLE,
    SPAN_NAME,
    Confidence,
    Content,
    Markers,
)
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.store_spans import set_parameters, set_usage
from agentool_otel.model.messages import Message, Part, message, reasoning, text, tool_response
from agentool_otel.model.messages import tool_call as call_part
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.providers.finish_reasons import finish_reason
from agentool_otel.semconv import agentool, gen_ai

__all__ = ["Haystack"]

_PREFIX = "haystack."
_COMPONENT = "haystack.component"
_TYPE = "haystack.component.type"
_SPANS = {
    "haystack.agent.run": ("invoke_agent", "haystack.agent"),
    "haystack.agent.step.llm": ("chat", "haystack.agent.step.llm"),
    "haystack.agent.step.tool": ("execute_tool", "haystack.agent.step.tool"),
    "haystack.chat_generator.run": ("chat", _COMPONENT),
    "haystack.pipeline.run": ("invoke_workflow", "haystack.pipeline"),
    "haystack.async_pipeline.run": ("invoke_workflow", "haystack.pipeline"),
}
"""Operation of each span name, and the prefixes of its input and output attributes."""
_COMPONENTS = {
    "Generator": "chat",
    "Retriever": "retrieval",
    "TextEmbedder": "embeddings",
    "DocumentEmbedder": "embeddings",
}
"""Operations of components by the end of their class's name; other classes only prepare data."""


_TOOL = ("haystack.tool.input", "haystack.tool.output")
"""A tool's input and output beside `haystack.tool.name`, where the step has none of its own."""


class Haystack:
    """The dialect."""

    name = "haystack"
    markers = Markers(
        keys=("haystack.agent.", "haystack.component.", "haystack.pipeline.", "haystack.tool."),
        names=(_PREFIX,),
    )
    content = Content(
        attributes=(
            *(f"{about}.{side}" for _, about in _SPANS.values() for side in ("input", "output")),
            "haystack.pipeline.input_data",
            "haystack.pipeline.output_data",
            "haystack.agent.tools",
            *_TOOL,
            *(f"haystack.agent.hook.human_in_the_loop.strategy.{it}" for it in ("input", "output")),
        )
    )

    def recognise(self, span: SpanRecord) -> Confidence:
        if not span.name.startswith(_PREFIX):
            return NOT_MINE
        if any(key.startswith(_PREFIX) for key in span.attributes):
            return Confidence(OWN_ROLE, f"is called {span.name}, with attributes of Haystack's")
        return Confidence(SPAN_NAME, f"is called {span.name}")

    def read(self, span: Reader) -> Operation:
        operation, about = _SPANS.get(span.span.name, (None, _COMPONENT))
        if span.span.name == "haystack.component.run":
            kind = str(span.rest.get(_TYPE))
            operation = next(
                (component for end, component in _COMPONENTS.items() if kind.endswith(end)), None
            )
        if operation is None:
            return onto.unclassified(span)
        onto.drop(span, _TYPE)
        data = "_data" if operation == "invoke_workflow" else ""
        input_key, output_key = f"{about}.input{data}", f"{about}.output{data}"
        match operation:
            case "invoke_agent":
                _read_agent(span, span.json(input_key), span.json(output_key))
            case "invoke_workflow":
                _read_pipeline(span, span.json(input_key), span.json(output_key))
            case "chat":
                _read_model(span, span.json(input_key), span.json(output_key))
            case "execute_tool":
                _read_tool(span, input_key, output_key)
            case "retrieval":
                onto.set_query(span, span.json(input_key))
                onto.set_documents(span, span.json(output_key))
            case _:  # embeddings, whose content no field takes
                pass
        return onto.as_operation(span, operation)


def _read_agent(span: Reader, input_value: Any, output_value: Any) -> None:
    messages = _messages(_member(input_value, "messages"))
    messages = [item for item in messages if item.get("role") != "system"]
    onto.put(span, gen_ai.INPUT_MESSAGES, messages or None)
    outputs = _messages(_member(output_value, "messages"))
    onto.put(span, gen_ai.OUTPUT_MESSAGES, outputs[-1:] or None)
    onto.put(span, gen_ai.SYSTEM_INSTRUCTIONS, _system(outputs) or None)
    onto.put(span, gen_ai.TOOL_DEFINITIONS, _definitions(span.json("haystack.agent.tools")) or None)
    set_usage(span, _member(output_value, "token_usage"))


def _read_pipeline(span: Reader, input_value: Any, output_value: Any) -> None:
    onto.put(span, gen_ai.WORKFLOW_NAME, _member(span.json("haystack.pipeline.metadata"), "name"))
    onto.put_input(span, input_value)
    outputs = output_value.values() if isinstance(output_value, dict) else ()
    answered = _messages([reply for output in outputs for reply in _replies(output)])
    answered = answered or onto.as_messages(output_value, "assistant")
    onto.put(span, gen_ai.OUTPUT_MESSAGES, answered or None)


def _read_model(span: Reader, input_value: Any, output_value: Any) -> None:
    """Read a chat, or a completion, which has a prompt and metadata beside its replies."""
    sent = _messages(_member(input_value, "messages"))
    sent = sent or onto.as_messages(_member(input_value, "prompt"), "user")
    onto.put(span, gen_ai.INPUT_MESSAGES, sent or None)
    onto.put(span, gen_ai.TOOL_DEFINITIONS, _definitions(_member(input_value, "tools")) or None)
    set_parameters(span, _member(input_value, "generation_kwargs"))
    replies = _replies(output_value)
    onto.put(span, gen_ai.OUTPUT_MESSAGES, _messages(replies) or None)
    metas = _member(output_value, "meta") or [_member(reply, "meta") for reply in replies]
    for meta in metas if isinstance(metas, list) else ():
        onto.put(span, gen_ai.RESPONSE_MODEL, _member(meta, "model"))
        onto.put(span, gen_ai.RESPONSE_ID, _member(meta, "id"))
        if reason := finish_reason(_member(meta, "finish_reason")):
            onto.put(span, gen_ai.RESPONSE_FINISH_REASONS, [reason])
        set_usage(span, _member(meta, "usage"))


def _read_tool(span: Reader, input_key: str, output_key: str) -> None:
    onto.rename(
        span,
        {
            "haystack.tool.name": gen_ai.TOOL_NAME,
            "haystack.tool.description": gen_ai.TOOL_DESCRIPTION,
            input_key: gen_ai.TOOL_CALL_ARGUMENTS,
            _TOOL[0]: gen_ai.TOOL_CALL_ARGUMENTS,
        },
    )
    output_value = span.json(output_key if output_key in span.rest else _TOOL[1])
    if span.boolean("haystack.tool.error"):
        onto.put(span, agentool.TOOL_ERROR, _member(output_value, "error") or "failed")
    else:
        onto.set_result(span, output_value)


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None


def _replies(output: Any) -> list[Any]:
    replies = _member(output, "replies")
    return replies if isinstance(replies, list) else []


def _system(messages: list[Message]) -> list[Part]:
    first = next((item for item in messages if item.get("role") == "system"), None)
    return list(first["parts"]) if first else []


def _messages(items: Any) -> list[Message]:
    messages: list[Message] = []
    for one in items if isinstance(items, list) else ():
        if isinstance(one, str):  # a completion's reply
            messages.append(message("assistant", [text(one)]))
        elif isinstance(one, dict):
            content = one.get("content")
            parts = [_part(part) for part in content] if isinstance(content, list) else []
            reason = finish_reason(_member(one.get("meta"), "finish_reason"))
            messages.append(message(str(one.get("role", "user")), parts, reason))
    return messages


def _part(part: Any) -> Part:
    match part:
        case {"text": str(words)}:
            return text(words)
        case {"tool_call": {"tool_name": str(name), **call}}:
            return call_part(name, call.get("arguments"), _id(call))
        case {"tool_call_result": {"origin": {**origin}, **given}}:
            return tool_response(given.get("result"), _id(origin))
        case {"reasoning": {"reasoning_text": str(thought)}}:
            return reasoning(thought)
        case _:
            return {"type": "unknown", "content": part}


def _id(call: dict[Any, Any]) -> str | None:
    call_id = call.get("id")
    return call_id if isinstance(call_id, str) else None


def _definitions(tools: Any) -> list[dict[str, Any]]:
    return [definition for tool in _each(tools) for definition in onto.definitions([tool])]


def _each(tools: Any) -> Iterator[Any]:
    """Tools, and those of sets of tools: a class and its data."""
    for tool in tools if isinstance(tools, list) else [tools]:
        inner = _member(tool, "data")
        if isinstance(listed := _member(inner, "tools"), list):
            yield from _each(listed)
        elif isinstance(inner, dict):
            yield inner
