"""The same task in every framework, as unmodified programs under `agentool-otel run`.

What is rebuilt of each is a row of the table in `docs/guides/frameworks.md`. The rows are kept in
`rows.json`, because no environment holds all frameworks:

    python -m tests.situations.task           write the rows of the frameworks that are installed
    python -m tests.situations.task litellm   of one
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

from agentool_otel.loading import load
from agentool_otel.testing.loopback_model import LoopbackModel
from tests.situations.situations import driver_of, frameworks, possible, turns

__all__ = ["ROWS", "Row", "row_of", "rows"]

ROWS = Path(__file__).parent / "rows.json"
_ROOT = Path(__file__).parent.parent.parent

Row = dict[str, Any]
"""`framework`, `versions`, `possible`, and for `plain` and `two_agents` what was rebuilt."""


def row_of(framework: str, driver: ModuleType) -> Row:
    """Run the task in a framework and return the rebuilt trace as a row."""
    row: Row = {
        "framework": framework,
        "versions": {name: version(name) for name in driver.DISTRIBUTIONS},
        "possible": sorted(possible(driver)),
    }
    for situation in ("plain", "two_agents"):
        if situation in possible(driver):
            row[situation] = _played(framework, driver, situation)
    return row


def _played(framework: str, driver: ModuleType, situation: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        environ = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "OPENAI_"))}
        environ |= {"AGENTOOL_DIR": folder, "PYTHONPATH": str(_ROOT)}
        with LoopbackModel(*turns(driver, situation)) as model:
            command = [sys.executable, "-m", "agentool_otel", "run", "-q", "--", sys.executable]
            program = ["-m", "tests.situations.program", framework, situation, model.base_url]
            done = subprocess.run(
                [*command, *program],
                env=environ,
                cwd=_ROOT,
                capture_output=True,
                text=True,
                check=False,
                timeout=120,
            )
        if done.returncode:
            raise RuntimeError(f"{framework} {situation}: {done.stderr[-2000:]}")
        return _rebuilt([item.to_dict() for item in load(folder)])


def _rebuilt(traces: list[dict[str, Any]]) -> dict[str, Any]:
    steps = [step for trace in traces for step in trace["steps"]]
    calls = [step["tool_call"] for step in steps if step["type"] == "tool_call"]
    results = [step["tool_result"] for step in steps if step["type"] == "tool_result"]
    outer = traces[0]
    return {
        "runs": [_agent_of(trace) for trace in traces],
        "steps": [[step["type"] for step in trace["steps"]] for trace in traces],
        "calls": [[call["name"], call.get("arguments")] for call in calls],
        "results": [result.get("output") for result in results],
        "handoffs": [step.get("to_agent") for step in steps if step["type"] == "handoff"],
        "tokens": sum(trace.get("metrics", {}).get("total_tokens") or 0 for trace in traces),
        "output": outer.get("output"),
        "session": outer.get("session_id") is not None,
    }


def _agent_of(trace: dict[str, Any]) -> str | None:
    """Return the agent of a run; None where it has the name of the program alone."""
    name = trace.get("agent_id")
    return None if name == "tests.situations.program" else name


def rows() -> dict[str, Row]:
    """Return the rows that are kept, by framework."""
    document: list[Row] = json.loads(ROWS.read_text(encoding="utf-8")) if ROWS.exists() else []
    return {row["framework"]: row for row in document}


def main(names: list[str]) -> int:
    entries = rows()
    for framework in names or frameworks():
        driver = driver_of(framework)
        if driver is not None:
            entries[framework] = row_of(framework, driver)
            print(json.dumps(entries[framework]), file=sys.stderr)
    text = json.dumps([entries[name] for name in sorted(entries)], indent=1, ensure_ascii=False)
    ROWS.write_text(text + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
