"""README, *Start* and *Guides*: their blocks run, and their output and tables are current."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

import pytest

from agentool_otel.setup.frameworks import instrumentors
from tests import readme
from tests.backends.servers import jaeger
from tests.docs.blocks import LANGUAGES, blocks
from tests.docs.walks import (
    Outcome,
    comparable,
    expected_outputs,
    in_terminal,
    jaeger_ports,
    walk,
)

ROOT = Path(__file__).parent.parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = (
    ROOT / "README.md",
    *(page for page in sorted((ROOT / "docs").rglob("*.md")) if in_terminal(page)),
)
FRAMEWORKS = (ROOT / "docs" / "guides" / "frameworks.md").read_text(encoding="utf-8")


def failures(outcomes: Iterable[Outcome]) -> list[str]:
    """Return each block whose exit codes are not as the page states."""
    return [
        f"line {it.block.line}: {it.failures}\n{it.output}" for it in outcomes if not it.as_stated
    ]


def outdated(page: Path, outcomes: Iterable[Outcome]) -> list[str]:
    """Return each output in the page that differs from what the block prints."""
    printed = {it.block: it.output for it in outcomes}
    return [
        f"line {shown.line}:\n{printed[producer]}"
        for producer, shown in expected_outputs(page)
        if producer in printed and comparable(printed[producer]) != comparable(shown.text)
    ]


@pytest.mark.parametrize("page", PAGES, ids=lambda it: it.stem)
def test_the_blocks_of_a_page_run(page: Path, tmp_path: Path) -> None:
    outcomes = walk(page, tmp_path)
    assert failures(outcomes) == []
    assert outdated(page, outcomes) == [], "python -m tests.docs.walks PAGE writes the output"


@pytest.mark.backends
@pytest.mark.parametrize(
    "page",
    [it for it in PAGES if "<!-- with: jaeger -->" in it.read_text()],
    ids=lambda it: it.stem,
)
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


@pytest.mark.parametrize("page", PAGES, ids=lambda it: it.stem)
def test_a_block_has_a_language_and_one_that_does_not_run_a_reason(page: Path) -> None:
    for block in blocks(page):
        assert block.language in LANGUAGES or page.name == "README.md", block.place
        assert block.mark != "not run" or block.value, block.place


def test_a_wrong_block_and_a_wrong_output_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "```sh\nfalse\n```\n```sh\necho 1 one\n```\n<!-- output -->\n```text\n1 two\n```\n"
    )
    outcomes = walk(page, tmp_path)
    assert failures(outcomes) == ["line 1: (1,)\n"]
    assert outdated(page, outcomes) == ["line 8:\n1 one\n"]


VARIABLE = {
    "ids": ("trace 5f7229b60ad726adf7ca0413ed35c9fe", "trace 22a36f0f39e575bca05ae65c39c0d90a"),
    "times": ("started 2026-11-24 16:17:57Z", "started 2027-01-02 03:04:05Z"),
    "durations": ("1  +22.2 ms  chat", "1   +1.2 s  chat"),
    "recordings": ("in traces-vm-9-20261124T16.5.jsonl", "in traces-pc-10-20270102T03.4.jsonl"),
    "layout": ("a  b\n\nc", "a b\nc"),
}
CONSTANT = {
    "counts": ("1 passed, 0 failed", "0 passed, 1 failed"),
    "scores": ("score 0.667", "score 0.333"),
    "marks": ("✓ search", "✗ search"),
    "arguments": ('unit="celsius"', 'unit="fahrenheit"'),
}


@pytest.mark.parametrize(("one", "other"), VARIABLE.values(), ids=VARIABLE)
def test_what_differs_from_run_to_run_is_not_compared(one: str, other: str) -> None:
    assert comparable(one) == comparable(other)


@pytest.mark.parametrize(("one", "other"), CONSTANT.values(), ids=CONSTANT)
def test_what_a_reader_relies_on_is_compared(one: str, other: str) -> None:
    assert comparable(one) != comparable(other)


PAGE = """
<!-- setup
echo hidden > file
-->

<!-- background -->
```sh
python -u -c 'import time; print("up"); time.sleep(60)'
```

```sh
cat file
```

<!-- not run: needs a network -->
```sh
false
```

<!-- with: jaeger -->
```sh
echo sent
```
"""


@pytest.mark.parametrize(
    ("servers", "printed"), [((), ["up", "hidden"]), (("jaeger",), ["up", "hidden", "sent"])]
)
def test_a_page_runs_in_one_shell_as_far_as_its_servers(
    servers: tuple[str, ...], printed: list[str], tmp_path: Path
) -> None:
    (tmp_path / "page.md").write_text(PAGE)
    outcomes = walk(tmp_path / "page.md", tmp_path, servers=frozenset(servers))
    assert failures(outcomes) == []
    assert "".join(it.output for it in outcomes).split() == printed


def test_readme_has_at_most_120_lines_of_120_characters() -> None:
    lines = [line for line in README.splitlines() if not line.startswith("|")]
    assert len(lines) <= 120
    assert [line for line in lines if len(line) > 120] == []


def test_the_first_command_comes_early() -> None:
    lines = README.splitlines()
    assert next(n for n, line in enumerate(lines) if line.startswith("    python3")) < 15


def test_links_of_readme_lead_to_files() -> None:
    places = re.findall(r"\]\((?!https?:|#)([^)#]+)", README)
    assert [it for it in places if not (ROOT / it).exists()] == []


@pytest.mark.parametrize("name", sorted(instrumentors()))
def test_every_framework_is_in_the_table_with_its_versions(name: str) -> None:
    [row] = [line for line in FRAMEWORKS.splitlines() if line.startswith(f"| `{name}`")]
    for requirement in instrumentors()[name].supports:
        assert requirement in row


@pytest.mark.parametrize("document", readme.DOCUMENTS, ids=lambda it: it.name)
def test_the_tables_are_those_that_poe_readme_writes(document: Path) -> None:
    text = document.read_text(encoding="utf-8")
    assert text == readme.filled(text)


def test_every_table_stands_in_a_document() -> None:
    documents = "".join(it.read_text(encoding="utf-8") for it in readme.DOCUMENTS)
    assert all(f"<!-- table: {name} -->" in documents for name in readme.TABLES)


def test_the_version_is_stated_once() -> None:
    from agentool_otel.ground.version import __version__

    assert f'version = "{__version__}"' in (ROOT / "pyproject.toml").read_text()
