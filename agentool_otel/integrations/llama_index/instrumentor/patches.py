"""LlamaIndex: agents, workflows, tools, model calls, retrieval and embeddings.

What happens comes from the official hook: a span handler and an event handler of the root
dispatcher. Beside them stands one public method, `Workflow.run`, which knows the memory of a run.

    agent, `AgentWorkflow` of one   invoke_agent, named by the agent
    `AgentWorkflow` of several      invoke_workflow, and invoke_agent for each agent as they hand
                                    over; the tool `handoff` is the handoff
    any other workflow              invoke_workflow; its steps have no span
    query engine, chat engine       invoke_workflow
    tool                            execute_tool, under the id of the model's request. A tool that
                                    waits for a human (`ctx.wait_for_event`) is one step, though
                                    LlamaIndex calls it again from its beginning
    retriever                       retrieval, with the documents and their scores
    model call, embeddings          chat and embeddings, by the client's instrumentor where that
                                    records them: it sees more of them than the events have. Else
                                    by the events

The session is that of the memory: the `session_id` of a `Memory`, or the key that a program has
chosen for a `ChatMemoryBuffer`.

A memory is no step: its messages are in the model calls. Not seen: the stream of a model that is
read in another context than it was made in, unless a client's instrumentor sees it.

Source: llama-index-core 0.13 and 0.14, llama-index-workflows 1.3 and 2.26.
"""

from __future__ import annotations

from asyncio import Future
from collections.abc import Callable
from typing import Any

from opentelemetry.context import attach, get_current

from agentool_otel.ground.import_hooks import after_import
from agentool_otel.tracing.instrumentation.instrumentor import AgentInstrumentor, Attached, Patch
from agentool_otel.tracing.spans.attaching import restore
from agentool_otel.tracing.spans.identity import identify, names_of
from agentool_otel.tracing.spans.settings import guarded

__all__ = ["LlamaIndexInstrumentor"]

_HOOK = "llama_index_instrumentation"


def _run(
    wrapped: Callable[..., Any], workflow: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Start a run in the context of its conversation, and leave nothing of it current."""
    context = get_current()
    with guarded("reading the memory of a run of LlamaIndex"):
        from agentool_otel.integrations.llama_index.instrumentor.runs import conversation_of

        options = dict(zip(("ctx", "start_event"), args, strict=False)) | kwargs
        context = identify(context, names_of(conversation_of(options)))
    token = attach(context)
    try:
        handler = wrapped(*args, **kwargs)
        with guarded("following a run of LlamaIndex"):
            if isinstance(handler, Future):  # of workflows 1.x, whose run is current here
                from agentool_otel.integrations.llama_index.instrumentor.runs import current_run

                run = current_run()
                if run is not None and run.workflow is workflow:
                    run.future = handler
        return handler
    finally:
        restore(token)


class LlamaIndexInstrumentor(AgentInstrumentor):
    """Agents, handoffs, workflows, tools, query and chat engines, retrieval; model calls and
    embeddings of any provider: the official handlers of its dispatcher."""

    framework = "llama-index-core"
    supports = ("llama-index-core >= 0.13",)
    patches = (Patch("workflows.workflow", "Workflow.run", _run),)
    native_scopes = ("llamaindex.opentelemetry.tracer",)

    _handlers: Any = None

    def instrument(self, **options: Any) -> None:
        super().instrument(**options)
        if self._handlers is not None:
            self._handlers.enable(True)

    def uninstrument(self, **options: Any) -> None:
        super().uninstrument(**options)
        if self._handlers is not None:
            self._handlers.enable(False)

    def _install(self) -> None:
        super()._install()
        if self.version is None:
            self.attached[_HOOK] = Attached(_HOOK, "missing", "not installed")
        else:
            self.attached[_HOOK] = Attached(_HOOK, "waiting")
        after_import(_HOOK, self._register)

    def _attach_again(self) -> None:
        super()._attach_again()
        if self._handlers is not None:
            import sys

            self._register(sys.modules[_HOOK])

    def _register(self, module: Any) -> None:
        """Add the handlers to the root dispatcher, by which all others pass on what they see."""
        try:
            from agentool_otel.integrations.llama_index.instrumentor.handlers import add_to

            self._handlers = add_to(module.root_dispatcher)
            self._handlers.enable(self.enabled)
        except Exception as error:  # LlamaIndex's import must not fail by us
            self.attached[_HOOK] = Attached(_HOOK, "failed", f"{type(error).__name__}: {error}")
            return
        self.attached[_HOOK] = Attached(_HOOK, "attached")
