"""Handlers of LlamaIndex's dispatcher: spans and events of it become ours.

The dispatcher reports a method's start and end in the context that the method runs in, so that a
step is current there while the method runs. A run of workflows 1.x is told of where the program
calls it, and ends where nothing of it is current.

The dispatcher swallows what a handler raises. It reports no end of a method whose exception has no
text, since its `__str__` raises: such a method ends when its arguments are collected.

Source: llama_index_instrumentation dispatcher.py at 0.4 and 0.6.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from importlib import import_module
from inspect import isasyncgen, isgenerator
from typing import Any, NamedTuple, Protocol
from weakref import WeakKeyDictionary, ref

from opentelemetry.context import attach, get_current, set_value

from agentool_otel.content.encoding.introspection import class_name, module_name, mro
from agentool_otel.integrations.llama_index.instrumentor import messages
from agentool_otel.integrations.llama_index.instrumentor.lookups import (
    Embedding,
    Engine,
    Search,
    Writing,
)
from agentool_otel.integrations.llama_index.instrumentor.models import STEP_KEY, ModelCall
from agentool_otel.integrations.llama_index.instrumentor.runs import WorkflowRun
from agentool_otel.integrations.llama_index.instrumentor.tools import Tool
from agentool_otel.providers.fields import get, string
from agentool_otel.tracing.spans.attaching import restore
from agentool_otel.tracing.spans.finalizers import when_safe
from agentool_otel.tracing.spans.settings import guarded
from agentool_otel.tracing.spans.step_spans import OpenSpans, StepSpan, incomplete

__all__ = ["Handlers", "add_to"]

_UUID = 37
"""Characters of a span's id after the name of its method."""


class _Work(Protocol):
    """Work that has begun."""

    def returned(self, result: Any, /) -> None: ...

    def failed(self, error: BaseException, /) -> None: ...


class _Open(NamedTuple):
    """A method that runs."""

    work: _Work | None
    """None for a method that has no span."""
    step: StepSpan | None
    """The step of ours that it is, or is part of."""
    token: Any
    """Undoes what made the context of that step current; None if it was so already."""
    instance: Any
    frame: ref[Any]
    """Of the arguments, which the dispatcher holds while the method runs. Keeps its callback."""


