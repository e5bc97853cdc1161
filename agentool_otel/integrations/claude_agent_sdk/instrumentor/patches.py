"""The Claude Agent SDK: `query()` and `ClaudeSDKClient`.

The SDK runs the Claude Code CLI, which calls the model in a process of its own. The CLI's frames
are read where they arrive (`sessions`), and the steps are made of them (`agents`):

    query()            invoke_agent, from its first message to its last; of a prompt that is an
                       iterator, one for each of its messages, as with the client
    ClaudeSDKClient    invoke_agent for each prompt, until its result
    model message      chat: one for each id of a message, with the counts of the stream's end
    tool               execute_tool, built-in and MCP, under the id of the model's request
    Agent, Task        execute_tool, with the invoke_agent of the sub-agent inside it

The conversation is the id of the session. A call that is not permitted has failed with
`permission_denied`.

Two options of the SDK are switched on: `include_partial_messages`, because only the events of a
stream have the number of output tokens and the reason to stop, and `forward_subagent_text`, without
which the last message of a sub-agent is missing. What they add is taken out again before the SDK
sees it, unless the program has asked for it.

Not seen: the requests of the CLI that are no part of the conversation (titles, summaries of pages,
retries), the reminders that it adds to a prompt, what a resumed session has said before, and the
output tokens of the model calls of sub-agents, other than the last one.

Source: claude-agent-sdk 0.1.81 to 0.2.189. Private are `InternalClient`, `Query` and
`SubprocessCLITransport`.
"""

from __future__ import annotations

from agentool_otel.integrations.claude_agent_sdk.instrumentor.hooks import PATCHES
from agentool_otel.tracing.instrumentation.instrumentor import AgentInstrumentor

__all__ = ["ClaudeAgentSDKInstrumentor"]


class ClaudeAgentSDKInstrumentor(AgentInstrumentor):
    """`query()` and clients: sub-agents, tools, MCP and permissions, from the frames of the CLI."""

    framework = "claude-agent-sdk"
    supports = ("claude-agent-sdk >= 0.1.81",)
    patches = PATCHES
