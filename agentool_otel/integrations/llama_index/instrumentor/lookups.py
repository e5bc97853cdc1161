"""Retrievers, query engines, chat engines and embedding models.

Source: llama-index-core base/base_retriever.py, base/base_query_engine.py, base/embeddings/base.py,
chat_engine/types.py at 0.13 and 0.14.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from inspect import isasyncgen, isgenerator
from time import time_ns
from typing import Any
from weakref import finalize

from opentelemetry.context import attach, create_key, get_current, set_value

from agentool_otel.content.encoding.introspection import class_name
from agentool_otel.integrations.llama_index.instrumentor import messages
from agentool_otel.integrations.llama_index.instrumentor.models import SCOPE, provider_of_model
from agentool_otel.model.messages import message, text
from agentool_otel.model.operations import Embeddings, Retrieval, WorkflowInvocation
from agentool_otel.providers.fields import get, integer, items, join_texts, plain_text, string
from agentool_otel.providers.servers import address_in
from agentool_otel.tracing.instrumentation.frames import Frame, resumed, steps, steps_async
from agentool_otel.tracing.spans.finalizers import when_safe
from agentool_otel.tracing.spans.settings import guarded
from agentool_otel.tracing.spans.step_spans import StepSpan, start_step
from agentool_otel.tracing.spans.suppression import CallsBelow, recorded_above

__all__ = ["Embedding", "Engine", "Search", "Writing"]

_ENGINE_KEY = create_key("agentool-otel-llama-index-engine")
_WRITTEN = "StreamingAgentChatResponse"
"""The class of a chat engine's streamed answer, which a thread or a task of its own may read."""
_STREAMS = ("response_gen", "chat_stream", "achat_stream")
"""Members of streamed answers that a program reads."""


class Search:
    """A search of a retriever."""

    __slots__ = ("step",)

    def __init__(self, retriever: Any, arguments: dict[str, Any]):
        self.step = start_step(
            Retrieval(
                data_source_id=class_name(type(retriever)),
                top_k=integer(retriever, "_similarity_top_k")
                or integer(retriever, "similarity_top_k"),
            ),
            description="a retrieval of LlamaIndex",
            scope=SCOPE,
            content=lambda: {"query": _query(arguments.get("str_or_query_bundle"))},
        )

    def returned(self, result: Any) -> None:
        self.step.add(lambda: {"documents": [messages.document(node) for node in items(result)]})
        self.step.end()

    def failed(self, error: BaseException) -> None:
        _fail(self.step, error)


class Engine:
    """A query engine or a chat engine: it coordinates retrieval and model calls."""

    __slots__ = ("step",)

    def __init__(self, engine: Any, arguments: dict[str, Any]):
        asked = arguments.get("str_or_query_bundle", arguments.get("message"))
        self.step = start_step(
            WorkflowInvocation(workflow_name=class_name(type(engine))),
            description="an engine of LlamaIndex",
            scope=SCOPE,
            content=lambda: {"input": [message("user", [text(_query(asked) or "")])]},
        )
        self.step.context = set_value(_ENGINE_KEY, self, self.step.context)

    def returned(self, result: Any) -> None:
        answer = string(result, "response")
        name = next((item for item in _STREAMS if _is_stream(get(result, item))), None)
        if name is not None and get(result, "is_writing_to_memory") is not True:
            stream = get(result, name)
            reading = _Reading(self, resumed(get_current(), "model"))
            watched = reading.whole if isgenerator(stream) else reading.whole_async
            setattr(result, name, self._ended_with(watched(stream)))
        elif class_name(type(result)) == _WRITTEN:  # a thread or a task reads it
            self._ended_with(result)
        else:
            self.answered(answer, None)

    def _ended_with(self, answer: Any) -> Any:
        """End, unless that has happened, when the answer is collected."""
        finalize(answer, when_safe, self.answered, None, GeneratorExit()).atexit = False
        return answer

    def answered(self, answer: str | None, error: BaseException | None) -> None:
        if answer:
            self.step.add(lambda: {"output": [message("assistant", [text(answer)])]})
        if isinstance(error, GeneratorExit):
            self.step.end_run(interrupted="closed")
        else:
            self.step.end_run(error)

    def failed(self, error: BaseException) -> None:
        if isinstance(error, GeneratorExit):
            when_safe(self.answered, None, error)
        else:
            self.answered(None, error)


