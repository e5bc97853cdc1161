"""Recordings to measure with: made up, realistic in shape and size, the same for the same seed.

python benchmarks/data.py FILE [SPANS]
"""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson

BATCH = 256
"""Spans a line, as an exporter writes them."""
_OPEN = 200  # traces that run at the same time
_SENTENCE = """the agent searched weather records, compared “three” sources and wrote a short
summary of what it found; {"city": "Zürich", "temperature": 21.5} then it
asked again because one was stale"""

Span = dict[str, Any]


def write_recording(
    path: Path, spans: int = 200_000, seed: int = 0, *, agents: bool = True, batch: int = BATCH
) -> int:
    """Write OTLP/JSON lines with at least `spans` spans of whole runs and return how many.

    A run has 28 spans: invoke_agent and 9 turns, each a chat span (4.7 KB) and two execute_tool
    spans (2 KB). Without `agents` it is what the instrumentation of a bare provider SDK leaves of a
    chat loop: 10 chat spans, each a trace of its own, tied by the ids of the tool calls that the
    next one answers. 200 runs are interleaved, `batch` spans make a line.
    """
    rng = random.Random(seed)
    written = 0
    contents: list[Span] = []
    with path.open("wb") as file:
        for span in _interleaved(spans, rng, agents):
            contents.append(span)
            if len(contents) == batch:
                written += _write(file, contents)
        if contents:
            written += _write(file, contents)
    return written


def _write(file: Any, batch: list[Span]) -> int:
    resources: dict[int, list[Span]] = {}
    for span in batch:
        resources.setdefault(int(span["traceId"][:2], 16) % 4, []).append(span)
    document = {
        "resourceSpans": [
            {
                "resource": {"attributes": _attributes(_resource(number))},
                "scopeSpans": [{"scope": {"name": "bench", "version": "1.0"}, "spans": members}],
            }
            for number, members in sorted(resources.items())
        ]
    }
    file.write(orjson.dumps(document) + b"\n")
    count = len(batch)
    batch.clear()
    return count


def _resource(number: int) -> dict[str, Any]:
    return {
        "service.name": f"agent-{number}",
        "host.name": f"node-{number}",
        "telemetry.sdk.language": "python",
    }


def _interleaved(spans: int, rng: random.Random, agents: bool) -> Iterator[Span]:
    clock = 1_790_000_000_000_000_000
    running: list[Iterator[Span]] = []
    value = 0
    while value < spans or running:
        while value < spans and len(running) < _OPEN:
            clock += 50_000_000
            running.append(_trace(rng, clock) if agents else _loop(rng, clock))
            value += 28 if agents else 10
        number = rng.randrange(len(running))
        span = next(running[number], None)
        if span is None:
            running.pop(number)
        else:
            yield span


def _trace(rng: random.Random, start: int) -> Iterator[Span]:
    trace_id = f"{rng.getrandbits(128):032x}"
    root = f"{rng.getrandbits(64):016x}"
    now = start
    history = _text(rng, 1300)
    usage = 0
    for turn in range(9):
        calls = [f"call_{rng.getrandbits(64):016x}" for _ in range(2)]
        yield _span(rng, trace_id, root, "chat gpt-5", 3, now, {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "gpt-5",
            "gen_ai.response.model": "gpt-5-2026-08",
            "gen_ai.response.id": f"resp_{rng.getrandbits(64):016x}",
            "gen_ai.response.finish_reasons": ["tool_calls"],
            "gen_ai.request.temperature": 0.2,
            "gen_ai.usage.input_tokens": 400 + 120 * turn,
            "gen_ai.usage.output_tokens": 60 + rng.randrange(90),
            "gen_ai.input.messages": _json([
                {"role": "user", "parts": [{"type": "text", "content": history}]},
                {"role": "tool", "parts": [_tool_response(rng, calls[0])]},
            ]),
            "gen_ai.output.messages": _json([{
                "role": "assistant",
                "finish_reason": "tool_call",
                "parts": [
                    {"type": "text", "content": _text(rng, 500)},
                    *(_tool_call(rng, call) for call in calls),
                ],
            }]),
        })  # fmt: skip
        now += 800_000_000
        for call in calls:
            yield _span(rng, trace_id, root, "execute_tool search_web", 1, now, {
                "gen_ai.operation.name": "execute_tool",
                "gen_ai.tool.name": "search_web",
                "gen_ai.tool.type": "function",
                "gen_ai.tool.call.id": call,
                "gen_ai.tool.call.arguments": _json({"query": _text(rng, 80), "limit": 5}),
                "gen_ai.tool.call.result": _json([_hit(rng) for _ in range(4)]),
            })  # fmt: skip
            now += 120_000_000
        usage += 60
    yield _span(rng, trace_id, root, "invoke_agent researcher", 1, start, {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "researcher",
        "gen_ai.conversation.id": trace_id[:12],
        "agentool.metrics.total_output_tokens": usage,
    }, end=now)  # fmt: skip


