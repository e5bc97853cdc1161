"""OpenAI's Agents SDK: agents, handoffs, tools, guardrails and sessions.

Runs come from the runner, through which every call of `Runner` goes, and what happens inside them
from the SDK's own spans, observed where they start and finish (`sdk_spans`). Nothing is registered
with the SDK: its processors, and whether its traces are uploaded, are as the user has set them.

    run                 invoke_agent, or invoke_workflow with an invoke_agent for each agent;
                        conversation: the session's id, the conversation's, or the group's
    trace(...)          invoke_workflow, where the user has opened it
    model call          the client's own span; chat, where no client of ours made the call
    function tool       execute_tool, under the id of the model's request
    handoff             execute_tool, which names the agent that goes on
    agent as a tool     execute_tool, with the run inside it
    guardrail           evaluation of its agent: 1 passed, 0 tripped
    session             search_memory, create_memory, delete_memory

A run that waits for the approval of a human is `in_progress`, and so is the call it waits for,
which is made again later; a call that a human rejects has failed with `rejected`. A tripwire and
the limit of turns end the run with the exception that the program gets; the model call beside them
is no failure of the model, and shows one only where it was cancelled.

Where the SDK's tracing is switched off (OPENAI_AGENTS_DISABLE_TRACING, `set_tracing_disabled`,
`RunConfig.tracing_disabled`) nothing is uploaded, and everything here is recorded as before: that
switch is about the SDK's traces, and ours have their own. Only computers, shells and patches, which
have no span then, and a `trace` of the user's are missing. `trace_include_sensitive_data=False` is
about the content of traces, whoever takes them: it holds for ours, too.

Not seen: lists of tools of MCP servers and the calls to them (their client's instrumentor has
them), custom spans, realtime and voice, models of the user's own that make no span of the SDK's.

Source: openai-agents 0.6 to 0.24.
"""

from __future__ import annotations

from agentool_otel.integrations.openai_agents.instrumentor import runs, sdk_spans, sessions
from agentool_otel.tracing.instrumentation.instrumentor import AgentInstrumentor, Attached, Patch

__all__ = ["OpenAIAgentsInstrumentor"]

_RUNNER = "agents.run"
_SPANS = "agents.tracing.spans"
_TRACES = "agents.tracing.traces"


class OpenAIAgentsInstrumentor(AgentInstrumentor):
    """Agents, handoffs, tools, guardrails and sessions; traced by the SDK or not: the methods of
    its spans."""

    framework = "openai-agents"
    supports = ("openai-agents >= 0.6",)
    patches = (
        Patch(_RUNNER, "AgentRunner.run", runs.run),
        Patch(_RUNNER, "AgentRunner.run_streamed", runs.run_streamed),
        *(
            patch
            for owner in ("SpanImpl", "NoOpSpan")
            for patch in (
                Patch(_SPANS, f"{owner}.start", sdk_spans.started),
                Patch(_SPANS, f"{owner}.finish", sdk_spans.finished),
                Patch(_SPANS, f"{owner}.__exit__", sdk_spans.exited),
                Patch(_SPANS, f"{owner}.set_error", sdk_spans.failed),
            )
        ),
        Patch(_TRACES, "TraceImpl.start", sdk_spans.trace_started),
        Patch(_TRACES, "TraceImpl.finish", sdk_spans.trace_finished),
        Patch(_TRACES, "TraceImpl.__exit__", sdk_spans.exited),
        Patch("agents.tool_context", "ToolContext.__init__", sdk_spans.tool_called),
        Patch("agents.items", "ItemHelpers.tool_call_output_item", sdk_spans.handoff_answered),
        *sessions.PATCHES,
    )

    def _install(self) -> None:
        """Leave another package alone that is called `agents` as well."""
        if self.version is not None:
            super()._install()
            return
        for patch in self.patches:
            name = f"{patch.module}.{patch.target}"
            self.attached[name] = Attached(name, "missing", "not installed")
        self._installed = False  # it may be installed by the next time
