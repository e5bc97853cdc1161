"""Spring AI: GenAI names for model calls, its own for the work around them, content in logs.

Source: spans and log records of Spring AI 1.0.3, 1.1.4 and 2.0.0. A `chat_client` is a whole run:
prompt, memory, tools and answer; its advisors are plumbing. Content is in log records,
each a title and a list (see `logs`). Micrometer writes `none` for a value that is not known,
and Spring AI counts zero tokens where a streaming server did not count any.
"""

from __future__ import annotations

from agentool_otel.dialects.kit import to_gen_ai as onto
from agentool_otel.dialects.kit.dialect import EXTENDS, NOT_MINE, Confidence, Content, Markers
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.integrations.spring_ai.dialect.logs import entries, role_texts, texts
from agentool_otel.model.messages import message, text
from agentool_otel.model.operations import Operation
from agentool_otel.model.spans import SpanRecord
from agentool_otel.providers.finish_reasons import finish_reason
from agentool_otel.semconv import gen_ai

__all__ = ["SpringAI"]

_KIND = "spring.ai.kind"
_SYSTEM = "gen_ai.system"
_NAMES = {
    "spring.ai.tool.definition.name": gen_ai.TOOL_NAME,
    "spring.ai.tool.definition.description": gen_ai.TOOL_DESCRIPTION,
    "spring.ai.tool.call.id": gen_ai.TOOL_CALL_ID,
    "spring.ai.tool.type": gen_ai.TOOL_TYPE,
    "spring.ai.tool.call.arguments": gen_ai.TOOL_CALL_ARGUMENTS,
    "spring.ai.tool.call.result": gen_ai.TOOL_CALL_RESULT,
    "spring.ai.chat.client.conversation.id": gen_ai.CONVERSATION_ID,
    "db.vector.query.content": gen_ai.RETRIEVAL_QUERY_TEXT,
    "db.vector.query.top_k": gen_ai.RETRIEVAL_TOP_K,
    "spring.ai.vector_store.query.response.documents": gen_ai.RETRIEVAL_DOCUMENTS,
}
_OFFERED = ("spring.ai.model.request.tool.names", "spring.ai.chat.client.tool.names")
_TOKENS = (
    gen_ai.USAGE_INPUT_TOKENS,
    gen_ai.USAGE_OUTPUT_TOKENS,
    gen_ai.USAGE_TOTAL_TOKENS,
)


class SpringAI:
    """The dialect."""

    name = "spring_ai"
    markers = Markers(keys=("spring.ai.",), scopes=("org.springframework",))
    content = Content(
        attributes=(
            "spring.ai.tool.call.arguments",
            "spring.ai.tool.call.result",
            "spring.ai.tool.definition.schema",
            *("spring.ai.chat.client.user.", "spring.ai.chat.client.system."),
            "db.vector.query.content",
            "spring.ai.vector_store.query.response.documents",
        )
    )

    def recognise(self, span: SpanRecord) -> Confidence:
        if any(key.startswith("spring.ai.") for key in span.attributes):
            return Confidence(EXTENDS, "has spring.ai.*")
        if (
            span.scope.startswith("org.springframework")
            and gen_ai.OPERATION_NAME in span.attributes
        ):
            return Confidence(EXTENDS, "scope of Spring")
        return NOT_MINE

    def read(self, span: Reader) -> Operation:
        kind = span.rest.get(_KIND)
        if span.rest.get(_SYSTEM) == "spring_ai":  # the framework, not a provider
            onto.drop(span, _SYSTEM)
        onto.rename(span, _NAMES)
        if kind == "tool_call" or gen_ai.TOOL_NAME in span.rest:
            onto.drop(span, _KIND)
            return onto.as_operation(span, "execute_tool")
        if kind == "vector_store":
            return _read_store(span)
        if kind == "chat_client":
            return _read_client(span)
        if kind is not None:  # an advisor, around the model call or another one
            return onto.unclassified(span)
        return _read_model_call(span)


def _read_client(span: Reader) -> Operation:
    onto.drop(span, _KIND)
    _offer(span)
    prompts = [
        prompt
        for entry in entries(span, "Chat Client Prompt Content")
        for prompt in role_texts(entry)
    ]
    onto.set_system(span, [{"text": words} for role, words in prompts if role == "system"])
    messages = [message(role, [text(words)]) for role, words in prompts if role != "system"]
    onto.put(span, gen_ai.INPUT_MESSAGES, messages or None)
    _answer(span, "Chat Client Completion")
    return onto.as_operation(span, "invoke_agent")


def _read_store(span: Reader) -> Operation:
    if span.rest.get("db.operation.name") != "query":  # filling a store is no part of a run
        return onto.unclassified(span)
    onto.drop(span, _KIND)
    for entry in entries(span, "Vector Store Query Response"):
        onto.set_documents(span, [{"content": words} for words in texts(entry)] or None)
    return onto.as_operation(span, "retrieval")


def _read_model_call(span: Reader) -> Operation:
    attributes = span.rest
    if attributes.get(gen_ai.OPERATION_NAME) == "embedding":
        attributes[gen_ai.OPERATION_NAME] = "embeddings"
    for key in (gen_ai.REQUEST_MODEL, gen_ai.RESPONSE_MODEL):
        if attributes.get(key) == "none":
            onto.drop(span, key)
    if all(str(attributes.get(key, 0)) == "0" for key in _TOKENS):
        onto.drop(span, *_TOKENS)
    if (reasons := span.texts(gen_ai.RESPONSE_FINISH_REASONS)) is not None:
        attributes[gen_ai.RESPONSE_FINISH_REASONS] = [
            str(finish_reason(reason)) for reason in reasons
        ]
    _offer(span)
    for entry in entries(span, "Chat Model Prompt Content"):
        contents = texts(entry)
        # The roles are not told, and of tool calls and results nothing; one message is the user's.
        role = {"role": "user"} if len(contents) == 1 else {}
        messages = [{**role, "parts": [text(words)] if words else []} for words in contents]
        onto.put(span, gen_ai.INPUT_MESSAGES, messages or None)
    _answer(span, "Chat Model Completion")
    return onto.as_operation(span)


def _offer(span: Reader) -> None:
    for key in _OFFERED:
        if key in span.rest and (names := span.texts(key)):
            onto.put(span, gen_ai.TOOL_DEFINITIONS, onto.definitions(names))


def _answer(span: Reader, title: str) -> None:
    for entry in entries(span, title):
        messages = [message("assistant", [text(words)]) for words in texts(entry) if words]
        onto.put(span, gen_ai.OUTPUT_MESSAGES, messages or None)
