"""`demo`, `doctor` and the example: the first steps of a newcomer."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agentool_otel.ground.integrations import integrations
from agentool_otel.loading import rebuild
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.semconv import agentool as agentool_names
from agentool_otel.tracing.setup.frameworks import instrumentors
from tests.cli.conftest import agentool
from tests.tracing.export.receiver import HttpReceiver

pytestmark = pytest.mark.thorough

EXAMPLE = Path(__file__).parent.parent.parent / "examples" / "plain_agent.py"
STEP_TYPES = ("reasoning", "tool_call", "tool_result", "handoff", "memory_read", "memory_write")


def test_the_demo_shows_spans_steps_and_where_they_are() -> None:
    result = agentool("demo")
    assert result.returncode == 0
    assert "└── invoke_agent trip-planner" in result.stdout
    for kind in STEP_TYPES:
        assert kind in result.stdout
    (folder,) = Path(".agentool").glob("demo-*")
    (recording,) = folder.iterdir()
    assert str(recording) in result.stdout
    assert "-m agentool_otel rebuild" in result.stdout


def test_the_demo_has_model_calls_with_messages_tokens_and_cost() -> None:
    shown = agentool("demo").stdout
    assert shown.count("── chat loopback-model  ") == 6
    [recording] = Path(".agentool").glob("demo-*/*.jsonl")
    spans = list(open_source(recording).spans())
    agents = {span.span_id for span in spans if span.name.startswith("invoke_agent ")}
    calls = [span for span in spans if span.name == "chat loopback-model"]
    assert len(calls) == 6
    for item in calls:
        assert item.parent_id in agents
        assert {"gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"} <= item.attributes.keys()
        assert {"gen_ai.input.messages", "gen_ai.output.messages"} <= item.attributes.keys()
        assert item.attributes[agentool_names.COST_USD] > 0
    runs = list(rebuild(spans))
    assert [run.fidelity.model_calls for run in runs] == [4, 2]
    assert [len(run.trace.tool_calls()) for run in runs] == [3, 1]
    for run in runs:
        assert all(call and result for call, result in run.trace.pairs())


def test_the_demo_connects_to_this_machine_alone() -> None:
    """Also with proxies and keys in the environment, and without a look-up of any name."""
    code = """
import sys
def note(event, arguments):
    if event == "socket.connect": print(arguments[1][0], file=sys.stderr)
    if event in ("socket.getaddrinfo", "socket.gethostbyaddr"): print(arguments[0], file=sys.stderr)
