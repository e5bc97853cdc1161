"""The census finds the names in a source, and knows those that a table has."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from tests.census.__main__ import HARMLESS
from tests.census.names import is_known, names_in, names_of

SOURCE = '''
"""lk.docstring is prose."""
A = "lk.pii.user_input"
B = f"lk.agent.{key}"
C = f"lk.{key}.text"
NAMESPACE: Final = "lk"
G = f"{NAMESPACE}.msg"
class Names:
    base = NAMESPACE + ".room"
    NAME = base + ".name"
D = "other.name"
E = "lk.a sentence"
F = "lk."
'''


def test_names_of_the_namespace_are_found() -> None:
    assert set(names_of(SOURCE, ["lk"])) == {
        "lk.pii.user_input",
        "lk.agent.*",
        "lk.*.text",
        "lk.msg",
        "lk.room",
        "lk.room.name",
    }


def test_names_of_modules_and_tests_are_left_out(tmp_path: Path) -> None:
    wheel = tmp_path / "a.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("lk/agents/x.py", 'A, B, C = "lk.agents", "lk.agents.x", "lk.room"')
        archive.writestr("lk/tests/test_x.py", 'A = "lk.tested"')
        archive.writestr("lk/broken.py", "def (")
    assert names_in(wheel, ["lk"]) == {"lk.room"}


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("lk.pii.new", True),
        ("gen_ai.input.messages", True),
        ("gen_ai.request.model", True),
        ("haystack.tool.output", True),
        ("lk.renamed_text", False),
        ("gen_ai.brand_new", False),
    ],
)
def test_a_name_is_known_by_a_table(name: str, known: bool) -> None:
    assert is_known(name) is known


def test_the_harmless_names_are_sorted_and_in_no_table() -> None:
    names = HARMLESS.read_text(encoding="utf-8").split()
    assert names == sorted(set(names))
    assert [name for name in names if is_known(name)] == []
