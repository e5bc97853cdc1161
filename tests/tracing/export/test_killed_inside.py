"""A process that is killed inside a call leaves its input: arguments, prompts, messages.

Real processes and SIGKILL. What is left is recovered by `agentool-otel recover` and by the next
start, into the recording and over OTLP; with content off not even the journal has held it.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from agentool_otel.cli.recover import recover
from agentool_otel.content.policy import MASK
from agentool_otel.ground import environment
from agentool_otel.loading import load
from agentool_otel.model.documents import ToolCall
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.semconv import agentool, gen_ai
from tests.tracing.export.receiver import HttpReceiver

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs signals")

ASKED = "rain in Lisbon"
SECRET = "hunter2-hunter2"
PROGRAM = """
import asyncio, os, signal
import agentool_otel

agentool_otel.instrument()

ASKED, SECRET = "rain in Lisbon", "hunter2-hunter2"

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)
    signal.pause()

@agentool_otel.tool
def search(query, password):
    die()

@agentool_otel.tool
async def search_async(query, password):
    die()

@agentool_otel.tool
def search_pages(query, password):
    yield die()

@agentool_otel.agent
def assistant(task):
    search(ASKED, SECRET)

@agentool_otel.step("memory_read")
def remember(query):
    die()

@agentool_otel.step("memory_write")
def keep(key, content):
    die()

def run_block():
    with agentool_otel.run("assistant", input=ASKED) as run:
        run.tool_call("search", {"query": ASKED, "password": SECRET})
        die()

def chat(**asked):
    import openai
    from agentool_otel.testing.loopback_model import LoopbackModel

    with LoopbackModel() as model:
        model.rule(die)
        client = openai.OpenAI(base_url=model.base_url, api_key="none", max_retries=0)
        if "input" in asked:
            client.responses.create(model="gpt-5", **asked)
        else:
            client.chat.completions.create(model="gpt-5", **asked)

def graph():
    from typing import Any, TypedDict
    from langchain_core.tools import tool
    from langgraph.graph import StateGraph

    class State(TypedDict):
        task: str

    @tool("search")
    def found(query: str, password: str) -> str:
        "Search."
        die()

    def work(state: State) -> Any:
        found.invoke({"query": state["task"], "password": SECRET})

    made = StateGraph(State)
    made.add_node("work", work)
    made.set_entry_point("work")
    made.compile(name="assistant").invoke({"task": ASKED})

def store():
    from langgraph.store.memory import InMemoryStore

    class Store(InMemoryStore):
        def batch(self, ops):
            die()

    Store().put(("notes",), "weather", {"text": ASKED, "password": SECRET})

if __name__ == "__main__":
    WAY
