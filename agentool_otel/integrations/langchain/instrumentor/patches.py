"""LangChain and LangGraph: agents, model and tool calls, retrieval, handoffs and the store.

Runs come from the official hook: one callback handler for the process, which LangChain adds to
every run, also of agents that were built before. Around it stand public methods only, so that a
span is the current one while its body runs and never longer (`tracing.instrumentation.frames`).

    graph or agent       invoke_agent, nested ones below it; nodes and chains have no span
    chat model, LLM      chat or text_completion; the client's own span is left out
    tool                 execute_tool, under the id of the model's request
    Command(goto=...)    execute_tool transfer_to_<node>; a tool that returns one is the handoff
    interrupt(question)  the output of its run; the answer is the input of the one that goes on
    retriever, store     retrieval; search_memory, upsert_memory, delete_memory

Not seen: `RemoteGraph`, checkpointers, and the store's `batch` when it is called directly.

Source: langchain-core 1.0 to 1.7, langgraph 1.0 to 1.2.
"""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from agentool_otel.content.encoding.attributes import allow
from agentool_otel.ground.import_hooks import after_import
from agentool_otel.integrations.langchain.instrumentor.memory import PATCHES as MEMORY
from agentool_otel.integrations.langchain.instrumentor.runs import LiveRun, Runs
from agentool_otel.tracing.instrumentation import frames
from agentool_otel.tracing.instrumentation.instrumentor import AgentInstrumentor, Attached, Patch
from agentool_otel.tracing.spans.settings import guarded

__all__ = ["LangChainInstrumentor"]

for _package in ("langchain", "langchain_core", "langchain_anthropic", "langchain_openai"):
    allow(_package)
allow("langgraph")

_HOOK = "langchain_core.tracers.context"
_CHAT = "langchain_core.language_models.chat_models"
_LLM = "langchain_core.language_models.llms"

_runs = Runs()


def _events(
    wrapped: Callable[..., Any], _: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Event streams (`version="v3"`) start their run outside any method that could be a frame."""
    iterator = wrapped(*args, **kwargs)
    with guarded("reading a LangChain event stream"):
        run = _runs.get(getattr(kwargs.get("run_manager"), "run_id", None))
        if isinstance(run, LiveRun):
            over = frames.inside_async if hasattr(iterator, "__anext__") else frames.inside
            return over(run.context, iterator)
    return iterator


class LangChainInstrumentor(AgentInstrumentor):
    """LangChain and LangGraph with their retrievers and stores: the official callback handler."""

    framework = "langchain-core"
    supports = ("langchain-core >= 1.0",)
    patches = (
        Patch("langgraph.pregel", "Pregel.stream", frames.streamed("graph")),
        Patch("langgraph.pregel", "Pregel.astream", frames.streamed_async("graph")),
        Patch(_CHAT, "BaseChatModel.generate", frames.called("model")),
        Patch(_CHAT, "BaseChatModel.agenerate", frames.awaited("model")),
        Patch(_CHAT, "BaseChatModel.stream", frames.streamed("model")),
        Patch(_CHAT, "BaseChatModel.astream", frames.streamed_async("model")),
        # private, of langchain-core >= 1.4 (language_models/chat_models.py)
        Patch(_CHAT, "BaseChatModel._iter_v2_events", _events, optional=True),
        Patch(_CHAT, "BaseChatModel._aiter_v2_events", _events, optional=True),
        Patch(_LLM, "BaseLLM.generate", frames.called("model")),
        Patch(_LLM, "BaseLLM.agenerate", frames.awaited("model")),
        Patch(_LLM, "BaseLLM.stream", frames.streamed("model")),
        Patch(_LLM, "BaseLLM.astream", frames.streamed_async("model")),
        Patch("langchain_core.tools.base", "BaseTool.run", frames.called("tool")),
        Patch("langchain_core.tools.base", "BaseTool.arun", frames.awaited("tool")),
        Patch("langchain_core.retrievers", "BaseRetriever.invoke", frames.called("retriever")),
        Patch("langchain_core.retrievers", "BaseRetriever.ainvoke", frames.awaited("retriever")),
        *MEMORY,
    )

    _handler: Any = None

    def instrument(self, **options: Any) -> None:
        super().instrument(**options)
        if self._handler is not None:
            self._handler.enabled = True

    def uninstrument(self, **options: Any) -> None:
        super().uninstrument(**options)
        if self._handler is not None:
            self._handler.enabled = False

    def _install(self) -> None:
        super()._install()
        if self.version is None:
            self.attached[_HOOK] = Attached(_HOOK, "missing", "not installed")
        else:
            self.attached[_HOOK] = Attached(_HOOK, "waiting")
        after_import(_HOOK, self._register)

    def _register(self, context: Any) -> None:
        """Add the handler to whatever LangChain runs from now on."""
        try:
            from agentool_otel.integrations.langchain.instrumentor.handler import Handler

            self._handler = Handler(_runs)
            self._handler.enabled = self.enabled
            variable: ContextVar[Any] = ContextVar("agentool-otel-langchain", default=self._handler)
            context.register_configure_hook(variable, True)
        except Exception as error:  # LangChain's import must not fail by us
            self.attached[_HOOK] = Attached(_HOOK, "failed", f"{type(error).__name__}: {error}")
            return
        self.attached[_HOOK] = Attached(_HOOK, "attached")
