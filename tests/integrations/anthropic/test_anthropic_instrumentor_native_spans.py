"""The SDK's own spans: replaced where the provider is ours, kept where it is the user's."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.loading import rebuild
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.testing.loopback_model import LoopbackModel

pytest.importorskip("anthropic._tracing", reason="this version has no spans of its own")

NATIVE = "com.anthropic.sdk.python"
USERS = """
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from agentool_otel.tracing.export.in_memory import InMemory
memory, provider = InMemory(), TracerProvider()
provider.add_span_processor(memory)
trace.set_tracer_provider(provider)
"""
PROGRAM = """
import agentool_otel
agentool_otel.instrument(content=True)
import anthropic

@anthropic.beta_tool
def search_web(query: str) -> str:
    "Search the web."
    return "found " + query

client = anthropic.Anthropic(max_retries=0)
hello = {"model": "claude", "max_tokens": 9, "messages": [{"role": "user", "content": "Hello"}]}
with agentool_otel.run("clerk"):
    client.messages.create(**hello)
    with client.messages.stream(**hello) as stream:
        stream.until_done()
for options in ({}, {"stream": True}, {"stream": True, "run_tools_eagerly": True}):
    runner = client.beta.messages.tool_runner(tools=[search_web], **options, **hello)
    for message in runner:
        if options:
            message.until_done()
client.messages.count_tokens(model="claude", messages=hello["messages"])
"""
SAVED = """
import pathlib
pathlib.Path("spans.json").write_bytes(memory.document())
"""


def run(folder: Path, code: str, model: LoopbackModel) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PATH": "", "AGENTOOL_OTEL_STRICT": "1", **model.env()},
        cwd=folder,
        timeout=120,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def traceparents(model: LoopbackModel) -> list[str]:
    requests = [request for request in model.requests if request.protocol == "messages"]
    return [item.headers.get("traceparent", "").split("-")[2] for item in requests]


def test_our_provider_gives_one_span_whose_context_is_sent(
    tmp_path: Path, model: LoopbackModel
) -> None:
    run(tmp_path, PROGRAM, model)
    spans = list(open_source(str(tmp_path / ".agentool")).spans())
    assert {span.scope.partition(".")[0] for span in spans} == {"agentool_otel"}
    span_ids = {span.span_id for span in spans}
    assert all(span.parent_id is None or span.parent_id in span_ids for span in spans)
    chats = {span.span_id for span in spans if span.name == "chat claude"}
    assert chats == set(traceparents(model))
    assert len(chats) == 8


def test_the_users_provider_keeps_both_spans_of_a_call(
    tmp_path: Path, model: LoopbackModel
) -> None:
    run(tmp_path, f"{USERS}{PROGRAM}{SAVED}", model)
    spans = list(open_source(str(tmp_path / "spans.json")).spans())
    native = [span for span in spans if span.scope == NATIVE]
    names = [item.name for item in native]
    assert names.count("anthropic.messages.create") == len(traceparents(model)) == 8
    assert names.count("anthropic.messages.tool_runner") == 3
    assert set(traceparents(model)) < {item.span_id for item in native}
    ours = [span for span in spans if span.scope != NATIVE]
    assert told(spans) == told(ours)
    assert [len(steps) for steps, *_ in told(ours)] == [0, 2, 2, 2]


def told(spans: list[SpanRecord]) -> list[tuple[list[str], Any, Any]]:
    """Return steps, totals and agents of the rebuilt traces."""
    traces = [item.trace for item in rebuild(spans)]
    steps = [[json.dumps(each.get("tool_call") or each.get("tool_result"))
              for each in trace.to_dict()["steps"]] for trace in traces]  # fmt: skip
    return [
        (each, trace.to_dict()["metrics"].get("total_tokens"), trace.agent_id)
        for each, trace in zip(steps, traces, strict=True)
    ]
