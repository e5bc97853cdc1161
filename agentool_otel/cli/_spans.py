"""Spans as a tree for people."""

from __future__ import annotations

from collections.abc import Sequence, Set

from rich.text import Text
from rich.tree import Tree

from agentool_otel.cli import _text
from agentool_otel.cli._model_calls import figures, length_text, wrong_text
from agentool_otel.model.messages import text_of
from agentool_otel.model.operations import (
    UNSET,
    AgentInvocation,
    Embeddings,
    EvaluationResult,
    Inference,
    McpRequest,
    MemoryOperation,
    Operation,
    Retrieval,
    ToolExecution,
    WorkflowInvocation,
)
from agentool_otel.reading.rebuild.lineage import Nearest
from agentool_otel.reading.rebuild.tree import Node
from agentool_otel.semconv import agentool

__all__ = ["forest", "outermost", "roots_of", "size"]

_NAMES = {
    "inference": "cyan",
    "tool": "green",
    "agent": "bold magenta",
    "workflow": "bold magenta",
    "memory": "blue",
    "retrieval": "blue",
}


def roots_of(nodes: Sequence[Node]) -> list[Node]:
    """Return the nodes without a parent among their trace's spans."""
    return [node for node in nodes if node.parent is None]


def outermost(nodes: Sequence[Node], ids: Set[tuple[str, str]]) -> list[Node]:
    """Return the nodes of a trace that have one of the ids, a trace id and a span id each, and that
    are not below another one.
    """

    def is_meant(node: Node) -> bool:
        return (node.span.trace_id, node.span.span_id) in ids

    around = Nearest(is_meant)
    return [node for node in nodes if is_meant(node) and around.at(node.parent) is None]


def size(tops: Sequence[Node]) -> int:
    """Return the number of spans that `forest` shows."""
    found = list(tops)
    for node in found:  # grows
        found += node.children
    return len(found)


def forest(title: str, roots: Sequence[Node]) -> Tree:
    """Return the trees below some spans, in order of start, under a title."""
    tree = Tree(Text(title, "dim"), guide_style="dim")
    waiting: list[tuple[Tree, Node | Text]] = [(tree, root) for root in reversed(roots)]
    while waiting:
        above, item = waiting.pop()
        if isinstance(item, Text):
            above.add(item)
            continue
        branch = above.add(_label(item))
        thoughts = _thoughts(item)
        thoughts += [(child.start_ns or 0, child) for child in item.children]
        thoughts.sort(key=lambda timed: timed[0], reverse=True)
        waiting.extend((branch, below) for _, below in thoughts)
    return tree


def _thoughts(node: Node) -> list[tuple[int, Node | Text]]:
    """The steps that have no span of their own but an event on this one, with their times."""
    thoughts: list[tuple[int, Node | Text]] = []
    for event in node.span.events:
        content = event.attributes.get(agentool.STEP_CONTENT)
        if event.name == agentool.STEP_EVENT and isinstance(content, str):
            kind = _text.line(str(event.attributes.get(agentool.STEP_TYPE, "step")))
            label = Text.assemble((f"· {kind}", "magenta"), f"  {_text.line(content)}")
            thoughts.append((event.time_ns or 0, _fit(label)))
    return thoughts


def _label(node: Node) -> Text:
    operation = node.operation
    name = _text.line(node.span.name) or "(span without a name)"
    label = Text.assemble((name, _NAMES.get(operation.kind, "")))
    label.append(f"  {length_text(node)}", "dim")
    label.append_text(wrong_text(node))
    if summary := _summary(operation):
        label.append(f"  {summary}")
    return _fit(label)


def _fit(label: Text) -> Text:
    label.no_wrap, label.overflow = True, "ellipsis"
    return label


def _summary(operation: Operation) -> str:
    """Return the detail that matters most for the kind of operation."""
    match operation:
        case Inference() | Embeddings():
            return figures(operation)
        case ToolExecution(transfer_target=str(target), transfer_message=message):
            return f"→ {_text.line(target)}" + (f": {_text.line(message)}" if message else "")
        case ToolExecution() | McpRequest():
            return _tool_call(operation)
        case MemoryOperation():
            return _memory_read(operation) if operation.reads else _memory_write(operation)
        case Retrieval():
            return _quote(operation.query)
        case AgentInvocation() | WorkflowInvocation() if operation.input:
            return _quote(text_of(operation.input[-1]) or None)
        case EvaluationResult():
            value = "" if operation.score is None else _text.number(operation.score)
            return f"{_text.line(operation.label or '')}  {value}".strip()
        case _:
            return ""


def _quote(text: str | None) -> str:
    return "" if text is None else f'"{_text.line(text)}"'


def _tool_call(operation: ToolExecution | McpRequest) -> str:
    arguments, result = operation.arguments, operation.result
    text = "" if arguments is UNSET else f"({_text.arguments(arguments)})"
    return text if result is UNSET else f"{text} → {_text.value(result)}"


def _memory_read(operation: MemoryOperation) -> str:
    records = operation.records if operation.results is UNSET else operation.results
    query = _quote(operation.query)
    return query if records is None else f"{query} → {_text.value(records)}"


def _memory_write(operation: MemoryOperation) -> str:
    content = operation.records if operation.content is UNSET else operation.content
    text = "" if content is None else _text.value(content)
    return f"{_text.line(operation.record_id)} = {text}" if operation.record_id else text
