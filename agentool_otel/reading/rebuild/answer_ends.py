"""Answers that did not come to their end: cut by a limit, filtered, refused, broken off or left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from agentool_otel.model.documents import UNSET
from agentool_otel.model.messages import finish_reasons_in, parts_of, text_of
from agentool_otel.model.operations import Inference
from agentool_otel.model.statuses import INCOMPLETE_STREAM
from agentool_otel.reading.rebuild.tree import Node
from agentool_otel.semconv import agentool

__all__ = [
    "UNKNOWN_ENDS",
    "AnswerEnd",
    "answer_end",
    "answer_ends",
    "end_text",
    "ends_in",
    "may_be_answer",
    "output_end",
    "unknown_ends",
]

UNKNOWN_ENDS = "unknown_ends"
"""Member of a trace's metadata: the number of answers of which nothing shows how they ended."""

_BY_REASON = {
    "length": "cut",
    "model_context_window_exceeded": "cut",
    "content_filter": "filtered",
    "refusal": "refused",
}
"""What a finish reason makes of an answer. Source: `providers.finish_reasons`."""


NEVER_ENDED = "error"
"""Finish reason of a choice that never ended, beside others that have."""

_WORDS = {
    "cut": "was cut by a limit",
    "filtered": "was ended by a filter",
    "refused": "is a refusal",
    "broken_off": "broke off",
    "left": "was left by the program before its end",
}


_CANCELLED = frozenset({"CancelledError", "GeneratorExit", "KeyboardInterrupt"})
"""Exceptions by which a program stops a call."""


class AnswerEnd(NamedTuple):
    """An answer that did not come to its end."""

    node: Node
    end: str
    """`cut`, `filtered`, `refused`, `broken_off` (its stream ended, or an error ended it) or `left`
    (the program stopped reading it)."""
    finish_reason: str | None = None
    is_output: bool = False
    """Whether the output of the run is this answer."""

    def to_dict(self) -> dict[str, Any]:
        """Return it as a member of `metadata.unfinished` of a trace."""
        document: dict[str, Any] = {"end": self.end}
        if self.finish_reason is not None:
            document["finish_reason"] = self.finish_reason
        if self.node.span.span_id:
            document["span_id"] = self.node.span.span_id
        if self.is_output:
            document["is_output"] = True
        return document


def answer_ends(inferences: Sequence[Node], output: Any) -> list[AnswerEnd]:
    """Return the answers among model calls that did not come to their end.

    Args:
        inferences: the model calls of a run, in order.
        output: that of the run, which is the last answer if it may be; unset if there is none.
    """
    ends = [end for node in inferences if (end := answer_end(node)) is not None]
    last = ends[-1].node if ends and output is not UNSET else None
    if last is not None and last is inferences[-1] and may_be_answer(output, last):
        ends[-1] = ends[-1]._replace(is_output=True)
    return ends


def may_be_answer(output: Any, node: Node) -> bool:
    """Return whether an output, if it is known, may be the answer of a model call."""
    if not isinstance(node.operation, Inference):
        return False
    if output is UNSET:
        return node.operation.output is None  # neither was captured
    answers = [words for item in node.operation.output or () if (words := text_of(item))]
    if not isinstance(output, str) or not answers:
        return True
    return any(words in output or output in words for words in answers)


def unknown_ends(inferences: Sequence[Node]) -> int:
    """Return of how many model calls nothing shows how the answer ended."""
    return sum(map(_is_unknown, inferences))


def _is_unknown(node: Node) -> bool:
    operation = node.operation
    if not isinstance(operation, Inference) or operation.error_type is not None:
        return False
    if operation.finish_reasons or agentool.INTERRUPTED in node.span.attributes:
        return False
    output = operation.output or ()
    return not finish_reasons_in(output) and not any(
        part.get("type") == "tool_call" for item in output for part in parts_of(item)
    )


def ends_in(metadata: Any) -> list[dict[str, Any]]:
    """Return the members of `metadata.unfinished` of a trace; none where there are no such."""
    listed = metadata.get("unfinished") if isinstance(metadata, dict) else None
    if not isinstance(listed, list):
        return []
    return [item for item in listed if isinstance(item, dict) and item.get("end") in _WORDS]


def output_end(metadata: Any) -> str | None:
    """Return how the answer that is the output ended, in words; None if it is whole."""
    end = next((item for item in ends_in(metadata) if item.get("is_output") is True), None)
    return None if end is None else end_text(end)


def end_text(end: Mapping[str, Any]) -> str:
    """Return the words for a member of `metadata.unfinished`, to follow "the answer"."""
    words, reason = _WORDS[end["end"]], end.get("finish_reason")
    return f"{words} ({reason})" if isinstance(reason, str) else words


def answer_end(node: Node) -> AnswerEnd | None:
    """Return how the answer of a model call ended; None if it is whole, or if there is none."""
    operation = node.operation
    if not isinstance(operation, Inference):
        return None
    output = operation.output or ()
    reasons = operation.finish_reasons or finish_reasons_in(output)
    for message in output:
        if any(part.get("type") == "refusal" for part in parts_of(message)):
            return AnswerEnd(node, "refused", next(iter(reasons), None))
    for reason in reasons:
        if (end := _BY_REASON.get(reason)) is not None:
            return AnswerEnd(node, end, reason)
    if reasons and NEVER_ENDED not in reasons:
        return None  # what failed afterwards is no part of the answer
    if operation.error_type is not None:
        if operation.error_type.rpartition(".")[2] in _CANCELLED:
            return AnswerEnd(node, "left")
        is_stream = operation.error_type == INCOMPLETE_STREAM
        has_begun = any(part.get("content") != "" for item in output for part in parts_of(item))
        return AnswerEnd(node, "broken_off") if has_begun or is_stream else None
    if isinstance(node.span.attributes.get(agentool.INTERRUPTED), str):
        return AnswerEnd(node, "left")
    return AnswerEnd(node, "broken_off") if reasons else None
