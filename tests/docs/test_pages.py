"""The pages of `docs/`: each code block runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.blocks import LANGUAGES, blocks, walk
from tests.docs.walks import in_terminal

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
WALKS = [page for page in PAGES if blocks(page)]


def _name(page: Path) -> str:
    return page.relative_to(DOCS).as_posix()


@pytest.mark.parametrize("page", [it for it in WALKS if not in_terminal(it)], ids=_name)
def test_the_blocks_of_a_page_run(page: Path, tmp_path: Path) -> None:
    walk(page, tmp_path)


@pytest.mark.parametrize("page", WALKS, ids=_name)
def test_every_block_has_a_language(page: Path) -> None:
    assert [it.place for it in blocks(page) if it.language not in LANGUAGES] == []


@pytest.mark.parametrize("page", WALKS, ids=_name)
def test_a_block_that_does_not_run_has_a_reason(page: Path) -> None:
    assert [it.place for it in blocks(page) if it.mark == "not run" and not it.value] == []