"""


class Way(NamedTuple):
    """Death of a program, and the texts that its open spans must have, by name and attribute."""

    code: str
    left: dict[str, str]
    needs: str = "opentelemetry"


CALL = {"execute_tool search": gen_ai.TOOL_CALL_ARGUMENTS}
MESSAGES = [{"role": "user", "content": ASKED}]
WAYS = {
    "a tool": Way("search(ASKED, SECRET)", CALL),
    "an async tool": Way(
        "asyncio.run(search_async(ASKED, SECRET))",
        {"execute_tool search_async": gen_ai.TOOL_CALL_ARGUMENTS},
    ),
    "a generator tool": Way(
        "list(search_pages(ASKED, SECRET))",
        {"execute_tool search_pages": gen_ai.TOOL_CALL_ARGUMENTS},
    ),
    "an agent": Way("assistant(ASKED)", {**CALL, "invoke_agent assistant": gen_ai.INPUT_MESSAGES}),
    "a run block": Way("run_block()", {**CALL, "invoke_agent assistant": gen_ai.INPUT_MESSAGES}),
    "a memory read": Way("remember(ASKED)", {"search_memory": gen_ai.MEMORY_QUERY_TEXT}),
    "a memory write": Way("keep('k', ASKED)", {"upsert_memory": gen_ai.MEMORY_RECORDS}),
    "a chat completion": Way(
        f"chat(messages={MESSAGES})", {"chat gpt-5": gen_ai.INPUT_MESSAGES}, "openai"
    ),
    "a stream": Way(
        f"chat(messages={MESSAGES}, stream=True)", {"chat gpt-5": gen_ai.INPUT_MESSAGES}, "openai"
    ),
    "a response": Way("chat(input=ASKED)", {"chat gpt-5": gen_ai.INPUT_MESSAGES}, "openai"),
    "a graph": Way("graph()", {**CALL, "invoke_agent assistant": agentool.INPUT}, "langgraph"),
    "a store": Way("store()", {"upsert_memory": gen_ai.MEMORY_RECORDS}, "langgraph"),
}

every_way = pytest.mark.parametrize("way", WAYS)


def run(folder: Path, code: str, **environ: str) -> int:
    (folder / "app.py").write_text(PROGRAM.replace("WAY", code))
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "AGENTOOL_"))}
    done = subprocess.run(
        [sys.executable, "app.py"],
        cwd=folder,
        env={**clean, "OTEL_METRICS_EXPORTER": "none", **environ},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "agentool" not in done.stderr
    return done.returncode


def killed(folder: Path, way: str, **environ: str) -> Way:
    chosen = WAYS[way]
    if find_spec(chosen.needs) is None:
        pytest.skip(f"needs {chosen.needs}")
    assert run(folder, chosen.code, **environ) == -signal.SIGKILL
    return chosen


def recorded(folder: Path) -> dict[str, dict[str, Any]]:
    spans = list(open_source(folder / ".agentool").spans())
    assert len({span.span_id for span in spans}) == len(spans)
    return {span.name: dict(span.attributes) for span in spans}


def received(receiver: HttpReceiver) -> dict[str, dict[str, Any]]:
    return {
        span.name: {pair.key: pair.value.string_value for pair in span.attributes}
        | {pair.key: True for pair in span.attributes if pair.value.bool_value}
        for body in receiver.bodies.get("/v1/traces", [])
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    }


def check(spans: dict[str, dict[str, Any]], way: Way) -> None:
    for name, attribute in way.left.items():
        assert ASKED in spans[name][attribute]
        assert spans[name][agentool.INCOMPLETE]
    assert SECRET not in str(spans)


def written(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in (folder / ".agentool").rglob("*.*"))


@every_way
def test_the_input_of_a_killed_call_is_recorded_by_recovery(tmp_path: Path, way: str) -> None:
    left = killed(tmp_path, way)
    assert SECRET.encode() not in written(tmp_path)
    recover(tmp_path / ".agentool")
    check(recorded(tmp_path), left)


@every_way
def test_the_input_of_a_killed_call_is_sent_by_recovery(tmp_path: Path, way: str) -> None:
    with HttpReceiver() as receiver:
        endpoint = {"OTEL_EXPORTER_OTLP_ENDPOINT": receiver.endpoint}
        left = killed(tmp_path, way, **endpoint, **{environment.CAPTURE: "SPAN_ONLY"})
        recover(tmp_path / ".agentool")
        check(received(receiver), left)


def test_the_next_start_records_the_input_of_a_killed_call(tmp_path: Path) -> None:
    left = killed(tmp_path, "an agent")
    run(tmp_path, "pass")
    check(recorded(tmp_path), left)


def test_the_next_start_sends_the_input_of_a_killed_call(tmp_path: Path) -> None:
    with HttpReceiver() as receiver:
        environ = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": receiver.endpoint,
            environment.CAPTURE: "SPAN_ONLY",
        }
        left = killed(tmp_path, "an agent", **environ)
        run(tmp_path, "agentool_otel.tool(len)(ASKED)", **environ)
        check(received(receiver), left)


@every_way
def test_without_content_capture_even_the_journal_holds_no_input(tmp_path: Path, way: str) -> None:
    left = killed(tmp_path, way, **{environment.CAPTURE: "NO_CONTENT"})
    on_disk = written(tmp_path)
    recover(tmp_path / ".agentool")
    for data in (on_disk, written(tmp_path)):
        assert ASKED.encode() not in data
        assert SECRET.encode() not in data
    assert left.left.keys() <= recorded(tmp_path).keys()


def test_arguments_in_the_journal_are_masked(tmp_path: Path) -> None:
    killed(tmp_path, "a tool")
    recover(tmp_path / ".agentool")
    arguments = recorded(tmp_path)["execute_tool search"][gen_ai.TOOL_CALL_ARGUMENTS]
    assert json.loads(arguments) == {"query": ASKED, "password": MASK}


def test_a_large_argument_is_shortened_in_the_journal_too(tmp_path: Path) -> None:
    environ = {"AGENTOOL_MAX_ATTRIBUTE_BYTES": "1000"}
    assert run(tmp_path, "search('x' * 100_000, SECRET)", **environ) == -signal.SIGKILL
    assert len(written(tmp_path)) < 10_000
    recover(tmp_path / ".agentool")
    arguments = recorded(tmp_path)["execute_tool search"][gen_ai.TOOL_CALL_ARGUMENTS]
    assert json.loads(arguments)["password"] == MASK


def test_a_killed_call_is_rebuilt_with_arguments_and_no_result(tmp_path: Path) -> None:
    killed(tmp_path, "an agent")
    recover(tmp_path / ".agentool")
    (result,) = load(tmp_path / ".agentool")
    assert result.status == "incomplete"
    (step,) = result.steps
    assert isinstance(step.tool_call, ToolCall)
    assert step.tool_call.arguments == {"query": ASKED, "password": MASK}
    assert result.input == ASKED
