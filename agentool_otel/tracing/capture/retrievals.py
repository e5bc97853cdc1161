"""`retrieval`: a look-up in a source of one's own, reported by hand."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from agentool_otel.content.policy import as_text, jsonable, label
from agentool_otel.model.operations import Retrieval
from agentool_otel.providers.documents import with_id
from agentool_otel.providers.fields import get, integer, items, number, record, string
from agentool_otel.tracing.capture._blocks import Block
from agentool_otel.tracing.capture.model_calls import server
from agentool_otel.tracing.spans.settings import SCOPE, guarded, settings
from agentool_otel.tracing.spans.step_spans import StepSpan, start_step

__all__ = ["RetrievalCall", "retrieval"]


class RetrievalCall(Block):
    """One look-up in progress: a context manager, `with` or `async with`."""

    _what = "a retrieval"

    def __init__(self, query: Any, parameters: dict[str, Any]):
        self.query = query
        self._parameters = parameters
        self._known = Retrieval()
        self._documents: list[Any] | None = None

    def documents(self, results: Any) -> None:
        """Report the results; a second call adds to them.

        Args:
            results: a list of documents: texts; objects with any of `id`, `score`, `content` and
                `metadata` (or `text` or `page_content` for the content); pairs of a document and
                its score. An empty list says that nothing was found.
        """
        with guarded("reading the documents of a retrieval"):
            if self._recording and settings.policy.capture:
                if self._documents is None:
                    self._documents = []
                self._documents += [with_id(_document(item)) for item in items(jsonable(results))]

    def _begin(self) -> StepSpan | None:
        parameters = self._parameters
        model, source = parameters["model"], parameters["data_source"]
        operation = Retrieval(
            **server(parameters),
            request_model=None if model is None else label(model),
            data_source_id=None if source is None else label(source),
            top_k=integer(parameters, "top_k"),
        )
        query = {} if self.query is None else {"query": self.query}
        step = start_step(
            operation,
            description=self._what,
            scope=SCOPE,
            content=lambda: {name: as_text(value) for name, value in query.items()},
        )
        self._known, self._documents = replace(operation, **step.fields), None
        return step

    def _operation(self) -> Retrieval:
        return replace(self._known, documents=self._documents)


def retrieval(
    query: Any,
    data_source: str | None = None,
    top_k: int | None = None,
    *,
    provider: str | None = None,
    model: str | None = None,
    url: str | None = None,
) -> RetrievalCall:
    """Record a block of code as one look-up in a grounding source.

    Args:
        query: the query; a value other than text is recorded as JSON.
        data_source: the name or id of the source.
        top_k: the largest number of documents to return.
        provider: `gen_ai.provider.name` if a model provider does the look-up.
        model: the model of the look-up, if there is one.
        url: the URL of the request, as text.

    Returns:
        A context manager that yields the look-up, whose `documents` reports the results.
    """
    parameters: dict[str, Any] = {
        "provider": provider,
        "url": url,
        "model": model,
        "data_source": data_source,
        "top_k": top_k,
    }
    return RetrievalCall(query, parameters)


def _document(obj: Any) -> dict[str, Any]:
    """Return a document as the conventions have it: an object with `id` and `score` if known."""
    pair = items(obj)
    if len(pair) == 2 and number({"score": pair[1]}, "score") is not None:
        return {**_document(pair[0]), "score": pair[1]}
    members = record(obj)
    if members is None:
        return {"content": as_text(obj)}
    document = {name: value for name, value in members.items() if value is not None}
    for name in ("page_content", "text"):
        if "content" not in document and string(document, name) is not None:
            document["content"] = document.pop(name)
    if "id" in document:
        document["id"] = as_text(document["id"])
    if "score" in document and number(document, "score") is None:
        document["metadata"] = {
            **(record(get(document, "metadata")) or {}),
            "score": document.pop("score"),
        }
    return document
