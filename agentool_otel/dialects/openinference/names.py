"""OpenInference's names of attributes, and the equivalent ones of the GenAI conventions."""

from __future__ import annotations

from agentool_otel.dialects.kit.dialect import Content
from agentool_otel.semconv import agentool, gen_ai
from agentool_otel.semconv import openinference as oi

__all__ = ["AGENT", "COMMON", "CONTENT", "COST", "KINDS", "MODEL", "RERANKER", "TOOL", "USAGE"]

KINDS = {
    oi.LLM: "chat",
    oi.TOOL: "execute_tool",
    oi.AGENT: "invoke_agent",
    oi.EMBEDDING: "embeddings",
    oi.RETRIEVER: "retrieval",
    oi.RERANKER: "retrieval",
}
"""The GenAI operation of each kind that is one."""
COMMON = {oi.SESSION_ID: gen_ai.CONVERSATION_ID}
USAGE = {
    oi.LLM_TOKENS_PROMPT: gen_ai.USAGE_INPUT_TOKENS,
    oi.LLM_TOKENS_COMPLETION: gen_ai.USAGE_OUTPUT_TOKENS,
    oi.LLM_TOKENS_TOTAL: gen_ai.USAGE_TOTAL_TOKENS,
    oi.LLM_TOKENS_CACHE_READ: gen_ai.USAGE_CACHE_READ_INPUT_TOKENS,
    oi.LLM_TOKENS_CACHE_WRITE: gen_ai.USAGE_CACHE_WRITE_INPUT_TOKENS,
    oi.LLM_TOKENS_AUDIO_INPUT: gen_ai.USAGE_AUDIO_INPUT_TOKENS,
    oi.LLM_TOKENS_AUDIO_OUTPUT: gen_ai.USAGE_AUDIO_OUTPUT_TOKENS,
    oi.LLM_TOKENS_REASONING: gen_ai.USAGE_REASONING_OUTPUT_TOKENS,
}
COST = {oi.LLM_COST_TOTAL: agentool.COST_USD}
TOOL = {
    oi.TOOL_NAME: gen_ai.TOOL_NAME,
    oi.TOOL_ID: gen_ai.TOOL_CALL_ID,
    oi.TOOL_DESCRIPTION: gen_ai.TOOL_DESCRIPTION,
}
AGENT = {
    oi.AGENT_NAME: gen_ai.AGENT_NAME,
    oi.AGENT_ID: agentool.AGENT_ID,
    "agent.version": gen_ai.AGENT_VERSION,
    "agent.description": gen_ai.AGENT_DESCRIPTION,
}
RERANKER = {
    oi.RERANKER_QUERY: gen_ai.RETRIEVAL_QUERY_TEXT,
    oi.RERANKER_MODEL_NAME: gen_ai.REQUEST_MODEL,
    oi.RERANKER_TOP_K: gen_ai.RETRIEVAL_TOP_K,
}
MODEL = {
    oi.LLM_PROVIDER: gen_ai.PROVIDER_NAME,
    oi.LLM_REQUEST_MODEL_NAME: gen_ai.REQUEST_MODEL,
    oi.LLM_RESPONSE_MODEL_NAME: gen_ai.RESPONSE_MODEL,
}

_LISTS = (
    *(oi.LLM_INPUT_MESSAGES, oi.LLM_OUTPUT_MESSAGES, oi.LLM_PROMPTS, "llm.completions"),
    *(oi.LLM_CHOICES, oi.LLM_TOOLS, oi.RETRIEVAL_DOCUMENTS, "reranker.input_documents"),
    *(oi.RERANKER_OUTPUT_DOCUMENTS, oi.EMBEDDING_EMBEDDINGS),
)
CONTENT = Content(
    attributes=(
        *(oi.INPUT_VALUE, oi.OUTPUT_VALUE, oi.TOOL_PARAMETERS, oi.TOOL_CALL_FUNCTION_ARGUMENTS),
        *_LISTS,
        *(f"{name}." for name in _LISTS),
        *("llm.prompt_template.template", "llm.prompt_template.variables", "llm.function_call"),
        *("message.content", "document.content", "embedding.text", "tool.json_schema"),
        *(oi.RERANKER_QUERY, "formatted_description", "raw_input"),
        *("input.audio.", "output.audio.", "input.images.", "output.images."),
        *("input.images", "output.images", "input.documents", "output.documents"),
        *("input.documents.", "output.documents.", "audio.transcript", "prompt.text"),
        *("message_content.", "message.contents", "message.function_call_arguments_json"),
        *("message.tool_calls", "message.tool_calls.", "image.url", "audio.url"),
        *("document.metadata", "document.name", "document.url", "embedding.vector"),
        f"{oi.ANNOTATIONS}.*.annotation.explanation",
        f"{oi.EVALUATIONS}.*.evaluation.explanation",
    ),
    keeps=("llm.tools.count",),
    objects=(oi.LLM_INVOCATION_PARAMETERS, oi.EMBEDDING_INVOCATION_PARAMETERS),
)