sys.addaudithook(note)
from agentool_otel.cli import main
main(["demo"])
"""
    names = ("http_proxy", "HTTP_PROXY", "ALL_PROXY", "OPENAI_BASE_URL")
    environment = {**os.environ, **dict.fromkeys(names, "http://192.0.2.1:1")}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert set(done.stderr.split()) == {"127.0.0.1"}


def test_the_demo_ends_with_verdicts_of_checks_that_can_be_saved() -> None:
    shown = agentool("demo").stdout
    marked = [line for line in shown.splitlines() if line[:3] in ("✓ {", "✗ {", "- {")]
    assert [line[0] for line in marked] == ["✓", "✓", "✓", "✓", "✗", "-"]
    assert "weather failed at step_006" in shown
    Path("checks.json").write_text("\n".join(line[2:] for line in marked))
    result = agentool("eval", "checks.json")
    assert result.returncode == 1
    assert '"weather' not in result.stderr
    first = json.loads(result.stdout.splitlines()[0])
    assert [assertion_result["passed"] for assertion_result in first["assertion_results"]] == [
        True,
        True,
        True,
        True,
        False,
        None,
    ]


def test_the_demo_sends_nothing_whatever_is_configured(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "AGENTOOL_DIR": str(tmp_path / "elsewhere"),
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1",
        "OTEL_SDK_DISABLED": "true",
    }
    result = agentool("demo", env=environment)
    assert (result.returncode, result.stderr) == (0, "")
    assert list((tmp_path / "elsewhere").glob("demo-*/traces-*.jsonl"))


def test_the_demo_sends_spans_to_its_endpoint() -> None:
    with HttpReceiver() as receiver:
        result = agentool("demo", "--endpoint", receiver.endpoint)
        assert (result.returncode, f"delivered to {receiver.endpoint}" in result.stderr) == (
            0,
            True,
        )
        (recording,) = Path(".agentool").glob("demo-*/*.jsonl")
        recorded = [span.name for span in open_source(recording).spans()]
        assert sorted(receiver.names()) == sorted(recorded)


def test_the_demo_refuses_an_invalid_endpoint_before_it_runs() -> None:
    result = agentool("demo", "--endpoint", "nonsense")
    assert (result.returncode, result.stdout) == (2, "")
    assert "is not a URL" in result.stderr
    assert not Path(".agentool").exists()


def test_doctor_names_variables_that_cannot_be_used() -> None:
    environment = {**os.environ, "AGENTOOL_JOURNAL": "maybe"}
    report = json.loads(agentool("doctor", "--json", env=environment).stdout)
    [effect] = [
        item["effect"] for item in report["environment"] if item["name"] == "AGENTOOL_JOURNAL"
    ]
    assert effect.startswith("AGENTOOL_JOURNAL=maybe is neither on nor off")


def test_the_demo_agent_has_all_step_types_and_prints_its_recording() -> None:
    result = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True, check=True)
    assert "Read 'The Dispossessed' next." in result.stdout
    assert "recorded in" in result.stdout
    traces = map(json.loads, agentool("rebuild").stdout.splitlines())
    types = {step["type"] for trace in traces for step in trace["steps"]}
    assert types == set(STEP_TYPES)


def test_the_doctor_reports_every_part_and_that_a_span_arrived() -> None:
    result = agentool("doctor", "--json")
    document = json.loads(result.stdout)
    assert document["self_test"]["ok"] is True
    assert document["content"]["captured"] is True
    assert document["content"]["on"] == "on spans"
    assert document["logs"] == "the recording of the spans"
    assert {"langchain", "openai"} <= {framework["name"] for framework in document["frameworks"]}
    assert not Path(".agentool").exists()


def test_the_doctor_reports_a_silent_endpoint_without_its_secrets() -> None:
    environment = {
        **os.environ,
        "OTEL_EXPORTER_OTLP_ENDPOINT": "http://user:hunter2@127.0.0.1:1",
        "OTEL_EXPORTER_OTLP_HEADERS": "authorization=hunter2",
        "OTEL_EXPORTER_OTLP_TIMEOUT": "3",
    }
    result = agentool("doctor", env=environment)
    assert result.returncode == 1
    assert "✗ the endpoint did not take a span: Connection refused" in result.stdout
    assert "not captured (spans leave this machine" in result.stdout
    assert "hunter2" not in result.stdout + result.stderr


def test_the_doctor_shows_destinations_of_all_signals_and_content() -> None:
    environment = {
        **os.environ,
        "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT": "http://user:hunter2@127.0.0.1:1/v1/logs",
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "EVENT_ONLY",
    }
    stdout = agentool("doctor", env=environment).stdout
    assert "log records   http://127.0.0.1:1/v1/logs (http/protobuf)" in stdout
    assert "metrics       nowhere (hint: set OTEL_EXPORTER_OTLP_METRICS_ENDPOINT)" in stdout
    assert "content       captured on events" in stdout
    assert "hunter2" not in stdout


@pytest.mark.parametrize(("size", "hint"), [(2_000_000_000, True), (1_000_000, False)])
def test_the_doctor_names_a_large_folder(size: int, hint: bool, tmp_path: Path) -> None:
    with (tmp_path / "traces.jsonl").open("wb") as file:
        file.truncate(size)
    done = agentool("doctor", env=os.environ | {"AGENTOOL_DIR": str(tmp_path)})
    assert ("2 GB in" in done.stdout) == hint
    assert ("AGENTOOL_MAX_SIZE=500MB" in done.stdout) == hint


def test_the_doctor_counts_patches_and_lists_them_with_verbose() -> None:
    pytest.importorskip("openai")
    target = "openai.resources.chat.completions.Completions.create"
    brief, complete = agentool("doctor").stdout, agentool("doctor", "-v").stdout
    assert "functions wrapped" in brief
    assert target not in brief
    assert f"attached  {target}" in complete


def test_a_function_that_has_moved_is_a_line_of_the_doctor(tmp_path: Path) -> None:
    package = tmp_path / "site" / "moved_agents"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        "from agentool_otel.tracing.instrumentation import AgentInstrumentor, Patch\n"
        "class MovedInstrumentor(AgentInstrumentor):\n"
        "    framework = 'moved-agents'\n"
        "    patches = (Patch('moved_agents', 'Agent.run', print),)\n"
    )
    metadata = package.parent / "moved_agents-2.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: moved-agents\nVersion: 2.0\n")
    (metadata / "entry_points.txt").write_text(
        "[opentelemetry_instrumentor]\nagentool-moved-agents = moved_agents:MovedInstrumentor\n"
    )
    result = agentool("doctor", env={**os.environ, "PYTHONPATH": str(package.parent)})
    assert "MISSING   moved_agents.Agent.run  not in moved-agents 2.0" in result.stdout
    assert result.returncode == 1


def with_instrumentor(folder: Path, distribution: str, version: str, supports: str) -> str:
    """Install a package `tiny_agents` with an instrumentor for it; return the line of `doctor`."""
    package = folder / "site" / "tiny_agents"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        "from agentool_otel.tracing.instrumentation import AgentInstrumentor, Patch\n"
        "class Agent:\n"
        "    def run(self): ...\n"
        "class TinyInstrumentor(AgentInstrumentor):\n"
        "    framework = 'tiny-agents'\n"
        f"    supports = ('{supports}',)\n"
        "    patches = (Patch('tiny_agents', 'Agent.run', print),)\n"
    )
    metadata = package.parent / f"{distribution.replace('-', '_')}-{version}.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n"
    )
    (metadata / "top_level.txt").write_text("tiny_agents\n")
    (metadata / "entry_points.txt").write_text(
        "[opentelemetry_instrumentor]\nagentool-tiny-agents = tiny_agents:TinyInstrumentor\n"
    )
    shown = agentool("doctor", env={**os.environ, "PYTHONPATH": str(package.parent)}).stdout
    return shown[shown.index("tiny-agents") - 2 :]


@pytest.mark.parametrize("distribution", ["tiny-agents", "tiny-agents-slim"])
def test_a_framework_is_found_by_its_package(tmp_path: Path, distribution: str) -> None:
    shown = with_instrumentor(tmp_path, distribution, "2.0", "tiny-agents >= 1.0")
    assert shown.startswith("✓ tiny-agents   2.0 (supports tiny-agents >= 1.0), 1 functions")


def test_a_version_that_is_not_supported_is_not_ticked(tmp_path: Path) -> None:
    shown = with_instrumentor(tmp_path, "tiny-agents", "0.9", "tiny-agents >= 1.0")
    first, second, *_ = shown.splitlines()
    assert first.startswith("! tiny-agents   0.9")
    assert second.strip() == "not a tested version: tiny-agents 0.9 is not >=1.0"


def with_installed(folder: Path, *names: str) -> dict[str, str]:
    """An environment in which some distributions are installed, as pip's metadata has it."""
    for name in names:
        metadata = folder / f"{name.replace('-', '_')}-7.0.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 7.0\n")
    paths = (str(folder), os.environ.get("PYTHONPATH", ""))
    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}


