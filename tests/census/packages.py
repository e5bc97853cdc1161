"""The packages that write the spans we read, each with the namespaces of its names.

A name is content by the declaration of a dialect (`semconv/foreign.py`), known by the conventions
(`semconv/table.py`), or listed as harmless in `harmless.txt`.
"""

from __future__ import annotations

__all__ = ["PACKAGES"]

_GEN_AI = ("gen_ai", "llm")
_OPENLLMETRY = (*_GEN_AI, "traceloop", "mcp")

PACKAGES: dict[str, tuple[str, ...]] = {
    "agent-framework-core": ("gen_ai", "agent_framework"),
    "agentops": (*_GEN_AI, "agentops"),
    "any-agent": ("gen_ai", "any_agent"),
    "google-adk": ("gen_ai", "gcp"),
    "haystack-ai": ("haystack",),
    "langfuse": ("langfuse", "gen_ai"),
    "langsmith": ("langsmith", "gen_ai"),
    "langtrace-python-sdk": (*_GEN_AI, "langtrace"),
    "litellm": (*_GEN_AI, "litellm"),
    "livekit-agents": ("lk", "gen_ai"),
    "llama-index-observability-otel": ("llama_index", "gen_ai"),
    "logfire-sdk": ("logfire", "gen_ai"),
    "mlflow-tracing": ("mlflow", "gen_ai"),
    "openinference-semantic-conventions": (
        *("llm", "input", "output", "tool", "tool_call", "embedding", "reranker", "document"),
        *("message", "message_content", "retrieval", "session", "user", "tag", "prompt", "image"),
        *("audio", "agent", "graph", "openinference", "exception", "choice", "prompt_details"),
    ),
    "openlit": (*_GEN_AI, "openlit"),
    "opentelemetry-instrumentation-anthropic": _OPENLLMETRY,
    "opentelemetry-instrumentation-bedrock": _OPENLLMETRY,
    "opentelemetry-instrumentation-crewai": (*_OPENLLMETRY, "crewai"),
    "opentelemetry-instrumentation-langchain": _OPENLLMETRY,
    "opentelemetry-instrumentation-llamaindex": _OPENLLMETRY,
    "opentelemetry-instrumentation-mcp": _OPENLLMETRY,
    "opentelemetry-instrumentation-openai": _OPENLLMETRY,
    "opentelemetry-instrumentation-openai-agents": _OPENLLMETRY,
    "opentelemetry-semantic-conventions-ai": _OPENLLMETRY,
    "opentelemetry-util-genai": ("gen_ai",),
    "opik": ("opik", "gen_ai"),
    "pipecat-ai": (*_GEN_AI, "pipecat", "stt", "tts", "turn"),
    "pydantic-ai-slim": ("pydantic_ai", "gen_ai"),
    "semantic-kernel": ("gen_ai", "semantic_kernel"),
    "strands-agents": ("gen_ai", "strands"),
    "traceloop-sdk": _OPENLLMETRY,
    "trulens-otel-semconv": ("ai",),
    "weave": ("weave", "wandb", "gen_ai"),
}
