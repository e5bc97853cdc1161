"""Modules that a process loads: none before they are needed, and none within its first call.

A killed process keeps what its first call has recorded only if nothing of that has to be imported
first, and a program pays at its start for what it uses.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("opentelemetry.sdk")

FOLDERS = {
    "import agentool_otel": "",
    "agentool_otel.tool": """
        content dialects errors ground model otlp semconv tracing tracing.capture tracing.spans
    """,
    "agentool_otel.instrument()": """
        content dialects errors ground integrations model otlp semconv
        tracing tracing.capture tracing.export tracing.setup tracing.spans
    """,
}
"""By statement, the folders of ours of which modules may be loaded when it has run."""
DIALECTS = """
dialects dialects.kit dialects.kit.agent_tools dialects.kit.dialect dialects.kit.errors
dialects.kit.reading
dialects.gen_ai dialects.gen_ai.content dialects.gen_ai.dialect dialects.gen_ai.fields
dialects.gen_ai.memory dialects.gen_ai.older_names dialects.gen_ai.payload
dialects.gen_ai.unlisted
"""
"""Modules that write a span: no older generation, and no foreign dialect."""
SETUP = """
tracing.setup tracing.setup.configuration tracing.setup.content_policy tracing.setup.decision
tracing.setup.destinations tracing.setup.destinations.logs tracing.setup.destinations.metrics
tracing.setup.destinations.plan tracing.setup.destinations.spans tracing.setup.frameworks
tracing.setup.own_provider tracing.setup.provider_handover
tracing.setup.runtime tracing.setup.sdk_variables tracing.setup.service tracing.setup.status
"""
EXPORT = """
tracing.export tracing.export.batched tracing.export.direct tracing.export.incomplete
tracing.export.log_destination
tracing.export.log_records tracing.export.logs tracing.export.otlp_variables
tracing.export.pipeline tracing.export.sinks tracing.export.disk tracing.export.disk.files
tracing.export.disk.frames tracing.export.disk.gate
tracing.export.disk.journal tracing.export.disk.limits tracing.export.disk.names
tracing.export.disk.recording
tracing.export.disk.recovery tracing.export.disk.leftovers tracing.export.disk.spool
tracing.export.masking tracing.export.masking.logs tracing.export.masking.spans
tracing.export.send tracing.export.send.attempt tracing.export.send.connection
tracing.export.send.deadline tracing.export.send.otlp
"""
FOREIGN = (
    *("wrapt", "requests", "google.protobuf", "grpc", "rich", "click", "yaml", "jsonschema"),
    *("opentelemetry.sdk.metrics", "opentelemetry.sdk._logs", "opentelemetry.exporter"),
)
"""Libraries that only metrics, an endpoint, a framework or a command needs."""

SEEN = """
import json, sys
seen = []
def see():
    seen.append(sorted(sys.modules))
