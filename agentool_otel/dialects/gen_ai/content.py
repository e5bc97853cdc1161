"""Names with content in older GenAI conventions, beyond the renames of `semconv.table`.

Spec: semantic-conventions 1.27 to 1.36. The bare names are members of the bodies of events.
"""

from __future__ import annotations

from agentool_otel.dialects.kit.dialect import Content
from agentool_otel.semconv import gen_ai

__all__ = ["CONTENT"]

CONTENT = Content(
    attributes=(
        *("gen_ai.prompt.", "gen_ai.completion."),
        *(gen_ai.INPUT_MESSAGES + ".", gen_ai.OUTPUT_MESSAGES + "."),
        *("llm.prompts", "llm.prompts.", "llm.completions", "llm.completions."),
        *("gen_ai.event.content", "body", "input.value", "output.value"),
        *("input", "inputs", "output", "outputs"),
        *("content", "message", "messages", "parts", "prompt", "completion", "response", "text"),
        *("tool_calls", "toolCalls", "arguments", "parameters", "result"),
        *("gen_ai.response.object", "gen_ai.tool.message"),  # Sentry's
        *("stop", "stop_sequences", "stopSequences"),  # of a request's parameters
        # Of the database and HTTP conventions: a tool fills them with its arguments.
        *("db.statement", "db.query.text", "db.query.parameter.", "db.operation.parameter."),
        *("http.request.header.", "http.response.header."),
    ),
    events=("gen_ai.content.", "gen_ai.choice", "gen_ai.*.message"),
)
