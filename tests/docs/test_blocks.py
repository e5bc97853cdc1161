"""The runner of code blocks: supported blocks and refusals."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from tests.docs.blocks import blocks, parse
from tests.docs.walks import failures, outdated, walk, with_real_outputs


def _problems(folder: Path, text: str) -> list[str]:
    page = folder / "page.md"
    page.write_text(text, encoding="utf-8")
    (folder / "walk").mkdir()
    outcomes = walk(page, folder / "walk")
    return [*failures(outcomes), *outdated(page, outcomes)]


GOOD = {
    "a file is written": "<!-- file: a/b.py -->\n```python\nprint('x')\n```\n"
    "```console\n$ python a/b.py\nx\n```\n",
    "output has gaps": "```console\n$ printf 'a 12 b\\nx\\ny\\nend\\n'\na … b\n…\nend\n```\n",
    "several commands": "```console\n$ echo a\na\n$ echo \\\n> b\nb\n```\n",
    "names of the shell stay": "```sh\na=1\n```\n```sh\ntest $a = 1\n```\n",
    "an exit code": "<!-- exit: 3 -->\n```sh\n(exit 3)\n```\n",
    "output of a Python block": "```python\nprint('x')\n```\nprints\n\n"
    "<!-- output -->\n```text\nx\n```\n",
    "a setup": "<!-- setup\necho hidden > file\n-->\n\n```console\n$ cat file\nhidden\n```\n",
    "not run": "<!-- not run: needs a network -->\n```sh\nfalse\n```\n",
    "a directive": "```{toctree}\nfalse\n```\n",
    "a terminal": "```console\n$ test -t 1 && echo yes\nyes\n```\n",
    "a line that is written again": "```console\n$ printf 'a\\rb\\n'\nb\n```\n",
}
BAD = {
    "Python that fails": "```python\nassert 0\n```\n",
    "a command that fails": "```sh\nfalse\ntrue\n```\n",
    "another exit code": "<!-- exit: 3 -->\n```sh\n(exit 2)\n```\n",
    "an exit code that does not come": "<!-- exit: 3 -->\n```sh\ntrue\n```\n",
    "other output": "```console\n$ echo a\nb\n```\n",
    "more output": "```console\n$ printf 'a\\nb\\n'\na\n```\n",
    "other output of the first command": "```console\n$ echo a\nb\n$ echo c\nc\n```\n",
    "other output of Python": "```python\nprint('y')\n```\n<!-- output -->\n```text\nx\n```\n",
}


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD)
def test_a_true_page_passes(text: str, tmp_path: Path) -> None:
    assert _problems(tmp_path, text) == []


@pytest.mark.parametrize("text", BAD.values(), ids=BAD)
def test_a_false_page_fails(text: str, tmp_path: Path) -> None:
    (problem,) = _problems(tmp_path, text)
    assert problem.startswith("page.md:")


@pytest.mark.parametrize("text", ["```json\n{a}\n```\n", "```yaml\na: [\n```\n"])
def test_data_has_to_parse(text: str, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(text, encoding="utf-8")
    (block,) = blocks(page)
    with pytest.raises((ValueError, yaml.YAMLError)):
        parse(block)


def test_outdated_output_of_a_console_block_is_replaced(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("# A\n\n```console\n$ echo a\nb\n$ echo c\nc\n```\n\nEnd\n", encoding="utf-8")
    (tmp_path / "walk").mkdir()
    new = with_real_outputs(page, walk(page, tmp_path / "walk"))
    assert new == "# A\n\n```console\n$ echo a\na\n$ echo c\nc\n```\n\nEnd\n"


def test_a_mark_is_of_the_next_block_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- not run: why -->\n\ntext\n\n```sh\ntrue\n```\n", encoding="utf-8")
    assert [block.mark for block in blocks(page)] == [""]


def test_an_indented_block_has_no_language(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("text\n\n    code\n", encoding="utf-8")
    assert [block.language for block in blocks(page)] == [""]
