"""The examples of `docs/guides/where-it-runs.md`, as far as they run on this machine."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.loading import load
from tests.tracing.export.receiver import HttpReceiver

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
WORKFLOW: dict[str, Any] = yaml.safe_load((EXAMPLES / "ci" / "agent-checks.yml").read_text())
STEPS: list[dict[str, Any]] = WORKFLOW["jobs"]["checks"]["steps"]
POD: dict[str, Any] = yaml.safe_load((EXAMPLES / "kubernetes" / "agent.yaml").read_text())

INVOKE = """
import sys
sys.path.insert(0, sys.argv[1])
import handler
for line in sys.stdin:
    print(handler.handler({"question": line.strip()}, None)["body"], flush=True)
"""
KILLED = """
import os, signal, agentool_otel
agentool_otel.instrument(endpoint=None)
@agentool_otel.tool
def search(query): return query
search("agents")
os.kill(os.getpid(), signal.SIGKILL)
"""


def environment(**more: str) -> dict[str, str]:
    results = ("OTEL_", "AGENTOOL_", "OPENAI_")
    clean = {k: v for k, v in os.environ.items() if not k.startswith(results)}
    path = f"{Path(sys.executable).parent}{os.pathsep}{clean['PATH']}"
    return {**clean, "PATH": path, **more}


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="needs SIGSTOP")
def test_a_lambda_has_sent_its_spans_before_it_is_frozen(tmp_path: Path) -> None:
    with HttpReceiver() as receiver:
        process = subprocess.Popen(
            [sys.executable, "-c", INVOKE, str(EXAMPLES / "aws_lambda")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(
                AGENTOOL_DIR=str(tmp_path / "r"),
                OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint,
                OTEL_BSP_SCHEDULE_DELAY="600000",  # only `flush` sends
            ),
        )
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            for count in (1, 2):
                process.stdin.write("Paris\n")
                process.stdin.flush()
                assert process.stdout.readline() == "You asked: Paris\n"
                process.send_signal(signal.SIGSTOP)
                assert len([name for name in receiver.names() if "answer" in name]) == count
                process.send_signal(signal.SIGCONT)
        finally:
            process.kill()
            process.communicate()


def run_steps(folder: Path) -> tuple[int, str]:
    """Run the steps of the workflow but the installation; return the first exit code not 0."""
    summary = folder / "summary.md"
    code, output = 0, ""
    for step in STEPS:
        if "run" not in step or step["name"] == "install" or (code and "if" not in step):
            continue
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", step["run"]],
            cwd=folder,
            env=environment(GITHUB_STEP_SUMMARY=str(summary)),
            capture_output=True,
            text=True,
            check=False,
        )
        output += done.stdout + done.stderr
        code = code or done.returncode
    return code, output


README = (EXAMPLES / "ci" / "README.md").read_text()


def commands(start: str) -> str:
    """The indented commands of the page, from one that begins so."""
    lines = README[README.index(f"    {start}") :].split("\n\n")[0].splitlines()
    return "\n".join(line.strip() for line in lines)


def build_nothing(folder: Path) -> dict[str, str]:
    """An environment in which `pip` only makes the files that it is asked for."""
    (folder / "bin").mkdir()
    pip = folder / "bin" / "pip"
    pip.write_text('#!/bin/sh\n[ "$1" = wheel ] && touch vendor/agentool_otel-1-py3-none-any.whl\n'
                   'echo "$@" >> pip.txt\n')  # fmt: skip
    pip.chmod(0o755)
    of_tests = environment(CHECKOUT=str(ROOT))
    return {**of_tests, "PATH": f"{folder / 'bin'}{os.pathsep}{of_tests['PATH']}"}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project that is not ours, made by the commands of the page."""
    pytest.importorskip("openai")
    folder = tmp_path / "project"
    folder.mkdir()
    shown = build_nothing(tmp_path)
    for start in ("mkdir -p .github", 'cp "$CHECKOUT/examples/openai'):
        subprocess.run(["bash", "-e", "-c", commands(start)], cwd=folder, env=shown, check=True)
    return folder


