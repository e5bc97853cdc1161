"""Write the runs of the truth table.

A run becomes a trace document or spans of another SDK, or this package records it.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, timezone
from math import isfinite
from pathlib import Path
from typing import Any

import agentool_otel

_ROOT = Path(__file__).parents[3]
START = datetime(2026, 3, 2, 9, tzinfo=timezone.utc)


def write_run(run: dict[str, Any], folder: Path) -> Path:
    """Write a run of the table into a folder and return where it can be read."""
    if run["by"] == "recorder":
        _record_in_process(run, folder)
        return folder
    written = [spans(run)] if run["by"] == "sdk" else _linked(run)
    path = folder / "run.jsonl"
    path.write_text("".join(json.dumps(obj) + "\n" for obj in written), encoding="utf-8")
    return path


def _linked(run: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the documents of a run and of the run inside it, or of the session's next run."""
    outer = document(run)
    if "then" in run:
        return [outer, document(run["then"])]
    if "inner" not in run:
        return [outer]
    inner = document(run["inner"])
    outer["metadata"] = {"sub_traces": [inner["trace_id"]]}
    inner["metadata"] = {"parent_trace_id": outer["trace_id"]}
    return [outer, inner]


def document(run: dict[str, Any]) -> dict[str, Any]:
    """Return the ReasoningTrace document of a run."""
    status = run.get("status", "success")
    trace = {
        "trace_id": _hex(run["input"], 32),
        "agent_id": "agent",
        "started_at": START.isoformat(),
        "finished_at": (START + timedelta(seconds=run.get("seconds", 1))).isoformat(),
        "input": run["input"],
        "status": status,
        "steps": list(_document_steps(run["steps"])),
    }
    if status == "in_progress":
        del trace["finished_at"]
    trace |= {member: run[member] for member in ("output", "metrics") if member in run}
    trace |= run.get("document", {})
    return {member: value for member, value in trace.items() if value is not None}


def _document_steps(steps: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for n, step in enumerate(steps):
        call_id = step.get("id", f"call_{n}")
        if "handoff" in step:
            yield {"step_id": f"step_{n}", "type": "handoff", "to_agent": step["handoff"]}
        if "call" in step:
            call = {"id": call_id, "name": step["call"]}
            if "args" in step:
                call["arguments"] = step["args"]
            yield {"step_id": f"step_{n}", "type": "tool_call", "tool_call": call}
        result = {
            member: step[word]
            for word, member in (("gives", "output"), ("result", "output"), ("fails", "error"))
            if step.get(word) is not None
        }
        if result:
            if "call" in step or "id" in step:
                result["call_id"] = call_id
            yield {"step_id": f"step_{n}_result", "type": "tool_result", "tool_result": result}


def spans(run: dict[str, Any]) -> dict[str, Any]:
    """Return the OTLP document of a run that another SDK has recorded in the GenAI conventions."""
    root: dict[str, Any] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "agent",
        "gen_ai.input.messages": _message("user", _text(run["input"])),
    }
    if "output" in run:
        root["gen_ai.output.messages"] = _message("assistant", _text(run["output"]))
    if run.get("ended") == "closed":
        root["agentool.incomplete"] = True
    own = _span(run, 0, "invoke_agent agent", root, run)
    if "below" in run:
        own["parentSpanId"] = _hex(run["below"], 16)
    if run.get("ended") == "never":
        own["endTimeUnixNano"] = "0"
    written = [] if run.get("lost") else [own]
    for n, step in enumerate(run["steps"], 1):
        attributes = _answer(run, step) if "says" in step else _tool(step, n)
        name = f"{attributes['gen_ai.operation.name']} {step.get('call', 'gpt-5')}"
        span = _span(run, n, name, attributes, {"seconds": 0.01} | step)
        written.append(span | {"parentSpanId": own["spanId"]})
    scope = {"scope": {"name": "some.agent.sdk", "version": "3.1"}, "spans": written}
    return {"resourceSpans": [{"resource": {"attributes": []}, "scopeSpans": [scope]}]}


def _tool(step: dict[str, Any], n: int) -> dict[str, Any]:
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": step["call"],
        "gen_ai.tool.call.id": step.get("id", f"call_{n}"),
    }
    if "args" in step:
        attributes["gen_ai.tool.call.arguments"] = _text(step["args"])
    if "gives" in step:
        attributes["gen_ai.tool.call.result"] = _text(step["gives"])
    if "fails" in step:
        attributes["error.type"] = "ToolError"
    return attributes


