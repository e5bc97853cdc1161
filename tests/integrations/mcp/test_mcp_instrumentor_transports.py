"""A client and a server in processes of their own, each recorded: over stdio and over HTTP."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from agentool_otel.loading import rebuild
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.opening import open_source
from tests.integrations.mcp import served

pytest.importorskip("mcp.client.session")
ROOT = Path(__file__).parents[3]
PROGRAM = f"""
import asyncio, os, sys
from agentool_otel import agent
from tests.integrations.mcp import served

@agent
async def researcher(session):
    result = await session.call_tool("search_web", {{"query": "OTLP"}})
    return result.content[0].text

async def over_stdio():
    from mcp.client.session import ClientSession
    from mcp.client.stdio import StdioServerParameters, stdio_client
    server = StdioServerParameters(
        command=sys.executable, args=[{served.__file__!r}], env=dict(os.environ)
    )
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        await session.initialize()
        print(await researcher(session))

async def over_http(port):
    async with served.over_http(port) as session:
        print(await researcher(session))

asyncio.run(over_http(int(sys.argv[1])) if sys.argv[1:] else over_stdio())
"""


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "AGENTOOL_DIR": str(folder), "PYTHONPATH": str(ROOT)}


RUN = [sys.executable, "-m", "agentool_otel", "run", "-q", "--", sys.executable]


def recorded(folder: Path, *arguments: str) -> list[SpanRecord]:
    """Run the program; return the spans of both processes."""
    done = subprocess.run(
        [*RUN, "-c", PROGRAM, *arguments],
        env=environment(folder),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.stdout.strip() == served.RESULT, done.stderr
    return list(open_source(str(folder)).spans())


def is_one_call(spans: list[SpanRecord]) -> bool:
    """Return whether the spans are those of a client and a server in one trace, and one step
    in it.
    """
    run, client, server = sorted(spans, key=lambda span: span.start_ns or 0)
    assert (client.kind, server.kind) == ("CLIENT", "SERVER")
    assert (client.parent_id, server.parent_id) == (run.span_id, client.span_id)
    assert client.attributes["jsonrpc.request.id"] == server.attributes["jsonrpc.request.id"]
    [result] = rebuild(spans)
    kinds = [step.type for step in result.trace.steps]
    return kinds == ["tool_call", "tool_result"]


def test_a_call_of_a_child_process_over_stdio_is_one_step(tmp_path: Path) -> None:
    assert is_one_call(recorded(tmp_path))


@contextmanager
def serving(folder: Path) -> Generator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    command = [*RUN, served.__file__, str(port)]
    with subprocess.Popen(command, env=environment(folder), cwd=ROOT) as server:
        try:
            for _ in range(300):
                with socket.socket() as tried:
                    if tried.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.1)
            yield port
        finally:
            server.terminate()


def test_a_call_over_http_is_one_step(tmp_path: Path) -> None:
    with serving(tmp_path) as port:
        recorded(tmp_path, str(port))
    spans = list(open_source(str(tmp_path)).spans())
    assert is_one_call(spans)
    [server] = [span for span in spans if span.kind == "SERVER"]
    assert server.attributes["network.transport"] == "tcp"
    assert server.attributes["client.address"] == "127.0.0.1"
    assert server.attributes["mcp.session.id"]
