"""The recordings are valid, and name neither a machine nor a run."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.coding_agents.recordings import FOLDER

FILES = sorted(path for path in FOLDER.rglob("*") if path.is_file())
_OF_A_MACHINE = re.compile(
    r"(?<!\w)/tmp/|(?<!bunfs)/root/|run[0-9a-f]{12}|\.coding-agents|(localhost|127\.0\.0\.1):\d{5}"
)


def _name(path: Path) -> str:
    return "/".join(path.relative_to(FOLDER).parts[:2]) + "/" + path.name[:20]


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_no_machine_is_named(path: Path) -> None:
    text = path.relative_to(FOLDER).as_posix() + "\n" + path.read_text(encoding="utf-8")
    assert not _OF_A_MACHINE.findall(text)


@pytest.mark.parametrize("path", FILES, ids=_name)
def test_each_file_is_json(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    for document in text.splitlines() if path.suffix == ".jsonl" else [text]:
        json.loads(document)