def _answer(run: dict[str, Any], step: dict[str, Any]) -> dict[str, Any]:
    finish = step.get("finish", "stop")
    calls = [
        {
            "type": "tool_call",
            "id": ask.get("id", "call_asked"),
            "name": ask["call"],
            "arguments": ask["args"],
        }
        for ask in step.get("asks", ())
    ]
    attributes: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.model": "gpt-5",
        "gen_ai.input.messages": _message("user", _text(run["input"])),
        "gen_ai.output.messages": _message("assistant", step["says"], *calls, finish_reason=finish),
        "gen_ai.response.finish_reasons": [finish],
    }
    if "reads" in step:
        read = {"type": "tool_call_response"} | step["reads"]
        messages = [_message("user", _text(run["input"])), _message("tool", "", read)]
        attributes["gen_ai.input.messages"] = json.dumps(
            [m for text in messages for m in json.loads(text)]
        )
    if "tokens" in step:
        attributes["gen_ai.usage.input_tokens"], attributes["gen_ai.usage.output_tokens"] = step[
            "tokens"
        ]
    return attributes


def _message(role: str, text: str, *parts: dict[str, Any], **members: str) -> str:
    texts = [{"type": "text", "content": text}] if text else []
    return json.dumps([{"role": role, "parts": [*texts, *parts], **members}], ensure_ascii=False)


def _span(
    run: dict[str, Any], n: int, name: str, attributes: dict[str, Any], row: dict[str, Any]
) -> dict[str, Any]:
    """Return the OTLP span at a position of a run; `row` is the run itself or one of its steps."""
    start = int(START.timestamp() * 1000) + 20 * n
    cut = row.get("cut")
    return {
        "traceId": _hex(run["input"], 32),
        "spanId": _hex(f"{run['input']} {n}", 16),
        "name": name,
        "kind": 1,
        "startTimeUnixNano": f"{start}000000",
        "endTimeUnixNano": f"{start + int(row.get('seconds', 1) * 1000)}000000",
        "attributes": [
            {"key": key, "value": _value(value[:cut] if isinstance(value, str) else value)}
            for key, value in (attributes | row.get("attributes", {})).items()
            if value is not None
        ],
        "status": {"code": 2, "message": row["fails"]} if "fails" in row else {},
    }


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value if isfinite(value) else str(value)}
    if isinstance(value, list):
        return {"arrayValue": {"values": [_value(member) for member in value]}}
    return {"stringValue": value}


def _record_in_process(run: dict[str, Any], folder: Path) -> None:
    """Record a run in a process of its own: a provider once set stays set."""
    options = run.get("with", {})
    environ = {**os.environ, "AGENTOOL_DIR": str(folder)}
    if "max_bytes" in options:
        environ["AGENTOOL_MAX_ATTRIBUTE_BYTES"] = str(options["max_bytes"])
        environ["AGENTOOL_OFFLOAD"] = "none"
    command = [sys.executable, "-m", "tests.evaluation.truth.recording"]
    subprocess.run(command, input=json.dumps(run), env=environ, cwd=_ROOT, text=True, check=True)
    if "sdk_limit" in options:
        _cut(folder, options["sdk_limit"])


def record(run: dict[str, Any]) -> None:
    """Record a run with this package."""
    options = run.get("with", {})
    redact = _redact(**options["redact"]) if "redact" in options else None
    agentool_otel.instrument(redact=redact, content=options.get("content", True), include=[])
    try:
        with agentool_otel.run("agent", input=run["input"]) as recorded:
            for step in run["steps"]:
                if "handoff" in step:
                    recorded.handoff(step["handoff"])
                    continue
                arguments = {name: _repeated(value) for name, value in step["args"].items()}
                call = recorded.tool_call(step["call"], arguments)
                recorded.tool_result(call, step.get("gives"), error=step.get("fails"))
            recorded.output = _repeated(run["output"])
    finally:
        agentool_otel.uninstrument()


def _cut(folder: Path, limit: int) -> None:
    """Cut attributes as OTEL_ATTRIBUTE_VALUE_LENGTH_LIMIT does, which a process reads once."""

    def cut(member: dict[str, Any]) -> dict[str, Any]:
        text = member.get("stringValue")
        return {"stringValue": text[:limit]} if isinstance(text, str) else member

    for path in folder.glob("*.jsonl"):
        lines = path.read_text(encoding="utf-8").splitlines()
        shortened = [json.dumps(json.loads(line, object_hook=cut)) + "\n" for line in lines]
        path.write_text("".join(shortened), encoding="utf-8")


def _redact(**rule: str) -> Callable[[str, str], str | None]:
    def redact(attribute: str, text: str) -> str | None:
        if attribute != rule["attribute"]:
            return text
        return text.replace(rule["from"], rule["to"]) if "to" in rule else None

    return redact


def _repeated(value: Any) -> Any:
    """Return a long text for an object with `repeat`, `times` and perhaps `end`."""
    if isinstance(value, dict):
        return value["repeat"] * value["times"] + value.get("end", "")
    return value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _hex(seed: str, digits: int) -> str:
    return hashlib.sha256(seed.encode()).hexdigest()[:digits]


if __name__ == "__main__":
    record(json.load(sys.stdin))
