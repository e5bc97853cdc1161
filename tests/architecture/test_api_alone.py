"""Documents, rebuilding and decorators need nothing of OpenTelemetry but its API.

Spec: agentool, acceptance check 16.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import agentool_otel
from tests.cli.conftest import PROGRAM

LEFT_OUT = ("sdk", "exporter", "proto", "instrumentation")
"""Parts of the namespace `opentelemetry` that are other distributions than the API."""

REBUILD = """
import sys
import agentool_otel
from agentool_otel.model import codec, ReasoningTrace
from agentool_otel.reading.sources.opening import open_source
[trace] = agentool_otel.load(sys.argv[1])
assert trace.agent_id == "adder", trace
assert [step.type for step in trace.steps] == ["tool_call", "tool_result"] * 2
[again] = agentool_otel.rebuild(open_source(sys.argv[1]).spans())
document = again.trace.to_dict()
assert ReasoningTrace.from_dict(document).to_dict() == document
[result] = agentool_otel.evaluate([{"type": "status", "status": "success"}], [again])
assert result.passed
assert not any(name.startswith("opentelemetry.sdk") for name in sys.modules)
"""

DECORATE = """
import agentool_otel

@agentool_otel.agent
def clerk(question):
    return add(1, 2)

@agentool_otel.tool
def add(a, b):
    return a + b

assert clerk("?") == 3
with agentool_otel.run("by hand") as run:
    run.reasoning("hm")
"""

INSTRUMENT = """
import agentool_otel
agentool_otel.instrument()
agentool_otel.instrument()
print(agentool_otel.status().enabled)
"""


@pytest.fixture(scope="module")
def api_alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of packages: those of this environment, but of OpenTelemetry the API alone."""
    folder = tmp_path_factory.mktemp("packages")
    of_opentelemetry = folder / "opentelemetry"
    of_opentelemetry.mkdir()
    for installed in map(Path, {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}):
        for path in installed.iterdir():
            mine = path.name.startswith(("opentelemetry", "agentool_otel", "_", "distutils-"))
            if not mine and path.suffix != ".pth":
                (folder / path.name).symlink_to(path)
        for path in (installed / "opentelemetry").iterdir():
            if path.name not in LEFT_OUT:
                (of_opentelemetry / path.name).symlink_to(path)
        for path in installed.glob("opentelemetry_api-*"):
            (folder / path.name).symlink_to(path)
        for path in installed.glob("agentool_otel-*"):
            (folder / path.name).symlink_to(path)
    (folder / "agentool_otel").symlink_to(Path(agentool_otel.__file__).parent)
    return folder


def run(packages: Path, code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-S", "-c", code, *map(str, arguments)],
        env={"PYTHONPATH": str(packages)},
        cwd=packages,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_traces_are_read_rebuilt_written_and_evaluated(api_alone: Path, tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], cwd=tmp_path, check=True, timeout=60)
    done = run(api_alone, REBUILD, tmp_path / ".agentool")
    assert (done.returncode, done.stderr) == (0, "")


def test_decorated_functions_work(api_alone: Path) -> None:
    done = run(api_alone, DECORATE)
    assert done.returncode == 0, done.stderr
    assert "not recorded" in done.stderr


def test_instrument_does_nothing_and_names_what_is_missing_once(api_alone: Path) -> None:
    done = run(api_alone, INSTRUMENT)
    assert (done.returncode, done.stdout) == (0, "False\n"), done.stderr
    assert done.stderr.count("nothing is recorded: recording needs opentelemetry-sdk") == 1
    assert "pip install opentelemetry-sdk" in done.stderr
