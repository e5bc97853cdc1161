"""Answers that did not come to their end: cut by a limit, filtered, refused, broken off or left."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from agentool_otel.model.messages import parts_of
from agentool_otel.model.operations import Inference
from agentool_otel.reading.rebuild.tree import Node
from agentool_otel.semconv import agentool

__all__ = ["AnswerEnd", "answer_end", "answer_ends"]

_BY_REASON = {
    "length": "cut",
    "model_context_window_exceeded": "cut",
    "content_filter": "filtered",
    "refusal": "refused",
}
"""What a finish reason makes of an answer. Source: `providers.finish_reasons`."""


class AnswerEnd(NamedTuple):
    """An answer that did not come to its end."""

    node: Node
    end: str
    """`cut`, `filtered`, `refused`, `broken_off` (its stream ended, or an error ended it) or `left`
    (the program stopped reading it)."""
    finish_reason: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return it as a member of `metadata.unfinished` of a trace."""
        document: dict[str, Any] = {"end": self.end}
        if self.finish_reason is not None:
            document["finish_reason"] = self.finish_reason
        if self.node.span.span_id:
            document["span_id"] = self.node.span.span_id
        return document


def answer_ends(inferences: Iterable[Node]) -> list[AnswerEnd]:
    """Return the answers among model calls that did not come to their end."""
    return [end for node in inferences if (end := answer_end(node)) is not None]


def answer_end(node: Node) -> AnswerEnd | None:
    """Return how the answer of a model call ended; None if it is whole, or if there is none."""
    operation = node.operation
    if not isinstance(operation, Inference):
        return None
    output = operation.output or ()
    for message in output:
        if any(part.get("type") == "refusal" for part in parts_of(message)):
            return AnswerEnd(node, "refused", next(iter(operation.finish_reasons or ()), None))
    for reason in operation.finish_reasons or ():
        if (end := _BY_REASON.get(reason)) is not None:
            return AnswerEnd(node, end, reason)
    if operation.finish_reasons and operation.error_type is None:
        return None
    if operation.error_type is not None:
        is_stream = operation.error_type == "incomplete_stream"
        return AnswerEnd(node, "broken_off") if output or is_stream else None
    left = node.span.attributes.get(agentool.INTERRUPTED)
    return AnswerEnd(node, "left") if isinstance(left, str) else None
