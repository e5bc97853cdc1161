"""Output of `show` about tool calls that the spans do not name."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Invoke


def spans_of_a_loop(trace_id: str) -> list[str]:
    """Two model calls in a request; the first requests a tool, and no content was captured."""
    request = {"trace_id": trace_id, "span_id": "a" * 16, "name": "POST", "kind": "SERVER"}
    calls = [
        {
            "trace_id": trace_id,
            "span_id": f"{n:016x}",
            "parent_id": "a" * 16,
            "name": "chat",
            "start_time": 1_700_000_000_000_000_000 + n,
            "attributes": {
                "gen_ai.operation.name": "chat",
                "gen_ai.response.finish_reasons": [reason],
            },
        }
        for n, reason in enumerate(["tool_calls", "stop"], 1)
    ]
    return [json.dumps(span) for span in ({**request, "attributes": {}}, *calls)]


def test_unknown_tool_calls_are_not_shown_as_none(invoke: Invoke) -> None:
    Path("one.jsonl").write_text("\n".join(spans_of_a_loop("1" * 32)))
    assert "tool calls not known" in invoke("show", "one.jsonl").stdout
    lines = [line for n in "12" for line in spans_of_a_loop(n * 32)]
    Path("two.jsonl").write_text("\n".join(lines))
    _, first, _ = invoke("show", "two.jsonl").stdout.splitlines()
    assert first.split()[-6:-4] == ["0", "-"]
