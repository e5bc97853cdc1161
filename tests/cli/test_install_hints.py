"""The command that a message gives for a missing library: it works from where we were installed."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from agentool_otel.ground.version import __version__
from tests.cli.conftest import agentool

ROOT = Path(__file__).parents[2]
ASK = (
    "from agentool_otel.ground.installing import install_command as c; print(c('servers', 'httpx'))"
)


def command(folder: Path, origin: dict[str, Any] | str | None) -> str:
    """Return the command in a Python that finds this package with a note of its origin."""
    information = folder / "agentool_otel-0.1.0.dist-info"
    information.mkdir(exist_ok=True)
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: agentool-otel\n")
    if origin is not None:
        text = origin if isinstance(origin, str) else json.dumps(origin)
        (information / "direct_url.json").write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", ASK],
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(folder), str(ROOT)])},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.rstrip("\n")


def test_a_checkout_is_installed_again_as_it_was(tmp_path: Path) -> None:
    checkout = tmp_path / "a checkout"
    checkout.mkdir()
    origin: dict[str, Any] = {"url": checkout.as_uri(), "dir_info": {}}
    assert command(tmp_path, origin) == f"pip install '{checkout}[servers]'"
    origin["dir_info"] = {"editable": True}
    assert command(tmp_path, origin) == f"pip install -e '{checkout}[servers]'"


_GIT = {"vcs": "git", "commit_id": "abc123"}


@pytest.mark.parametrize(
    ("origin", "place"),
    [
        (
            {"url": "https://example.com/a.git", "vcs_info": _GIT},
            "agentool-otel[servers] @ git+https://example.com/a.git@abc123",
        ),
        (
            {"url": "https://me:secret@example.com/a.git", "vcs_info": _GIT, "subdirectory": "p"},
            "agentool-otel[servers] @ git+https://example.com/a.git@abc123#subdirectory=p",
        ),
        (
            {"url": "file:///tmp/agentool_otel-0.1.0.whl", "archive_info": {}},
            "agentool-otel[servers] @ file:///tmp/agentool_otel-0.1.0.whl",
        ),
    ],
)
def test_other_places_are_named(tmp_path: Path, origin: dict[str, Any], place: str) -> None:
    assert command(tmp_path, origin) == f"pip install '{place}'"


@pytest.mark.parametrize(
    "origin",
    [None, "not JSON", "[]", {}, {"url": "file:///gone/away", "dir_info": {}}],
    ids=["none", "no JSON", "a list", "empty", "a folder that is gone"],
)
def test_without_a_place_the_library_itself_is_named(tmp_path: Path, origin: Any) -> None:
    assert command(tmp_path, origin) == "pip install httpx"


def test_the_version_is_the_one_before_a_release() -> None:
    assert __version__ == "0.1.0.dev0"
    assert agentool("--version").stdout == "agentool-otel, version 0.1.0.dev0\n"


_INSTALLS_BY_NAME = re.compile(
    r"(pip|pipx|uv|uvx) [^\n`&|;]*[ '\"]agentool-otel(?=[\s'\"`\[]|$)"
    r"|dependencies\s*=\s*\[[^\]]*[\"']agentool-otel",
    re.MULTILINE,
)


@pytest.mark.parametrize(
    ("text", "by_name"),
    [
        ("pip install agentool-otel", True),
        ("pip install 'agentool-otel[eval]'", True),
        ("uv add crewai agentool-otel\n", True),
        ('dependencies = [\n  "agentool-otel"]', True),
        ("pip install ../..", False),
        ("pip install . && agentool-otel demo", False),
        ("pip install 'x'\nagentool-otel show", False),
    ],
)
def test_an_installation_by_name_is_recognised(text: str, by_name: bool) -> None:
    assert bool(_INSTALLS_BY_NAME.search(text)) is by_name


def test_nothing_installs_a_name_that_is_not_ours_yet() -> None:
    places = [
        path
        for folder in ("agentool_otel", "examples", "collector-config")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".py", ".md", ".toml", ".yaml", ".yml", ".txt", ".html")
    ]
    assert len(places) > 500
    by_name = [
        str(place.relative_to(ROOT))
        for place in places
        if _INSTALLS_BY_NAME.search(place.read_text(encoding="utf-8"))
    ]
    assert by_name == []
