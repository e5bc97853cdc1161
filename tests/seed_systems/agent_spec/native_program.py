"""One question to each runtime, with the runtime's own OpenTelemetry beside ours.

    python -m tests.seed_systems.agent_spec.native_program own|user RUNTIME...

The tracer provider is `own`, which `instrument()` makes, or `user`, which the program has made
before. All spans, ours and theirs, go to `AGENTOOL_DIR`. AutoGen, Agent Framework and CrewAI write
theirs by the global tracer provider; WayFlow builds its own, and hands them to an exporter.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from typing import Any

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

import agentool_otel
from agentool_otel.testing.loopback_model import LoopbackModel
from agentool_otel.testing.turns import Request, ToolCall, Turn
from agentool_otel.tracing.export.sdk import AgentoolSpanExporter
from tests.seed_systems.agent_spec.runtimes import example

INPUT_TOKENS, OUTPUT_TOKENS = 100, 7
"""Of each model call."""


def answer(request: Request) -> Turn:
    if request.after_tool:
        return Turn(text="It is sunny.", input_tokens=INPUT_TOKENS, output_tokens=OUTPUT_TOKENS)
    asks = (ToolCall("get_weather", {"city": "Paris"}),)
    return Turn(tool_calls=asks, input_tokens=INPUT_TOKENS, output_tokens=OUTPUT_TOKENS)


def native(runtime: str) -> AbstractContextManager[Any]:
    """Return the switch for a runtime's own spans, where they are off."""
    if runtime != "wayflow":
        return nullcontext()
    processor = import_module("wayflowcore.tracing.opentelemetry.spanprocessor")
    processors = [processor.OtelSimpleSpanProcessor(AgentoolSpanExporter())]
    opened: AbstractContextManager[Any] = import_module("wayflowcore.tracing.trace").Trace(
        name="native", span_processors=processors
    )
    return opened


def main(provider: str, *runtimes: str) -> None:
    if provider == "user":
        theirs = TracerProvider()
        theirs.add_span_processor(SimpleSpanProcessor(AgentoolSpanExporter()))
        trace.set_tracer_provider(theirs)
    agentool_otel.instrument()
    ask = example()
    with LoopbackModel() as model:
        model.rule(answer)
        for runtime in runtimes:
            with native(runtime):
                ask.RUNTIMES[runtime][1](ask.specification(model.base_url), ask.QUESTIONS[0])


if __name__ == "__main__":
    main(*sys.argv[1:])
