"""Firebase Genkit: actions with a type, an input and an output.

Source: genkit-ai/genkit `js/core/src/tracing/instrumentation.ts`; Genkit for Go 1.7.0
`core/tracing/tracing.go`, whose tools are `tool.v2`: an output beside a content of parts.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import NOT_MINE, OWN_ROLE, Confidence, Content, Markers
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.dialects.kit.store_spans import read_call, run_at_root, set_usage
from agentool_otel.model.messages import Message, Part, message, reasoning, text, tool_response
from agentool_otel.model.messages import tool_call as call_part
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv import gen_ai

__all__ = ["Genkit"]

_SUBTYPE, _TYPE = "genkit:metadata:subtype", "genkit:type"
_INPUT, _OUTPUT = "genkit:input", "genkit:output"
_OPERATIONS = {
    "model": "chat",
    "tool": "execute_tool",
    "tool.v2": "execute_tool",
    "retriever": "retrieval",
    "embedder": "embeddings",
    "agent": "invoke_agent",
}


_SETTINGS = {  # in Genkit's words, and in OpenAI's, whose plugin for Go takes no others
    gen_ai.REQUEST_TEMPERATURE: ("temperature",),
    gen_ai.REQUEST_MAX_TOKENS: ("maxOutputTokens", "max_completion_tokens", "max_tokens"),
    gen_ai.REQUEST_TOP_P: ("topP", "top_p"),
    gen_ai.REQUEST_TOP_K: ("topK", "top_k"),
    gen_ai.REQUEST_STOP_SEQUENCES: ("stopSequences", "stop"),
}


class Genkit:
    """The dialect."""

    name = "genkit"
    markers = Markers(keys=(_SUBTYPE, _TYPE, "genkit:name", _INPUT, _OUTPUT))
    content = Content(attributes=(_INPUT, _OUTPUT))

    def recognise(self, span: SpanRecord) -> Confidence:
        for key in self.markers.keys:
            if key in span.attributes:
                return Confidence(OWN_ROLE, f"has {key}")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        subtype, kind = span.text(_SUBTYPE), span.text(_TYPE)
        operation = _OPERATIONS.get(subtype or "")
        if "flow" in (subtype, kind):
            operation = run_at_root(span, _INPUT, _OUTPUT)
        name = span.text("genkit:name")
        onto.rename(span, {"genkit:sessionId": gen_ai.CONVERSATION_ID})
        if operation == "chat":
            onto.put(span, gen_ai.REQUEST_MODEL, name)
            _read_request(span)
            _read_response(span)
        elif operation == "retrieval":
            _read_retrieval(span)
        elif subtype == "tool.v2":
            _read_parted_result(span)
        return read_call(span, operation, name, _INPUT, _OUTPUT)


def _read_request(span: Reader) -> None:
    request = span.json(_INPUT, keep_text=False)
    if isinstance(request, dict):
        onto.put(span, gen_ai.INPUT_MESSAGES, _messages(request.get("messages")) or None)
        onto.put(span, gen_ai.TOOL_DEFINITIONS, onto.definitions(request.get("tools")) or None)
        config = request.get("config")
        if isinstance(config, dict):
            for attribute, names in _SETTINGS.items():
                settings = (config[name] for name in names if config.get(name) is not None)
                onto.put(span, attribute, next(settings, None))


def _read_response(span: Reader) -> None:
    response = span.json(_OUTPUT, keep_text=False)
    if isinstance(response, dict):
        onto.put(span, gen_ai.OUTPUT_MESSAGES, _messages([response.get("message")]) or None)
        reason = response.get("finishReason")
        onto.put(span, gen_ai.RESPONSE_FINISH_REASONS, [reason] if reason else None)
        set_usage(span, response.get("usage"))
        raw = response.get("raw", response.get("custom"))  # the provider's own
        if isinstance(raw, dict) and isinstance(raw.get("model"), str):  # of a chat completion
            onto.put(span, gen_ai.RESPONSE_MODEL, raw["model"])
            onto.put(span, gen_ai.RESPONSE_ID, raw.get("id"))
            set_usage(span, raw.get("usage"))


def _read_parted_result(span: Reader) -> None:
    result = span.json(_OUTPUT)
    if isinstance(result, dict) and result.keys() == {"output"}:
        result = result["output"]
    if result is not onto.UNSET:
        onto.set_result(span, result)


def _read_retrieval(span: Reader) -> None:
    request = span.json(_INPUT)
    query = request.get("query") if isinstance(request, dict) else request
    onto.set_query(span, _document_text(query))
    response = span.json(_OUTPUT)
    items = response.get("documents") if isinstance(response, dict) else None
    if isinstance(items, list):
        documents = [
            {**item, "content": _document_text(item)} for item in items if isinstance(item, dict)
        ]
        onto.set_documents(span, documents)


def _document_text(document: Any) -> Any:
    """The text of a document, which a query is too; of one that is not only text, its content."""
    content = document.get("content") if isinstance(document, dict) else document
    if not isinstance(content, list):
        return content
    words: list[str] = []
    for part in content:
        if not isinstance(part, dict) or not isinstance(part.get("text"), str):
            return content
        words.append(part["text"])
    return "".join(words)


def _messages(items: Any) -> list[Message]:
    messages: list[Message] = []
    for one in items if isinstance(items, list) else ():
        if isinstance(one, dict):
            content = one.get("content")
            parts = [_part(part) for part in content] if isinstance(content, list) else []
            role = str(one.get("role", "user"))
            messages.append(message("assistant" if role == "model" else role, parts))
    return messages


def _part(part: Any) -> Part:
    match part:
        case {"toolRequest": {"name": str(name), **call}}:
            return call_part(name, call.get("input"), _ref(call))
        case {"toolResponse": {**given}}:
            return tool_response(given.get("output"), _ref(given))
        case {"reasoning": str(thought)}:
            return reasoning(thought)
        case {"text": str(words)}:
            return text(words)
        case _:
            return {"type": "unknown", "content": part}


def _ref(call: dict[Any, Any]) -> str | None:
    ref = call.get("ref")
    return ref if isinstance(ref, str) else None
