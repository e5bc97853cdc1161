"""OpenTelemetry's live check finds no problem; our registry declares our own names."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from agentool_otel.cli.registry import command
from agentool_otel.semconv.weaver import registry
from tests.backends.weaver import REGISTRIES, breaches, weaver
from tests.click_runner import CliRunner
from tests.pages._model import the_model

pytestmark = pytest.mark.backends
ROOT = Path(__file__).parent.parent.parent
PROGRAMS = [
    *sorted((ROOT / "examples").glob("*.py")),
    *sorted((ROOT / "tests" / "pages" / "programs").glob("*.py")),
]
MODES = ("SPAN_AND_EVENT", "NO_CONTENT")
MANIFEST = "name: agentool\nschema_url: https://example.com/agentool/0.1.0\n"
GENERAL = """\
groups:
  - id: registry.user
    type: attribute_group
    display_name: User
    brief: Of the general conventions, which every registry has beside ours.
    attributes:
      - {id: user.id, type: string, stability: development, brief: A user., examples: ["ada"]}
"""


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def model_of(generation: str, folder: Path) -> Path:
    """The registry of a generation, ours beside it."""
    home = os.environ.get(REGISTRIES)
    if not home or not (Path(home) / generation).is_dir():
        pytest.skip(f"needs the registry of {generation} in a folder that {REGISTRIES} names")
    model = folder / "model"
    shutil.copytree(Path(home) / generation, model)
    (model / "agentool.yaml").write_text(registry())
    return model


def test_our_registry_is_one(tmp_path: Path) -> None:
    (tmp_path / "manifest.yaml").write_text(MANIFEST)
    (tmp_path / "general.yaml").write_text(GENERAL)
    (tmp_path / "agentool.yaml").write_text(CliRunner().invoke(command).stdout)
    done = subprocess.run(
        [weaver(), "registry", "check", "--future", "-r", str(tmp_path)],
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("generation", ["1.36", "1.41", "2026-08", "2026-10"])
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda item: item.stem)
def test_no_violation(tmp_path: Path, program: Path, generation: str, mode: str) -> None:
    weaver()
    model_folder = model_of(generation, tmp_path)
    environ = {
        "AGENTOOL_SEMCONV": generation,
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": mode,
    }
    with the_model() as model:
        if program.parent.name != "examples":  # which bring a model of their own
            environ |= {"OPENAI_BASE_URL": model.base_url, "OPENAI_API_KEY": "none"}
        result = breaches(model_folder, program, **environ)
    assert result == []
