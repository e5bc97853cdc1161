"""The status of a run, and the signal it was concluded from."""

from __future__ import annotations

from operator import eq
from typing import Any, NamedTuple

from agentool_otel.dialects import LazyJson
from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.json_codec import canonical
from agentool_otel.model.documents import UNSET
from agentool_otel.model.messages import parts_of
from agentool_otel.model.operations import Inference
from agentool_otel.model.statuses import INCOMPLETE_STREAM, STATUSES
from agentool_otel.reading.rebuild.answer_ends import NEVER_ENDED, may_be_answer
from agentool_otel.reading.rebuild.tree import Node, is_open, is_record, is_uncaught
from agentool_otel.semconv import agentool, gen_ai
from agentool_otel.semconv.marks import TRUNCATED_TEXT
from agentool_otel.semconv.redaction import visible_parts

__all__ = ["BESIDE_SPANS", "REPEATED", "Status", "deciding_span", "status_of"]

BESIDE_SPANS = "the file has it beside the spans"
"""Rule of a field from the object around the spans of a run."""
REPEATED = 5
"""Number of equal calls with equal results in a row that make a loop. Source: Gemini CLI's
detector, `TOOL_CALL_LOOP_THRESHOLD` in packages/core/src/services/loopDetectionService.ts.
"""

_TIMEOUT = re.compile(r"timeout|timed.?out|deadline|\b408\b|\b504\b", re.IGNORECASE)
_CONTEXT = re.compile(r"context.?(?:length|window|limit)|too many tokens", re.IGNORECASE)
_LOOP = re.compile(r"loop.?detected|cycle.?limit|max.?cycles", re.IGNORECASE)
_SHORTENED = TRUNCATED_TEXT.partition("{}")[0]
_FINISH_REASONS = gen_ai.RESPONSE_FINISH_REASONS
_REFUSED = frozenset({"refusal", "content_filter"})


class Status(NamedTuple):
    """A status, and the evidence for it."""

    value: str
    node: Node | None = None
    attribute: str | None = None
    signal: str | None = None
    """None if the span states the status itself."""
    reason: str | None = None
    """The model's finish reason, where that decides it."""


def status_of(
    root: Node | None,
    nodes: list[Node],
    inferences: list[Node],
    steps: list[dict[str, Any]],
    output: Any = UNSET,
) -> Status:
    """Return how a run ended.

    Args:
        root: its own span, if it has one.
        nodes: the spans inside it.
        inferences: the model calls among them, each once, in order.
        steps: those of its trace.
        output: that of its trace; unset if there is none.
    """
    last = inferences[-1] if inferences else None
    if root is not None and not _is_inferred_success(root):
        value = root.span.attributes.get(agentool.STATUS)
        broke_off = last is not None and last.operation.error_type == INCOMPLETE_STREAM
        if value == "success" and last and broke_off and may_be_answer(output, last):
            return Status("error", last, "error.type", "its last answer broke off unnoticed")
        if isinstance(value, str):
            return Status(value, root, agentool.STATUS)
    for node in (root, *inferences[:1]):
        value = None if node is None else node.span.attributes.get(agentool.FILE_STATUS)
        if isinstance(value, str):
            return Status(value, node, None, BESIDE_SPANS)
    if root is not None and is_open(root):
        return Status("in_progress", root, None, "the span has no end")
    for node in nodes:
        if node.operation.error_type == "loop_detected":
            return Status("loop_detected", node, "error.type", "the agent reports a loop")
    failed = deciding_span(root, nodes, inferences)
    status = _of_error(failed, inferences) if failed is not None else None
    if (status is None or status.value == "error") and (count := _repeated(steps)) >= REPEATED:
        return Status("loop_detected", root, None, f"{count} equal calls with equal results")
    if status is not None:
        return status
    for node in () if root is not None else nodes[-1:]:
        if node.span.attributes.get(agentool.INCOMPLETE):
            return Status("in_progress", node, agentool.INCOMPLETE, "the program died in it")
    if last is not None:
        return _of_answer(last)
    return Status("success", root, None, "no error")


