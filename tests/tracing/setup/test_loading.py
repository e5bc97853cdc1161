"""When instrumentors are loaded: with the first package that they patch, and never without one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.ground.instrumentors import entry_points, patched_packages
from agentool_otel.tracing.setup.frameworks import instrumentors

LOADED = """
import sys
def loaded():
    ours = (it for it in sys.modules if it.startswith("agentool_otel.integrations."))
    return sorted(it for it in ours if it.count(".") > 2)
"""
FRAMEWORK = """
class {0}:
    def create(self, **given): return "answer"
"""


def run(folder: Path, code: str) -> Any:
    """Run a program and return the last line that it prints, as JSON."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED + code],
        cwd=folder,
        env={**os.environ, "AGENTOOL_DIR": str(folder / "recorded")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "failed" not in done.stderr, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def put_openai(folder: Path) -> None:
    """Write a package that has one of the methods that openai's instrumentor patches."""
    for name in ("openai", "openai/resources", "openai/resources/chat"):
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text("")
    (folder / "openai/resources/embeddings.py").write_text(FRAMEWORK.format("Embeddings"))


_BROUGHT_ALONG = {"llama-index": {"workflows"}}
"""Packages that come with one that is declared, and whose names others have as well."""


@pytest.mark.parametrize("name", sorted(instrumentors()))
def test_every_package_that_an_instrumentor_patches_is_listed(name: str) -> None:
    declared = patched_packages(name, entry_points()[name])
    for patch in instrumentors()[name].patches:
        package = patch.module.partition(".")[0]
        assert package in _BROUGHT_ALONG.get(name, ()) or any(
            f"{patch.module}.".startswith(f"{each}.") for each in declared
        )


def test_a_program_without_a_framework_loads_no_instrumentor(tmp_path: Path) -> None:
    code = "import agentool_otel, json; agentool_otel.instrument(); print(json.dumps(loaded()))"
    assert run(tmp_path, code) == []


def test_an_instrumentor_is_loaded_before_the_code_of_its_framework(tmp_path: Path) -> None:
    put_openai(tmp_path)
    (tmp_path / "openai/__init__.py").write_text("seen = __import__('__main__').loaded()")
    code = """
import agentool_otel, json; agentool_otel.instrument()
import openai; print(json.dumps(openai.seen))
"""
    assert "agentool_otel.integrations.openai.instrumentor" in run(tmp_path, code)


@pytest.mark.parametrize("before", ["", "agentool_otel.status()"])
def test_a_framework_may_be_installed_after_the_start(tmp_path: Path, before: str) -> None:
    """Here in a folder that is put on the path later, whether or not somebody has looked before."""
    put_openai(tmp_path / "later")
    code = f"""
import agentool_otel, json; agentool_otel.instrument(); {before}
sys.path.insert(0, "later")
from openai.resources.embeddings import Embeddings
print(json.dumps(hasattr(Embeddings.create, "_self_wrapper")))
"""
    assert run(tmp_path, code) is True


def test_another_package_declares_what_its_instrumentor_patches(tmp_path: Path) -> None:
    """Its instrumentor is loaded with the first of these packages, as ours are."""
    installed = tmp_path / "installed"
    (installed / "tiny_otel-1.dist-info").mkdir(parents=True)
    (installed / "tiny_otel-1.dist-info/METADATA").write_text("Name: tiny-otel\nVersion: 1\n")
    (installed / "tiny_otel-1.dist-info/entry_points.txt").write_text(
        "[opentelemetry_instrumentor]\nagentool-tiny = tiny_otel_patches:Tiny\n"
        "[agentool_otel.integrations]\ntiny = tiny_otel:INTEGRATION\n"
    )
    (installed / "tiny_otel.py").write_text(
        "from agentool_otel.ground.integrations import Integration\n"
        "INTEGRATION = Integration('Tiny', patches=('tiny_agents',))\n"
    )
    (installed / "tiny_otel_patches.py").write_text(
        "from agentool_otel.tracing.instrumentation import AgentInstrumentor\n"
        "class Tiny(AgentInstrumentor):\n"
        "    framework = 'tiny'\n"
        "    def instrumentation_dependencies(self): return ()\n"
        "    patches = ()\n"
    )
    (installed / "tiny_agents.py").write_text("")
    code = """
import json; sys.path.insert(0, "installed")
import agentool_otel; agentool_otel.instrument()
before = "tiny_otel_patches" in sys.modules
import tiny_agents
print(json.dumps([before, "tiny_otel_patches" in sys.modules]))
"""
    assert run(tmp_path, code) == [False, True]


def test_a_framework_that_is_excluded_stays_as_it_is(tmp_path: Path) -> None:
    put_openai(tmp_path)
    code = """
import agentool_otel, json; agentool_otel.instrument(exclude=["openai"])
from openai.resources.embeddings import Embeddings
print(json.dumps(hasattr(Embeddings.create, "_self_wrapper")))
"""
    assert run(tmp_path, code) is False


def test_status_names_every_framework_whether_it_is_imported_or_not(tmp_path: Path) -> None:
    code = """
import agentool_otel, json; agentool_otel.instrument(include=["openai"])
found = agentool_otel.status()["instrumentors"]
print(json.dumps({name: it["enabled"] for name, it in found.items()}))
"""
    assert run(tmp_path, code) == {name: name == "openai" for name in entry_points()}
