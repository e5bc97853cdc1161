"""Google's Agent Development Kit.

    runner               invoke_agent, or invoke_workflow where there are several agents, with the
                         session and the user
    agent                invoke_agent; a sequence, a loop or parallel agents: invoke_workflow
    handoff              execute_tool transfer_to_agent, which names the agent that goes on
    agent as a tool      execute_tool, and inside it the run of the agent
    tool                 execute_tool, with the id of the call; one that waits has no result
    model call           chat, by the client's instrumentor where that records it: it sees more
                         than ADK tells. Else by ADK's own request and answer
    memory               search_memory and upsert_memory

Model calls of a live session are not recorded: it is one connection for all.

Source: google-adk 1.19, 2.0 and 2.13.
"""

from __future__ import annotations

from agentool_otel.integrations.adk.instrumentor import memory, models, native, runs, tools
from agentool_otel.tracing.instrumentation.instrumentor import AgentInstrumentor

__all__ = ["ADKInstrumentor"]


class ADKInstrumentor(AgentInstrumentor):
    """Agents, handoffs, workflow agents, tools, memory; model calls of any model: the methods of
    its runners, agents and plugins"""

    framework = "google-adk"
    supports = ("google-adk >= 1.19",)
    patches = (*runs.PATCHES, *tools.PATCHES, *models.PATCHES, *memory.PATCHES, *native.PATCHES)
    native_scopes = ("gcp.vertex.agent",)