def _loop(rng: random.Random, start: int) -> Iterator[Span]:
    question: dict[str, Any] = {
        "role": "user",
        "parts": [{"type": "text", "content": _text(rng, 1300)}],
    }
    requests: list[dict[str, Any]] = []
    for turn in range(10):
        history = [question]
        if requests:
            answers = [_tool_response(rng, call["id"]) for call in requests]
            history.append({"role": "assistant", "parts": requests})
            history.append({"role": "tool", "parts": answers})
        last = turn == 9
        requests = (
            [] if last else [_tool_call(rng, f"call_{rng.getrandbits(64):016x}") for _ in "ab"]
        )
        texts = {"type": "text", "content": _text(rng, 500)}
        finish = "stop" if last else "tool_call"
        yield _span(rng, f"{rng.getrandbits(128):032x}", None, "chat gpt-5", 3, start, {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": "gpt-5",
            "gen_ai.response.model": "gpt-5-2026-08",
            "gen_ai.response.id": f"resp_{rng.getrandbits(64):016x}",
            "gen_ai.response.finish_reasons": [finish],
            "gen_ai.usage.input_tokens": 400 + 120 * turn,
            "gen_ai.usage.output_tokens": 60 + rng.randrange(90),
            "gen_ai.input.messages": _json(history),
            "gen_ai.output.messages": _json([
                {"role": "assistant", "finish_reason": finish, "parts": [texts, *requests]},
            ]),
        })  # fmt: skip
        start += 1_000_000_000


def _tool_call(rng: random.Random, call: str) -> dict[str, Any]:
    arguments = {"query": _text(rng, 80)}
    return {"type": "tool_call", "id": call, "name": "search_web", "arguments": arguments}


def _tool_response(rng: random.Random, call: str) -> dict[str, Any]:
    return {"type": "tool_call_response", "id": call, "response": _text(rng, 900)}


def _hit(rng: random.Random) -> dict[str, Any]:
    return {"title": _text(rng, 40), "text": _text(rng, 200)}


def _span(
    rng: random.Random, trace_id: str, root: str | None, name: str, kind: int, start: int,
    attributes: dict[str, Any], end: int = 0,
) -> Span:  # fmt: skip
    span: Span = {
        "traceId": trace_id,
        "spanId": root if root and end else f"{rng.getrandbits(64):016x}",
        "flags": 256,
        "name": name,
        "kind": kind,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(end or start + 100_000_000),
        "attributes": _attributes(attributes),
        "status": {},
    }
    if root and not end:
        span["parentSpanId"] = root
    return span


def _attributes(attributes: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"key": key, "value": _value(value)} for key, value in attributes.items()]


def _value(value: Any) -> dict[str, Any]:
    if isinstance(value, str):
        return {"stringValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    return {"arrayValue": {"values": [_value(item) for item in value]}}


def _text(rng: random.Random, size: int) -> str:
    start = rng.randrange(len(_PROSE) - size)
    return _PROSE[start : start + size]


def _json(value: Any) -> str:
    return orjson.dumps(value).decode()


_PROSE = " ".join(random.Random(1).choices(_SENTENCE.split(" "), k=4000))

if __name__ == "__main__":
    count = write_recording(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 200_000)
    print(f"{count} spans")