LIBRARIES = [library for product in integrations().values() for library in product.libraries]
NOT_INSTRUMENTED = sorted(
    (library for library in LIBRARIES if library.own_spans is not None),
    key=lambda library: library.distribution,
)


def test_the_doctor_names_frameworks_that_are_not_instrumented(tmp_path: Path) -> None:
    environment = with_installed(
        tmp_path / "site", *(item.distribution for item in NOT_INSTRUMENTED)
    )
    lines = agentool("doctor", env=environment).stdout.splitlines()
    for item in NOT_INSTRUMENTED:
        [n] = [n for n, line in enumerate(lines) if line.startswith(f"  ! {item.distribution} ")]
        assert "7.0, not instrumented; " in lines[n]
        assert item.switch is None or item.switch in lines[n + 1]
        assert (
            item.traced_by is None or f"{item.traced_by} writes spans that are read" in lines[n + 1]
        )
    instrumented = json.loads(agentool("doctor", "--json", env=environment).stdout)[
        "not_instrumented"
    ]
    assert [item["name"] for item in instrumented] == [
        item.distribution for item in NOT_INSTRUMENTED
    ]


def test_the_doctor_reports_other_instrumentors(tmp_path: Path) -> None:
    text = "openinference-instrumentation-smolagents"
    shown = agentool("doctor", env=with_installed(tmp_path / "site", "smolagents", text)).stdout
    assert f"{text} 7.0 writes spans that are read where it is switched on" in shown


