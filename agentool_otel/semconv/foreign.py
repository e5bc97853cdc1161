"""Where other vocabularies keep what people and models said.

Only as much as it takes to leave it out: what these names mean is known to the dialects.
Sources: OpenInference semantic_conventions.md (2026-08), OpenLLMetry semconv-ai 0.5, the GenAI
conventions before 1.37, and the attribute names of the SDKs named, as of November 2026.
"""

from __future__ import annotations

from agentool_otel.semconv import gen_ai
from agentool_otel.semconv.table import CONTENT, OURS

__all__ = ["EVENT_KEEPS", "holds_content", "is_content_event", "is_content_member"]

_NAMES = frozenset(
    {
        *CONTENT,
        # In a generation that has no name for it
        *(f"{OURS}{name}" for name in CONTENT if not name.startswith(OURS)),
        # GenAI conventions before 1.37, LangSmith
        *("gen_ai.prompt", "gen_ai.completion", "gen_ai.event.content", "gen_ai.tool.args"),
        *("gen_ai.output", "gen_ai.agent.task", "gen_ai.agent.instructions"),
        # Sentry
        *("gen_ai.request.messages", "gen_ai.response.text", "gen_ai.response.tool_calls"),
        "gen_ai.request.available_tools",
        # OpenInference
        *("input.value", "output.value", "llm.prompts", "llm.completions", "llm.function_call"),
        *("message.content", "tool.parameters", "reranker.query", "llm.prompt_template.variables"),
        *("embedding.text", "document.content"),
        # OpenLLMetry
        *("traceloop.entity.input", "traceloop.entity.output"),
        *("traceloop.prompt.template_variables", "llm.response.text"),
        # pydantic-ai and Logfire
        *("all_messages_events", "pydantic_ai.all_messages", "final_result", "events", "raw_input"),
        *("request_data", "response_data", "prompt", "tool_arguments", "tool_response"),
        # Langfuse, MLflow, LangWatch, Laminar, Braintrust, Weave, AgentOps, Mastra, Genkit
        *("langfuse.observation.input", "langfuse.observation.output"),
        *("langfuse.trace.input", "langfuse.trace.output"),
        *("mlflow.spanInputs", "mlflow.spanOutputs", "langwatch.input", "langwatch.output"),
        *("lmnr.span.input", "lmnr.span.output", "braintrust.input", "braintrust.output"),
        *("braintrust.input_json", "braintrust.output_json", "agentops.entity.input"),
        *("agentops.entity.output", "genkit:input", "genkit:output", "inputs", "outputs"),
        # Google ADK
        *("gcp.vertex.agent.llm_request", "gcp.vertex.agent.llm_response"),
        *("gcp.vertex.agent.tool_call_args", "gcp.vertex.agent.tool_response"),
        *("gcp.vertex.agent.data",),
        # Vercel AI SDK
        *("ai.prompt", "ai.response.text", "ai.response.object", "ai.response.toolCalls"),
        *(
            "ai.response.reasoning",
            "ai.toolCall.args",
            "ai.toolCall.result",
            "ai.value",
            "ai.values",
        ),
        # Anthropic's SDK, coding agents
        *(
            "anthropic.tool_result.content",
            "user_prompt",
            "tool_input",
            "tool_output",
            "crew_inputs",
        ),
    }
)
_PREFIXES = (
    f"{OURS}{gen_ai.PROMPT_VARIABLE_PREFIX}",
    *("gen_ai.prompt.", "gen_ai.completion.", "llm.input_messages.", "llm.output_messages."),
    *("llm.prompts.", "llm.completions.", "llm.choices.", "retrieval.documents."),
    *("reranker.input_documents.", "reranker.output_documents.", "embedding.embeddings."),
    *("ai.prompt.", "ai.response.message", "mastra.input", "mastra.output", "flue.turn."),
)
_NOT = frozenset({"gen_ai.prompt.name", "gen_ai.prompt.version"})
_EVENTS = ("gen_ai.content.", "gen_ai.choice")
EVENT_KEEPS = frozenset(
    {"gen_ai.system", "gen_ai.provider.name", "event.name", "role", "id", "index"}
)
"""What may stay of such an event."""

_MEMBERS = frozenset(
    {
        *("content", "message", "messages", "input", "output", "prompt", "completion", "response"),
        *("tool_calls", "arguments", "parameters", "result", "text"),
    }
)
"""What the members of a structured body are called that hold content: bare names, because the name
of the event says whose they are."""


def holds_content(name: str) -> bool:
    """Whether the attribute of this name holds what people, models or tools said."""
    return name in _NAMES or (name.startswith(_PREFIXES) and name not in _NOT)


def is_content_event(name: str) -> bool:
    """Whether events and log records of this name carry content in whatever they hold."""
    return name.startswith(_EVENTS) or (name.startswith("gen_ai.") and name.endswith(".message"))


def is_content_member(name: str) -> bool:
    """Whether a member of this name, in the body of an event, holds what was said."""
    return name in _MEMBERS
