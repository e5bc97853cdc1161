"""Content of OpenInference spans that AWS's distribution of OpenTelemetry has put into log records.

    {"name": "openinference.instrumentation.langchain",
     "body": {"input": {"messages": [{"role", "content"}]}, "output": {"messages": [...]}}}

Each is the value of the attribute of that name, as a message. If the attributes of the span are
gone as well, the shape of the output shows the span's kind.

Source: aws-opentelemetry-distro 0.12, `llo_handler.py`; fixtures of strands-evals 1.0.
"""

from __future__ import annotations

from typing import Any

from agentool_otel.dialects.kit.provider_messages import json_or_text
from agentool_otel.dialects.kit.reading import Reader
from agentool_otel.ground.json_codec import dumps
from agentool_otel.semconv import openinference as oi

__all__ = ["take_values"]

_VALUES = {"input": oi.INPUT_VALUE, "output": oi.OUTPUT_VALUE}


def take_values(span: Reader) -> None:
    """Give a span the values that are in its event, and its kind where it has none."""
    scope, remainder = span.span.scope, span.rest
    for event in span.span.events:
        if event.name != scope or not _VALUES.keys() & event.attributes.keys():
            continue
        for name, key in _VALUES.items():
            value = _as_text(event.attributes.get(name))
            if value is not None:
                remainder.setdefault(key, value)
        if oi.SPAN_KIND not in remainder:
            _take_kind(span)
        return


def _as_text(value: Any) -> str | None:
    """Return the content of the only message of a value, all of several as JSON."""
    messages = value.get("messages") if isinstance(value, dict) else None
    if not isinstance(messages, list) or not messages:
        return None
    contents = [message.get("content") for message in messages if isinstance(message, dict)]
    if len(contents) == 1 and isinstance(contents[0], str):
        return contents[0]
    return dumps(messages)


def _take_kind(span: Reader) -> None:
    """Distinguish model calls from tools of LangChain by their output."""
    gave = json_or_text(span.rest.get(oi.OUTPUT_VALUE))
    if not isinstance(gave, dict):
        return
    if "generations" in gave:
        span.rest[oi.SPAN_KIND] = oi.LLM
    elif gave.get("type") == "tool" and "tool_call_id" in gave:
        span.rest[oi.SPAN_KIND] = oi.TOOL
        if isinstance(gave.get("name"), str):
            span.rest.setdefault(oi.TOOL_NAME, gave["name"])
