"""A model call for people: its model, length, tokens, end and error."""

from __future__ import annotations

from collections.abc import Iterator

from rich.text import Text

from agentool_otel.cli import _text
from agentool_otel.model.operations import Embeddings, Inference
from agentool_otel.model.spans import STATUS_ERROR
from agentool_otel.reading.rebuild.tree import Node
from agentool_otel.semconv import agentool

__all__ = ["call_text", "figures", "length_text", "wrong_text"]


def call_text(call: Node) -> Text:
    """Return a model call on one line."""
    operation = call.operation
    assert isinstance(operation, Inference)
    model = operation.response_model or operation.request_model
    name = (_text.line(model), "bold") if model else ("(model not known)", "dim")
    text = Text.assemble(name, (f"  {length_text(call)}", "dim"))
    if summary := figures(operation):
        text.append(f"  {summary}")
    return text + wrong_text(call)


def figures(operation: Inference | Embeddings) -> str:
    """Return the tokens, the finish reasons and the cost of a call, as far as they are known."""
    return "  ".join(_figures(operation))


def _figures(operation: Inference | Embeddings) -> Iterator[str]:
    usage = operation.usage
    if usage is not None and usage.input_tokens is not None:
        yield f"in={usage.input_tokens:,}"
    if usage is not None and usage.output_tokens is not None:
        yield f"out={usage.output_tokens:,}"
    if isinstance(operation, Inference) and operation.finish_reasons:
        yield "finish=" + ",".join(map(_text.line, operation.finish_reasons))
    if operation.cost_usd is not None:
        yield f"${operation.cost_usd:,.4f}"


def length_text(node: Node) -> str:
    """Return how long a span took, or at most did."""
    if node.start_ns is None or node.end_ns is None:
        return "not finished"
    bound = "≤" if node.span.attributes.get(agentool.INFERRED) == "times" else ""
    return bound + _text.duration((node.end_ns - node.start_ns) / 1e6)


def wrong_text(node: Node) -> Text:
    """Return the error of a span behind a mark; empty if it has none."""
    operation = node.operation
    if node.span.status != STATUS_ERROR and operation.error_type is None:
        return Text()
    wrong = operation.error_type or "error"
    if operation.error_message:
        wrong += f": {_text.line(operation.error_message)}"
    return Text(f"  ✗ {_text.line(wrong)}", "red")
