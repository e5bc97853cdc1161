"""README is short, and the tables of all pages are current."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agentool_otel.tracing.setup.frameworks import instrumentors
from tests import readme

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
FRAMEWORKS = (ROOT / "docs" / "guides" / "frameworks.md").read_text(encoding="utf-8")


def test_readme_has_at_most_120_lines_of_120_characters() -> None:
    lines = [line for line in README.splitlines() if not line.startswith("|")]
    assert len(lines) <= 120
    assert [line for line in lines if len(line) > 120] == []


def test_the_first_command_comes_early() -> None:
    lines = README.splitlines()
    assert next(n for n, line in enumerate(lines) if line.startswith("    python3")) < 15


def test_links_of_readme_lead_to_files() -> None:
    places = re.findall(r"\]\((?!https?:|#)([^)#]+)", README)
    assert [place for place in places if not (ROOT / place).exists()] == []


@pytest.mark.parametrize("name", sorted(instrumentors()))
def test_every_framework_is_in_the_table_with_its_versions(name: str) -> None:
    rows = FRAMEWORKS.partition("<!-- end -->")[0].splitlines()
    [row] = [line for line in rows if line.startswith((f"| `{name}`", f"| [`{name}`]"))]
    for requirement in instrumentors()[name].supports:
        assert requirement in row


@pytest.mark.parametrize("document", readme.DOCUMENTS, ids=lambda item: item.name)
def test_the_tables_are_those_that_poe_readme_writes(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    assert text == readme.filled(text)


def test_every_table_is_in_a_document() -> None:
    documents = "".join(document.read_text(encoding="utf-8") for document in readme.DOCUMENTS)
    assert all(f"<!-- table: {name} -->" in documents for name in readme.TABLES)


@pytest.mark.parametrize("page", ["README.md", "docs/start/ten-minutes.md"])
def test_what_is_installed_first_is_enough_for_the_first_checks(page: str) -> None:
    """`cost` for `max_cost_usd`, `eval` for cases in YAML."""
    [extras] = re.findall(r"pip install '/path/to/[^\[]*\[(.*?)\]'", (ROOT / page).read_text())
    assert {"cost", "eval"} <= set(extras.split(","))


def test_the_version_is_stated_once() -> None:
    from agentool_otel.ground.version import __version__

    assert f'version = "{__version__}"' in (ROOT / "pyproject.toml").read_text()