def deciding_span(root: Node | None, nodes: list[Node], inferences: list[Node]) -> Node | None:
    """Return the span whose error is the run's: its own, else the exception that ended the
    program, else that of the last model call."""
    last = inferences[-1] if inferences else None
    if root is not None and not (last and (is_record(root) or _is_inferred_success(root))):
        return root
    uncaught = [node for node in nodes if is_uncaught(node)]
    if uncaught:
        return uncaught[-1]
    return last or (nodes[-1] if nodes else None)


def _is_inferred_success(root: Node) -> bool:
    """Return whether the status of a run is that of its calls. An inferred run is a success as soon
    as it has an answer: that may be a refusal, and the program may have failed after it."""
    attributes = root.span.attributes
    is_inferred = attributes.get(agentool.INFERRED) == "run"
    return is_inferred and attributes.get(agentool.STATUS) == "success"


def _of_error(node: Node, inferences: list[Node]) -> Status | None:
    error = node.operation.error_type
    if error is None:
        return None
    error_text = f"{error} {node.operation.error_message or ''}"
    value = "error"
    if error in STATUSES:
        value = error
    elif _TIMEOUT.search(error_text):
        value = "timeout"
    elif _CONTEXT.search(error_text):
        value = "context_overflow"
    elif _LOOP.search(error_text):
        value = "loop_detected"
    elif any(
        isinstance(inference.operation, Inference) and inference.operation.compacted
        for inference in inferences
    ):
        return Status("context_overflow", node, "error.type", f"{error!r} after a compaction")
    return Status(value, node, "error.type", f"{error!r}")


def _of_answer(node: Node) -> Status:
    operation = node.operation
    assert isinstance(operation, Inference)
    for reason in operation.finish_reasons or ():
        if reason in _REFUSED:
            return Status("refusal", node, _FINISH_REASONS, f"{reason!r}", reason)
        if isinstance(reason, str) and _CONTEXT.search(reason):
            return Status("context_overflow", node, _FINISH_REASONS, f"{reason!r}", reason)
    for message in operation.output or ():
        if any(part.get("type") == "refusal" for part in parts_of(message)):
            return Status("refusal", node, "gen_ai.output.messages", "a part of type refusal")
    left = node.span.attributes.get(agentool.INTERRUPTED)
    if isinstance(left, str) and NEVER_ENDED in (operation.finish_reasons or (NEVER_ENDED,)):
        return Status("in_progress", node, agentool.INTERRUPTED, f"{left!r}")
    return Status("success", node, None, "no error")


def _repeated(steps: list[dict[str, Any]]) -> int:
    """Return the longest row of calls of one tool with equal arguments and equal results."""
    calls = [call for step in steps if isinstance(call := step.get("tool_call"), dict)]
    requests = [(call.get("name"), _seen(call, "arguments")) for call in calls]
    if not any(map(eq, requests, requests[REPEATED - 1 :])):
        return 0  # most runs end here, before results are compared
    requests = [(_whole(name), _whole(arguments)) for name, arguments in requests]
    results = {
        result.get("call_id"): _whole(_key(result.get("error")) or _seen(result, "output"))
        for step in steps
        if isinstance(result := step.get("tool_result"), dict)
    }
    return _longest_row(
        [
            (request, results.get(call.get("id"), object()))
            for request, call in zip(requests, calls, strict=True)
        ]
    )


def _longest_row(values: list[Any]) -> int:
    longest = row = 0
    for n, value in enumerate(values):
        row = row + 1 if n and value == values[n - 1] else 1
        longest = max(longest, row)
    return longest


def _seen(holder: dict[str, Any], member: str) -> Any:
    """Return the key that a value is compared by; a missing value equals no other."""
    return _key(holder[member]) if member in holder else object()


def _whole(key: Any) -> Any:
    """Return the key that a value is compared by; a partly hidden value equals no other."""
    if not isinstance(key, str):
        return key
    return object() if _SHORTENED in key or len(visible_parts(key)) > 1 else key


def _key(value: Any) -> str | None:
    """Return the text by which a value is compared: its own where it has not been parsed, since one
    program writes equal values alike."""
    if value is None or isinstance(value, str):
        return value
    return value.text if isinstance(value, LazyJson) else canonical(value)
