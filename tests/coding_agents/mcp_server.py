"""MCP server `demo` over standard input and output, with one tool. Standard library only."""

from __future__ import annotations

import json
import sys
from typing import Any

_TOOL = {
    "name": "lookup",
    "description": "Look a key up in the catalogue.",
    "inputSchema": {
        "type": "object",
        "properties": {"key": {"type": "string"}},
        "required": ["key"],
    },
}


def _result(
    method: str, parameters: dict[str, Any], answers: dict[str, str]
) -> dict[str, Any] | None:
    match method:
        case "initialize":
            return {
                "protocolVersion": parameters.get("protocolVersion", "2025-06-18"),
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "demo", "version": "1.0.0"},
            }
        case "tools/list":
            return {"tools": [_TOOL]}
        case "tools/call":
            key = str(parameters.get("arguments", {}).get("key"))
            text = answers.get(key, f"no entry {key!r}")
            return {"content": [{"type": "text", "text": text}], "isError": key not in answers}
        case "ping":
            return {}
        case _:
            return None


def main(answers: dict[str, str]) -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:  # a notification
            continue
        result = _result(request["method"], request.get("params") or {}, answers)
        unknown = {"code": -32601, "message": "Method not found"}
        answer = {"error": unknown} if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **answer}), flush=True)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
