"""An instrumentor outside this package, made of the kit, is found and records its framework."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentool_otel.conformance import check_all
from agentool_otel.loading import load
from agentool_otel.sources.opening import open_source

pytestmark = pytest.mark.thorough

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "own_framework"


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An environment in which the example is installed, as pip would leave it."""
    pytest.importorskip("opentelemetry.sdk")
    metadata = tmp_path / "site" / "tiny_agents-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: tiny-agents\nVersion: 1.0\n")
    pyproject = (EXAMPLE / "pyproject.toml").read_text()
    line = next(it for it in pyproject.splitlines() if it.startswith("agentool-tiny-agents"))
    points = "[opentelemetry_instrumentor]\n" + line.replace('"', "") + "\n"
    (metadata / "entry_points.txt").write_text(points)
    path = os.pathsep.join([str(metadata.parent), str(EXAMPLE)])
    return {**os.environ, "PYTHONPATH": path, "AGENTOOL_DIR": str(tmp_path / "recordings")}


def command(environ: dict[str, str], *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "agentool_otel", *arguments],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_unmodified_program_is_recorded(environ: dict[str, str], tmp_path: Path) -> None:
    command(environ, "run", "-q", "--", sys.executable, str(EXAMPLE / "app.py"))
    [trace] = [it.to_dict() for it in load(tmp_path / "recordings")]
    assert trace["agent_id"] == "researcher"
    assert trace["output"] == "OpenTelemetry is a standard for telemetry."
    assert [it["type"] for it in trace["steps"]] == ["tool_call", "tool_result"]
    assert check_all(open_source(tmp_path / "recordings").spans()) == []


def test_doctor_lists_it(environ: dict[str, str]) -> None:
    frameworks = json.loads(command(environ, "doctor", "--json"))["frameworks"]
    assert ("tiny-agents", "1.0") in [(it["name"], it["installed"]) for it in frameworks]
    [own] = [it for it in frameworks if it["name"] == "tiny-agents"]
    assert own["others"] == {}, "its own wrappers are nobody else's"
