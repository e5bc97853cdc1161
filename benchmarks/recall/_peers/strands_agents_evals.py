"""Reads trace files with strands-agents-evals; runs where that is installed, not this project.

Source: strands-agents-evals 1.7 `mappers.detect_otel_mapper`, `types.trace`.
"""

import json
import sys

from strands_evals.mappers import detect_otel_mapper
from strands_evals.types.trace import AgentInvocationSpan, InferenceSpan, ToolExecutionSpan


def spans_of(path):
    with open(path) as file:
        span = json.load(file)
    if isinstance(span, dict):
        span = span.get("spans")
    if not isinstance(span, list) or not all(
        isinstance(item, dict) and "attributes" in item for item in span
    ):
        raise ValueError("no list of span objects")
    return span


def items(path):
    results = {
        name: []
        for name in ("tool calls", "arguments", "results", "errors", "LLM calls", "input", "output")
    }
    results |= {"tokens": None, "handoffs": None, "sessions": None}
    spans = spans_of(path)
    for trace in detect_otel_mapper(spans).map_to_session(spans, "session").traces:
        for span in trace.spans:
            if isinstance(span, InferenceSpan):
                results["LLM calls"].append([1])
            elif isinstance(span, AgentInvocationSpan):
                results["input"].append([span.user_prompt])
                results["output"].append([span.agent_response])
            elif isinstance(span, ToolExecutionSpan):
                name = span.tool_call.name
                results["tool calls"].append([name])
                results["arguments"].append([name, span.tool_call.arguments])
                if span.tool_result.error:
                    results["errors"].append([name, span.tool_result.error])
                if span.tool_result.content or not span.tool_result.error:
                    results["results"].append([name, span.tool_result.content])
    return results


for path in sys.argv[1:]:
    try:
        line = {"path": path, "items": items(path)}
    except Exception as error:
        line = {"path": path, "reason": f"{type(error).__name__}: {error}".splitlines()[0]}
    print(json.dumps(line, default=str))
