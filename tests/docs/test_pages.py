"""README and the pages of `docs/`: their blocks run, and their output is current."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.backends.servers import jaeger
from tests.docs.blocks import LANGUAGES, blocks, parse
from tests.docs.walks import failures, jaeger_ports, outdated, walk

ROOT = Path(__file__).parents[2]
PAGES = [
    page for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if blocks(page)
]
WITH_JAEGER = [
    page for page in PAGES if "<!-- with: jaeger -->" in page.read_text(encoding="utf-8")
]


def _name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


DAILY = ("README.md", "docs/start/ten-minutes.md")
"""Pages that a newcomer runs first; the other pages take a minute, with the long tests."""


@pytest.mark.parametrize(
    "page",
    [
        page if _name(page) in DAILY else pytest.param(page, marks=pytest.mark.thorough)
        for page in PAGES
    ],
    ids=_name,
)
def test_the_blocks_of_a_page_run(page: Path, tmp_path: Path) -> None:
    outcomes = walk(page, tmp_path)
    assert failures(outcomes) == []
    assert outdated(page, outcomes) == [], "python -m tests.docs.walks PAGE writes the output"


@pytest.mark.backends
@pytest.mark.parametrize("page", WITH_JAEGER, ids=_name)
def test_the_blocks_of_a_page_run_with_jaeger(page: Path, tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    with jaeger(tmp_path) as running:
        outcomes = walk(
            page,
            tmp_path / "project",
            servers=frozenset({"jaeger"}),
            ports=jaeger_ports(running.http, running.query),
        )
    assert failures(outcomes) == []
    assert outdated(page, outcomes) == []


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_a_block_has_a_language_and_one_that_does_not_run_a_reason(page: Path) -> None:
    for block in blocks(page):
        assert block.language in LANGUAGES or page.name == "README.md", block.place
        assert block.mark != "not run" or block.value, block.place
        parse(block)


@pytest.mark.parametrize("page", sorted((ROOT / "docs").rglob("*.md")), ids=_name)
def test_a_page_reads_well_on_github_too(page: Path) -> None:
    """GitHub shows a link without text as nothing, and a `toctree` as a block of code."""
    text = page.read_text(encoding="utf-8")
    assert "[](" not in text
    assert "```{toctree}" not in text


@pytest.mark.parametrize("name", ["web.py", "tasks.py"])
def test_the_page_shows_the_files_of_the_servers(name: str) -> None:
    """`tests/tracing/export/test_servers.py` runs these files where their servers are."""
    page = ROOT / "docs" / "guides" / "where-it-runs.md"
    (shown,) = (block.text for block in blocks(page) if block.value == name)
    assert shown == (ROOT / "examples" / "servers" / name).read_text(encoding="utf-8")