class _Steps:
    """Methods that run, and model calls that have begun, by the ids of LlamaIndex's spans."""

    def __init__(self) -> None:
        self.enabled = True
        self._open = OpenSpans[_Open](_abandon)
        self._calls = OpenSpans[ModelCall](lambda _: None)

    # ---- methods
    def entered(self, span_id: str, bound: Any, instance: Any, parent_id: str | None) -> None:
        if not self.enabled:
            return
        arguments = bound.arguments
        method = span_id[:-_UUID].rpartition(".")[2]
        kind = None if instance is None else _kind(type(instance))
        parent = self._open.get(parent_id)
        around = None if parent is None else parent.work
        step = None if parent is None else parent.step
        is_step = kind in (None, "Workflow") and method != "run"
        if isinstance(around, WorkflowRun):
            if is_step:
                step = around.step_for(arguments.get("ev"))
            elif around.future is not None:
                step = None  # the id of a run of workflows 1.x stays that of what comes after it
        token = None
        if step is not None and get_current().get(STEP_KEY) is not step:
            token = attach(step.context)  # also where another tracer has put one without our keys
        work = _start(kind, method, arguments, instance, around)
        if isinstance(work, Embedding):
            inner = work.enter()
            token = inner if token is None else token
        elif work is not None:
            step = work.step
            if step.context.get(STEP_KEY) is not step:
                step.context = set_value(STEP_KEY, step, step.context)
            inner = attach(step.context)
            token = inner if token is None else token
        if work is not None or step is not None or kind == "BaseLLM":
            frame = ref(bound, lambda _: when_safe(self._unreported, span_id))
            self._open.add(span_id, _Open(work, step, token, instance, frame))

    def left(self, span_id: str, result: Any, error: BaseException | None) -> None:
        call = self._calls.get(span_id)
        if call is not None:
            if error is not None:
                self._calls.take(span_id)
                call.end(error=error)
            elif isgenerator(result) or isasyncgen(result):
                call.streamed = True
            else:
                self._calls.take(span_id)
                call.end(result)
        step = self._open.take(span_id)
        if step is None:
            return
        try:
            if step.work is not None and error is None:
                step.work.returned(result)
            elif step.work is not None and error is not None:
                step.work.failed(error)
        finally:
            if step.token is not None:
                restore(step.token)

    def _unreported(self, span_id: str) -> None:
        """End a method that has ended without a report of it."""
        with guarded("ending a step of LlamaIndex without a report"):
            self._calls.take(span_id)
            method = self._open.take(span_id)
            if method is not None:
                _abandon(method)
                if method.token is not None:
                    restore(method.token)

    # ---- events
    def happened(self, event: Any) -> None:
        handle = _EVENTS.get(class_name(type(event)))
        if handle is not None:
            handle(self, event, string(event, "span_id"))

    def call_started(self, event: Any, span_id: str | None) -> None:
        if self.enabled and span_id is not None:
            method = self._open.get(span_id)
            model = None if method is None else method.instance
            self._calls.add(span_id, ModelCall(event, model))

    def chunk(self, event: Any, span_id: str | None) -> None:
        call = self._calls.get(span_id)
        if call is not None:
            call.chunk(get(event, "response"))

    def call_ended(self, event: Any, span_id: str | None) -> None:
        call = self._calls.take(span_id)
        if call is not None:
            call.end(get(event, "response"))

    def call_failed(self, event: Any, span_id: str | None) -> None:
        call = self._calls.take(span_id)
        error = get(event, "exception")
        if call is not None and isinstance(error, BaseException):
            call.end(error=error)

    def cancelled(self, _: Any, span_id: str | None) -> None:
        step = self._open.get(span_id)
        if step is not None and isinstance(step.work, (WorkflowRun, Tool)):
            step.work.cancelled = True


_EVENTS: dict[str, Callable[[_Steps, Any, str | None], None]] = {
    "LLMChatStartEvent": _Steps.call_started,
    "LLMCompletionStartEvent": _Steps.call_started,
    "LLMChatInProgressEvent": _Steps.chunk,
    "LLMCompletionInProgressEvent": _Steps.chunk,
    "LLMChatEndEvent": _Steps.call_ended,
    "LLMCompletionEndEvent": _Steps.call_ended,
    "ExceptionEvent": _Steps.call_failed,
    "SpanCancelledEvent": _Steps.cancelled,
}


def _start(kind: str | None, method: str, arguments: Any, instance: Any, around: Any) -> Any:
    """Start the span of a method; None if it has none.

    Args:
        kind: the name of the base class.
        method: the name of the method.
        arguments: its arguments by name.
        instance: whose method it is.
        around: the work of the method that calls it, if that has any.
    """
    if isinstance(around, WorkflowRun) and method == "call_tool":
        event = arguments.get("ev")
        return around.tool(event) if class_name(type(event)) == "ToolCall" else None
    if kind == "Workflow" and method == "run":
        start = arguments.get("start_event")
        fields = messages.event_fields(start) if start is not None else arguments.get("kwargs")
        return WorkflowRun(instance, fields or {})
    if kind == "BaseTool" and method in ("call", "acall", "__call__"):
        return Tool.of(instance, _arguments(arguments), around)
    if kind == "BaseRetriever" and method in ("retrieve", "aretrieve"):
        return Search(instance, arguments)
    if kind == "BaseQueryEngine" and method in ("query", "aquery"):
        return Engine(instance, arguments)
    if kind == "BaseChatEngine" and method in ("chat", "achat", "stream_chat", "astream_chat"):
        return Engine(instance, arguments)
    if kind == "StreamingAgentChatResponse" and method.endswith("write_response_to_history"):
        return Writing.of(instance)
    if kind == "BaseEmbedding" and method.lstrip("a").startswith("get_"):
        return Embedding(instance)
    return None