class _Reading:
    """The reading of a streamed answer: what is made on the way belongs to its engine."""

    def __init__(self, engine: Engine, frame: Frame):
        self._engine = engine
        self._frame = frame
        self._pieces: list[Any] = []

    def whole(self, stream: Any) -> Generator[Any, None, None]:
        """Pass on the pieces of an answer, and end its engine with the last."""
        error: BaseException | None = None
        try:
            for piece in steps(stream, self._frame):
                self._pieces.append(piece)
                yield piece
        except BaseException as raised:
            error = raised
            raise
        finally:
            self._end(error)

    async def whole_async(self, stream: Any) -> AsyncGenerator[Any, None]:
        """`whole` for an asynchronous answer."""
        error: BaseException | None = None
        try:
            async for piece in steps_async(stream, self._frame):
                self._pieces.append(piece)
                yield piece
        except BaseException as raised:
            error = raised
            raise
        finally:
            self._end(error)

    def _end(self, error: BaseException | None) -> None:
        with guarded("finishing an engine of LlamaIndex"):
            deltas = (get(piece, "delta") for piece in self._pieces)
            answer = join_texts(self._pieces) or join_texts(deltas)
            if isinstance(error, GeneratorExit):  # perhaps of the garbage collector
                when_safe(self._engine.answered, answer, error)
            else:
                self._engine.answered(answer, error)


def _is_stream(value: Any) -> bool:
    return isgenerator(value) or isasyncgen(value)


class Writing:
    """The work of a thread or a task that reads the streamed answer of a chat engine."""

    __slots__ = ("_answer", "_engine", "step")

    def __init__(self, answer: Any, engine: Engine):
        self._answer = answer
        self._engine = engine
        self.step = engine.step

    @classmethod
    def of(cls, answer: Any) -> Writing | None:
        engine = get_current().get(_ENGINE_KEY)
        return cls(answer, engine) if isinstance(engine, Engine) else None

    def returned(self, _: Any) -> None:
        words = string(self._answer, "response") or string(self._answer, "unformatted_response")
        self._engine.answered(words, get(self._answer, "exception"))

    def failed(self, error: BaseException) -> None:
        self._engine.failed(error)


class Embedding:
    """A call of an embedding model, recorded unless a client records it."""

    __slots__ = ("_around", "_below", "_is_recorded", "_model", "_start_ns")

    def __init__(self, model: Any):
        self._model = model
        self._start_ns = time_ns()
        self._is_recorded = recorded_above()
        self._around = get_current()
        self._below = CallsBelow(self._around, Embeddings)

    def enter(self) -> Any:
        return attach(self._below.context)

    def returned(self, _: Any) -> None:
        self._end()

    def failed(self, error: BaseException) -> None:
        if isinstance(error, GeneratorExit):
            when_safe(self._end)
        else:
            self._end(error)

    def _end(self, error: BaseException | None = None) -> None:
        if self._is_recorded or self._below.count:
            return
        model = self._model
        address, port = address_in(string(model, "api_base") or "")
        start_step(
            Embeddings(
                provider=provider_of_model(class_name(type(model)), address),
                request_model=string(model, "model_name"),
                dimensions=integer(model, "dimensions"),
                server_address=address,
                server_port=port,
            ),
            description="embeddings of LlamaIndex",
            scope=SCOPE,
            parent=self._around,
            start_ns=self._start_ns,
        ).end(error)


def _query(asked: Any) -> str | None:
    words = plain_text(asked)
    return string(asked, "query_str") if words is None else words


def _fail(step: StepSpan, error: BaseException) -> None:
    if isinstance(error, GeneratorExit):
        when_safe(_close, step)
    else:
        step.end(error)


def _close(step: StepSpan) -> None:
    step.end(interrupted="closed")
