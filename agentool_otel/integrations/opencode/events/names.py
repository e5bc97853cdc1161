"""Names of opencode's spans and parts of messages, and what is read from each.

Seen in the records of opencode 1.18.33 unless a comment names another source. Its log records are
lines for debugging, of no event.
"""

from __future__ import annotations

from agentool_otel.ground import lazy_re as re

__all__ = ["AGENT", "CALL", "FILE", "PARENT", "PARTS", "PLUMBING_PARTS", "PLUMBING_SPANS", "SCOPE",
           "SESSION", "SPANS", "TITLE", "TURN"]  # fmt: skip

AGENT = "opencode"
SCOPE = "opencode"
FILE = SCOPE + ".session"
"""The scope of what is read from exports, and of the spans that a session is made of."""

SESSION = "session.id"
PARENT = "opencode.parent_session_id"
"""Attribute with the session that a sub-agent works for."""
TURN = "opencode.prompt_id"
"""Attribute with the id of the user's message that began a turn."""
CALL = "opencode.tool_call_id"
"""Attribute with the id of the tool call that started a sub-agent."""

SPANS = {
    "SessionPrompt.prompt": "turn",  # or a sub-agent, below a tool
    "ai.streamText.doStream": "model",
    "ai.generateText.doGenerate": "model",  # the Vercel AI SDK
    "ai.generateObject.doGenerate": "model",
    "ai.streamObject.doStream": "model",
    "ai.toolCall": "tool",
    "Tool.execute": "tool",
}
"""Event of the session that a span is of, by its name."""

TITLE = "SessionPrompt.ensureTitle"
"""Span around the model call that makes a title for the session."""

PLUMBING_SPANS = re.compile(
    r"ai\.(stream|generate)(Text|Object)"  # around a model call, with the same again
    r"|(?!ai\.|gen_ai\.|mcp\.)[A-Za-z]\w*(\.\w+)*"
    r"|(GET|POST|PUT|PATCH|DELETE|http\.\w+) ?.*"
)
"""Spans that are of no event: some thousand a prompt, named for functions of opencode and for
requests to its server."""

PARTS = {
    "text": "model",  # or a prompt
    "reasoning": "model",
    "step-start": "model",
    "step-finish": "model",
    "tool": "tool",
}
"""Event of the session that a part of a message is of, by `type`."""

PLUMBING_PARTS = frozenset({
    "agent", "compaction", "file", "patch", "retry", "snapshot", "subtask",
})  # fmt: skip
"""Parts that are of no event, from its SDK."""