"""


def loaded(folder: Path, *statements: str) -> list[list[str]]:
    """Return the modules that a program has loaded after each of some statements."""
    steps = "".join(f"{statement}\nsee()\n" for statement in statements)
    done = subprocess.run(
        [sys.executable, "-c", f"{SEEN}{steps}print(json.dumps(seen))"],
        cwd=folder,
        env={**os.environ, "AGENTOOL_DIR": str(folder)},
        capture_output=True,
        text=True,
        check=True,
    )
    document: list[list[str]] = json.loads(done.stdout.splitlines()[-1])
    return document


def ours(modules: list[str]) -> set[str]:
    return {
        module.partition(".")[2]
        for module in modules
        if module.partition(".")[0] == "agentool_otel"
    }


def folder_of(module: str) -> str:
    """Return the folder at the top, or inside `tracing`, that a module lies in."""
    return ".".join(module.split(".")[: 2 if module.startswith("tracing.") else 1])


@pytest.fixture(scope="module")
def steps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    return dict(zip(FOLDERS, loaded(tmp_path_factory.mktemp("start"), *FOLDERS), strict=True))


@pytest.mark.parametrize("statement", FOLDERS)
def test_a_statement_loads_modules_of_these_folders(
    statement: str, steps: dict[str, list[str]]
) -> None:
    folders = {folder_of(item) for item in ours(steps[statement])} - {""}
    assert folders <= set(FOLDERS[statement].split())


@pytest.mark.parametrize("listed", [DIALECTS, SETUP, EXPORT])
def test_instrument_loads_these_modules(listed: str, steps: dict[str, list[str]]) -> None:
    modules = listed.split()
    results = {
        item for item in ours(steps["agentool_otel.instrument()"]) if folder_of(item) in modules
    }
    assert results - set(modules) == set()


def test_instrument_loads_only_the_declarations_of_products(steps: dict[str, list[str]]) -> None:
    modules = ours(steps["agentool_otel.instrument()"])
    assert [
        module for module in modules if module.startswith("integrations.") and module.count(".") > 1
    ] == []


def test_instrument_loads_none_of_what_only_some_programs_need(
    steps: dict[str, list[str]],
) -> None:
    modules = steps["agentool_otel.instrument()"]
    assert [
        module for module in modules if module.startswith(tuple(f"{name}." for name in FOREIGN))
    ] == []
    assert [module for module in modules if module in FOREIGN] == []


@pytest.mark.parametrize("where", ["", "endpoint='http://127.0.0.1:9'"])
@pytest.mark.parametrize(
    "call", ["agentool_otel.tool(lambda: [1])()", "agentool_otel.agent(lambda: 'done')()"]
)
def test_a_first_call_loads_no_module(tmp_path: Path, where: str, call: str) -> None:
    instrument = f"import agentool_otel; agentool_otel.instrument({where})"
    decorate = "agentool_otel.tool, agentool_otel.agent"
    *_, before, after = loaded(tmp_path, instrument, decorate, call)
    assert set(after) - set(before) == set()


def test_a_first_call_compiles_no_expression(tmp_path: Path) -> None:
    """With a text of letters, quotes, dashes and separators, in which there is no credential."""
    count = """
import re, json
from agentool_otel.ground import lazy_re
real, compiled = lazy_re.LazyPattern.compile, []
def counted(self):
    compiled.append(self.pattern)
    return real(self)
lazy_re.LazyPattern.compile = counted
"""
    call = "agentool_otel.tool(lambda text: text)('it\\'s a-b: \"c\" = d_e; f.g - 1 $2')"
    (*_, names) = loaded(
        tmp_path,
        "import agentool_otel; agentool_otel.instrument(); agentool_otel.tool" + count,
        f"{call}; sys.modules.update(dict.fromkeys(map('compiled:'.__add__, compiled)))",
    )
    assert [name for name in names if name.startswith("compiled:")] == []


@pytest.mark.parametrize("program", ["pass", "import sqlite3, urllib.request, asyncio"])
def test_run_loads_nothing_into_a_program_that_traces_nothing(tmp_path: Path, program: str) -> None:
    code = f"{program}\nimport sys, json\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-m", "agentool_otel", "run", "--", sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    modules: list[str] = json.loads(done.stdout)
    assert [
        module for module in modules if module.startswith(("agentool_otel", "opentelemetry"))
    ] == ["agentool_otel.ground.import_hooks"]


@pytest.mark.parametrize(
    "first",
    [
        "import opentelemetry.trace",
        "from opentelemetry import _logs",
        "from opentelemetry.propagate import inject",
        "import opentelemetry.sdk.trace",
        "import agentool_otel.tracing.capture",
        "import openai",
    ],
)
def test_run_has_instrumented_before_the_first_import_returns(tmp_path: Path, first: str) -> None:
    """And the package is the one that everybody else imports."""
    code = f"""
{first}
import opentelemetry.trace, opentelemetry, agentool_otel, sys
print(type(opentelemetry.trace.get_tracer_provider()).__name__,
      opentelemetry is sys.modules["opentelemetry"], callable(agentool_otel.instrument))
"""
    done = subprocess.run(
        [sys.executable, "-m", "agentool_otel", "run", "--", sys.executable, "-c", code],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "OwnProvider True True\n", done.stderr
