"""Runs of agents as documents, whose spans are sent through real servers and back."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from agentool_otel.loading import rebuild
from agentool_otel.reading.sources.opening import open_source

__all__ = ["DOCUMENTS", "rebuilt", "run", "send"]

_SPEC = Path(__file__).parent.parent / "fixtures" / "spec" / "reasoning-trace.json"


def run(name: str, *steps: dict[str, Any], **members: Any) -> dict[str, Any]:
    """Return a document; missing members are those of a successful run."""
    return {"trace_id": name, "agent_id": "bot", "status": "success", "steps": [*steps], **members}


def call(number: int, arguments: Any = None, **members: Any) -> dict[str, Any]:
    """Return a step that calls a tool, with an id of its own."""
    texts = {"id": f"c{number}", "name": "look", "arguments": arguments or {}}
    return {"type": "tool_call", "step_id": f"s{number}", "tool_call": texts, **members}


def result(number: int, output: Any) -> dict[str, Any]:
    """Return the step with the result of the call with that number."""
    texts = {"call_id": f"c{number}", "output": output, "success": True}
    return {"type": "tool_result", "step_id": f"r{number}", "tool_result": texts}


_FALSY: tuple[Any, ...] = ({}, [], "", 0, 0.0, False, None)
_LONG = [{"type": "reasoning", "step_id": f"s{n}", "content": f"thought {n}"} for n in range(2000)]
_ODD = {"😀": "\u0000\ud7ff", "e\u0301": "é"}
_ASKED = [call(n, {"v": value}) for n, value in enumerate(_FALSY)]
_GIVEN = [result(n, value) for n, value in enumerate(_FALSY)]
_HANDOFF = {"type": "handoff", "step_id": "h", "to_agent": "writer", "message": "go"}
DOCUMENTS: dict[str, dict[str, Any]] = {
    "the example of the spec": json.loads(_SPEC.read_text()),
    "two thousand steps": run("long", *_LONG),
    "a megabyte of content": run("large", call(0), result(0, "ä" * (1 << 19)), output="done"),
    "unicode": run("läng\u2028☃", call(0, _ODD), result(0, "日本\r\n")),
    "falsy values": run("falsy", *_ASKED, *_GIVEN),
    "parallel calls": run("parallel", *_ASKED[:3], result(2, 2), result(0, 0), result(1, 1)),
    "a handoff": run("handoff", _HANDOFF),
}


def send(endpoint: str, *documents: dict[str, Any], folder: Path) -> None:
    """Send the spans of documents to an endpoint, as `agentool-otel export` does."""
    file = folder / "documents.jsonl"
    file.write_text("".join(json.dumps(document) + "\n" for document in documents))
    command = [sys.executable, "-m", "agentool_otel", "export", str(file)]
    done = subprocess.run(
        [*command, "--endpoint", endpoint, "--exact"], capture_output=True, check=False, text=True
    )
    assert done.returncode == 0, done.stderr


def rebuilt(where: str | Path) -> dict[str, dict[str, Any]]:
    """Return the documents that are rebuilt from the spans in a place, by their ids."""
    dicts = [item.trace.to_dict() for item in rebuild(open_source(where).spans())]
    assert len({item["trace_id"] for item in dicts}) == len(dicts)
    return {item["trace_id"]: item for item in dicts}