def _arguments(arguments: dict[str, Any]) -> Any:
    """Return the arguments of a tool: those by name, or all where some have none."""
    named = {k: v for k, v in arguments.items() if k not in ("args", "kwargs")}
    named |= arguments.get("kwargs") or {}
    positional = list(arguments.get("args") or ())
    if not positional:
        return named
    return {"args": positional, **named}


_kinds: WeakKeyDictionary[type, str] = WeakKeyDictionary()
_BASES = {
    "BaseLLM": "llama_index.core",
    "BaseEmbedding": "llama_index.core",
    "BaseRetriever": "llama_index.core",
    "BaseQueryEngine": "llama_index.core",
    "BaseChatEngine": "llama_index.core",
    "BaseTool": "llama_index.core",
    "StreamingAgentChatResponse": "llama_index.core",
    "Workflow": "workflows",
}


def _kind(cls: type) -> str:
    """Return the name of the base class of LlamaIndex's that a class has, empty for none."""
    kind = _kinds.get(cls)
    if kind is None:
        kind = _kinds[cls] = next((class_name(base) for base in mro(cls) if _is_base(base)), "")
    return kind


def _is_base(cls: type) -> bool:
    package = _BASES.get(class_name(cls))
    return package is not None and (module_name(cls) or "").startswith(package)


def _abandon(step: _Open) -> None:
    if step.work is not None and step.step is not None:
        step.step.end(extra=incomplete())


# --------------------------------------------------------------------------------- registration


class _SpanHandler:
    """Handler of spans; it keeps none in the way of LlamaIndex's base class."""

    def span_enter(
        self,
        id_: str,
        bound_args: Any,
        instance: Any = None,
        parent_id: str | None = None,
        *_: Any,
        **__: Any,
    ) -> None:
        with guarded("starting a step of LlamaIndex"):
            _steps.entered(id_, bound_args, instance, parent_id)

    def span_exit(
        self, id_: str, bound_args: Any, instance: Any = None, result: Any = None, **_: Any
    ) -> None:
        with guarded("finishing a step of LlamaIndex"):
            _steps.left(id_, result, None)

    def span_drop(
        self,
        id_: str,
        bound_args: Any,
        instance: Any = None,
        err: BaseException | None = None,
        **_: Any,
    ) -> None:
        with guarded("finishing a step of LlamaIndex"):
            _steps.left(id_, None, err)

    def new_span(self, *_: Any, **__: Any) -> None:
        return None

    def prepare_to_exit_span(self, *_: Any, **__: Any) -> None:
        return None

    def prepare_to_drop_span(self, *_: Any, **__: Any) -> None:
        return None


class _EventHandler:
    """Handler of events."""

    def handle(self, event: Any, **_: Any) -> None:
        with guarded("reading an event of LlamaIndex"):
            _steps.happened(event)


_steps = _Steps()


class Handlers:
    """Both handlers, switched on and off together."""

    def __init__(self) -> None:
        base = import_module("llama_index_instrumentation.span_handlers").BaseSpanHandler
        self.span: Any = type("AgentoolSpanHandler", (_SpanHandler, base), {})()
        base = import_module("llama_index_instrumentation.event_handlers").BaseEventHandler
        self.event: Any = type("AgentoolEventHandler", (_EventHandler, base), {})()

    def enable(self, enabled: bool) -> None:
        _steps.enabled = enabled


@functools.cache
def _handlers() -> Handlers:
    return Handlers()


def add_to(dispatcher: Any) -> Handlers:
    """Add the handlers to a dispatcher, unless it has them."""
    handlers = _handlers()
    if not any(each is handlers.span for each in dispatcher.span_handlers):
        dispatcher.add_span_handler(handlers.span)
    if not any(each is handlers.event for each in dispatcher.event_handlers):
        dispatcher.add_event_handler(handlers.event)
    return handlers
