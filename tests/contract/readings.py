"""Operations of a fixture's spans, as text that a reviewer can judge.

    python -m tests.contract.readings          write the expected text beside every fixture

The text is a tree of the operations in order of start, then how many of the attributes were read
and which were not.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from msgspec import UNSET

from agentool_otel.dialects import LazyJson, classify
from agentool_otel.ground.json_codec import dumps
from agentool_otel.model import operations as ops
from agentool_otel.model.messages import Message, parts_of
from agentool_otel.model.spans import SpanRecord, is_fragment
from agentool_otel.reading.sources.grouping.by_trace import by_trace
from agentool_otel.reading.sources.opening import open_source

SPANS = Path(__file__).parent.parent / "fixtures" / "spans"


def fixtures() -> list[Path]:
    return sorted(SPANS.glob("*.jsonl"))


def dialect_of(path: Path) -> str:
    """Return the dialect a fixture is named after: `openai-3.54.0.traceloop.jsonl`."""
    return path.name.removesuffix(".jsonl").rpartition(".")[2]


def expected(path: Path) -> Path:
    return path.with_suffix(".txt")


def spans_of(path: Path) -> list[SpanRecord]:
    """Return the spans of a fixture in order of start, with the log records that belong to them."""
    spans = list(open_source(str(path)).spans())
    if any(map(is_fragment, spans)):
        spans = [span for trace in by_trace(spans) for span in trace]
    return sorted(spans, key=lambda span: (span.start_ns or 0, span.span_id))


def reading(spans: list[SpanRecord]) -> str:
    """Return the text for some spans."""
    span_ids = {span.span_id for span in spans}
    lines: list[str] = []
    total = 0
    unread: Counter[str] = Counter()

    def add(parent: str | None, depth: int) -> None:
        nonlocal total
        for span in spans:
            above = span.parent_id if span.parent_id in span_ids else None
            if above != parent:
                continue
            dialect, operation = classify(span)
            total += len(span.attributes)
            unread.update(_numbered(key) for key in operation.extra)
            lines.append("  " * depth + _line(span, operation) + f"  [{dialect or '-'}]")
            lines.extend("  " * depth + "    " + text for text in _content(operation))
            add(span.span_id, depth + 1)

    add(None, 0)
    left = sum(unread.values())
    share = 100 if not total else 100 * max(0, total - left) // total
    lines += ["", f"read {share}% of {total} attributes; the others:"]
    lines += [f"  {key} x{times}" for key, times in sorted(unread.items())]
    return "\n".join(lines) + "\n"


def _numbered(key: str) -> str:
    return re.sub(r"(?<=\.)\d+(?=\.|$)", "N", key)


def _line(span: SpanRecord, operation: ops.Operation) -> str:
    facts: list[str] = []
    for field in ("name", "agent_name", "workflow_name", "tool_name", "method", "request_model"):
        if value := getattr(operation, field, None):
            facts.append(str(value))
    if isinstance(operation, ops.Unclassified):
        facts.append(f"({span.name})")
    for field, label in (
        ("response_model", "answered_by"),
        ("response_id", "response"),
        ("previous_response_id", "after"),
        ("call_id", "id"),
        ("transfer_target", "to"),
        ("finish_reasons", "finish"),
        ("conversation_id", "conversation"),
        ("cost_usd", "usd"),
        ("temperature", "temperature"),
        ("max_tokens", "max"),
        ("stream", "stream"),
        ("error_type", "error"),
    ):
        value = getattr(operation, field, None)
        if value is not None:
            facts.append(f"{label}={','.join(value) if isinstance(value, list) else value}")
    usage: ops.Usage | None = getattr(operation, "usage", None)
    if usage is not None:
        for field, label in (
            ("input_tokens", "in"),
            ("output_tokens", "out"),
            ("cache_read_tokens", "cached"),
            ("reasoning_tokens", "reasoned"),
        ):
            if (count := getattr(usage, field)) is not None:
                facts.append(f"{label}={count}")
    return " ".join([operation.kind, *facts])


def _content(operation: ops.Operation) -> list[str]:
    lines: list[str] = []
    if operation.error_message is not None:
        lines.append(f"error: {_short(operation.error_message)}")
    for side in ("system", "input", "output"):
        entry = getattr(operation, side, None)
        if side == "system" and entry:
            lines.append(f"system: {_short([part.get('content') for part in entry])}")
        elif entry:
            lines.extend(f"{side}: {_said(item)}" for item in entry)
    tools = getattr(operation, "tools", None)
    if tools:
        lines.append(f"tools: {', '.join(str(_named(tool)) for tool in tools)}")
    for field in ("query", "arguments", "documents", "result", "tool_error"):
        value = getattr(operation, field, None)
        if value is not None and value is not UNSET:
            lines.append(f"{field}: {_short(value)}")
    return lines


def _named(tool: Any) -> Any:
    return tool.get("name") if isinstance(tool, dict) else tool


def _said(message: Message) -> str:
    words: list[str] = []
    for part in parts_of(message):
        match part.get("type"):
            case "text":
                words.append(_short(part.get("content")))
            case "tool_call":
                call = f"{part.get('name')}({_short(part.get('arguments'))})"
                words.append(f"{call} id={part.get('id')}")
            case "tool_call_response":
                words.append(f"response {_short(part.get('response'))} id={part.get('id')}")
            case kind:
                words.append(f"{kind} {_short({k: v for k, v in part.items() if k != 'type'})}")
    return f"{message.get('role')}: {' | '.join(words)}"


def _short(value: Any) -> str:
    text = dumps(value.value if isinstance(value, LazyJson) else value)
    return text if len(text) <= 120 else f"{text[:117]}..."


def main() -> int:
    for path in fixtures():
        expected(path).write_text(reading(spans_of(path)), encoding="utf-8")
        print(expected(path).name, file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