def test_the_doctor_explains_frameworks_that_mount_a_hook(tmp_path: Path) -> None:
    environment = with_installed(tmp_path / "site", "amplifier-core")
    lines = agentool("doctor", env=environment).stdout.splitlines()
    assert (
        "  ✓ amplifier     7.0 (supports amplifier-core >= 2), "
        "by hooks: [{module: hooks-agentool-otel}] in its mount plan"
    ) in lines


def test_the_doctor_names_a_variable_that_nothing_reads() -> None:
    environment = {**os.environ, "AGENTOOL_DRI": "x", "AGENTOOL_TEMPO_TOKEN": "y"}
    result = json.loads(agentool("doctor", "--json", env=environment).stdout)["environment"]
    effects = {item["name"]: item["effect"] for item in result}
    assert effects["AGENTOOL_DRI"] == (
        "AGENTOOL_DRI=x is not read by anything; is AGENTOOL_DIR meant?"
    )
    assert effects["AGENTOOL_TEMPO_TOKEN"] == ""


def test_what_is_not_installed_is_one_line_of_the_doctor(tmp_path: Path) -> None:
    report = json.loads(agentool("doctor", "--json").stdout)
    results = [*report["frameworks"], *report["mounting"]]
    missing = [framework["name"] for framework in results if framework["installed"] is None]
    lines = agentool("doctor").stdout.splitlines()
    assert missing == [] or f"  - not installed: {', '.join(missing)}" in lines


def test_every_switch_of_native_spans_is_that_of_an_instrumentor() -> None:
    """And every instrumentor that replaces native spans names one, or that there is none."""
    native = {name for name, instrumentor in instrumentors().items() if instrumentor.native_scopes}
    assert {library.distribution for library in LIBRARIES if library.own_spans is None} == native


def test_the_doctor_prepares_the_prefilter_and_names_it(tmp_path: Path) -> None:
    pytest.importorskip("hyperscan")
    environment = os.environ | {
        "AGENTOOL_PREFILTER": "on",
        **dict.fromkeys(("XDG_CACHE_HOME", "LOCALAPPDATA", "HOME"), str(tmp_path)),
    }
    before = agentool("doctor", env=environment).stdout
    assert "is not there yet" in before
    assert "hint: doctor --prepare" in before
    assert not list(tmp_path.iterdir())
    report = json.loads(agentool("doctor", "--prepare", "--json", env=environment).stdout)
    assert report["prefilter"]["stored"]
    assert Path(report["prefilter"]["detail"]).is_relative_to(tmp_path)


def test_the_doctor_reports_a_cache_that_cannot_be_written(tmp_path: Path) -> None:
    pytest.importorskip("hyperscan")
    (tmp_path / "agentool-otel").write_text("a file, where a folder has to be")
    environment = os.environ | {
        "AGENTOOL_PREFILTER": "on",
        **dict.fromkeys(("XDG_CACHE_HOME", "LOCALAPPDATA"), str(tmp_path)),
    }
    result = agentool("doctor", "--prepare", env=environment)
    assert result.returncode == 1
    assert "cannot be prepared" in result.stdout


def test_the_doctor_names_a_platform_without_an_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    from agentool_otel.cli import doctor
    from agentool_otel.content.masking.prefilter import engine

    monkeypatch.setattr(engine, "installed", lambda: None)
    report = doctor._prefilter(prepare=True)
    assert report["engine"] is None
    assert report["detail"] == "hyperscan is not installed"
    assert report["error"] == ""