def test_the_workflow_installs_what_its_project_has(project: Path, tmp_path: Path) -> None:
    file = project / ".github" / "workflows" / "agent-checks.yml"
    assert yaml.safe_load(file.read_text()) == WORKFLOW
    [install] = [step["run"] for step in STEPS if step.get("name") == "install"]
    path = {"PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    subprocess.run(["bash", "-e", "-c", install], cwd=project, env=path, check=True)
    assert (project / "pip.txt").read_text().splitlines()[1:] == [
        "install -r requirements.txt",
        "install vendor/agentool_otel-1-py3-none-any.whl[eval]",
    ]
    assert (project / "requirements.txt").read_text() == "openai\n"


def test_the_workflow_passes_and_reports(project: Path) -> None:
    code, output = run_steps(project)
    assert code == 0, output
    assert 'failures="0"' in (project / "report.xml").read_text()
    assert (project / "summary.md").read_text() == (project / "report.md").read_text()


def test_the_workflow_fails_with_a_report(project: Path) -> None:
    checks = project / "checks.json"
    checks.write_text(checks.read_text().replace("Paris", "Rome"))
    code, output = run_steps(project)
    assert code == 1
    assert "✗ contains_tool_call: get_weather was called at step_" in output
    assert "Rome" in (project / "summary.md").read_text()


def test_without_a_report_only_the_failed_step_fails(project: Path) -> None:
    (project / "your_agent.py").write_text("raise SystemExit(3)")
    code, _ = run_steps(project)
    assert code == 3


def test_the_pod_has_a_read_only_root_and_a_volume_for_recordings() -> None:
    spec = POD["spec"]["template"]["spec"]
    volumes = {volume["name"] for volume in spec["volumes"] if "emptyDir" in volume}
    assert spec["securityContext"]["runAsNonRoot"]
    for container in spec["containers"]:
        assert container["securityContext"]["readOnlyRootFilesystem"]
        [mount] = container["volumeMounts"]
        [folder] = [item["value"] for item in container["env"] if item["name"] == "AGENTOOL_DIR"]
        assert mount["name"] in volumes
        assert folder.startswith(mount["mountPath"] + "/")


def test_the_pod_fits_the_schema_of_kubernetes() -> None:
    validate = pytest.importorskip("kubernetes_validate")
    validate.validate(POD, "1.30", strict=True)


def test_the_sidecar_sends_what_a_killed_agent_left(tmp_path: Path) -> None:
    [sidecar] = [
        container
        for container in POD["spec"]["template"]["spec"]["containers"]
        if container["name"] == "recover"
    ]
    command = sidecar["command"][2].replace("/recordings", str(tmp_path))
    command = command.replace("sleep 30", "sleep 0.2")
    with HttpReceiver() as receiver:
        env = environment(
            AGENTOOL_DIR=str(tmp_path / "agent"), OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint
        )
        killed = subprocess.run([sys.executable, "-c", KILLED], env=env, check=False)
        assert killed.returncode == -signal.SIGKILL
        process = subprocess.Popen(["sh", "-c", command], env=env, start_new_session=True)
        try:
            deadline = time.monotonic() + 60
            while not receiver.names() and time.monotonic() < deadline:
                time.sleep(0.05)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        assert receiver.names() == ["execute_tool search"]


def test_an_agent_records_where_only_one_folder_can_be_written(tmp_path: Path) -> None:
    """A root that is mounted read-only, in a mount namespace of its own."""
    script = (
        "mount --bind / /mnt && mount -o remount,bind,ro /mnt && "
        'mount --bind "$1" "/mnt$1" && ! touch /mnt/probe 2>/dev/null && exec chroot /mnt "$2" "$3"'
    )
    if shutil.which("unshare") is None:
        pytest.skip("no unshare")
    allowed = subprocess.run(
        ["unshare", "-rm", "sh", "-c", "mount --rbind / /mnt"], capture_output=True, check=False
    )
    if allowed.returncode:
        pytest.skip("this user may not mount")
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", script.replace("--bind / ", "--rbind / "), "sh",
         str(tmp_path), sys.executable, str(EXAMPLES / "plain_agent.py")],
        cwd="/",
        env=environment(AGENTOOL_DIR=str(tmp_path / "r"), PYTHONPATH=str(ROOT)),
        capture_output=True,
        text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [*load(tmp_path / "r")]


def test_the_workflow_fits_the_schema_of_github() -> None:
    pytest.importorskip("check_jsonschema")
    file = EXAMPLES / "ci" / "agent-checks.yml"
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema"]
    subprocess.run([*command, "vendor.github-workflows", str(file)], check=True)


def test_a_notebook_records_a_run_for_each_execution(tmp_path: Path) -> None:
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    shutil.copy(EXAMPLES / "notebook" / "agent.ipynb", tmp_path)
    program = f"""if True:
        import {nbformat.__name__}, {nbclient.__name__}
        for _ in range(2):
            notebook = nbformat.read("agent.ipynb", 4)
            nbclient.NotebookClient(notebook, kernel_name="python3", timeout=60).execute()
            print(notebook.cells[-1].outputs[0].text)"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["answer", "success"] * 2
    assert len([*load(tmp_path / ".agentool")]) == 2
