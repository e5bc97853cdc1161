"""The runner of code blocks: what it runs, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.blocks import BlockError, blocks, walk


def _walk(folder: Path, text: str) -> None:
    page = folder / "page.md"
    page.write_text(text, encoding="utf-8")
    walk(page, folder)


GOOD = {
    "Python blocks share names": "```python\na = 1\n```\ntext\n```python\nassert a == 1\n```\n",
    "a file is written": "<!-- file: a/b.py -->\n```python\nprint(7)\n```\n"
    "```console\n$ python a/b.py\n7\n```\n",
    "output has gaps": "```console\n$ printf 'a 12 b\\nx\\ny\\nend\\n'\na … b\n…\nend\n```\n",
    "several commands": "```console\n$ echo a\na\n$ echo \\\n> b\nb\n```\n",
    "an exit code": "<!-- exit: 3 -->\n```sh\nexit 3\n```\n",
    "output of a Python block": "```python\nprint('x')\n```\nprints\n\n"
    "<!-- output -->\n```text\nx\n```\n",
    "a setup": "<!-- setup\necho hidden > file\n-->\n\n```console\n$ cat file\nhidden\n```\n",
    "not run": "<!-- not run: needs a network -->\n```sh\nfalse\n```\n",
    "a directive": "```{toctree}\nfalse\n```\n",
    "data": '```json\n{"a": 1}\n```\n```yaml\n- a: 1\n```\n',
    "a terminal": "```console\n$ test -t 1 && echo yes\nyes\n```\n",
    "a line that is written again": "```console\n$ printf 'a\\rb\\n'\nb\n```\n",
    "a model server": '```sh\ntest -n "$OPENAI_BASE_URL"\n```\n',
}
BAD = {
    "Python that fails": "```python\nassert 0\n```\n",
    "a command that fails": "```sh\nfalse\ntrue\n```\n",
    "another exit code": "<!-- exit: 3 -->\n```sh\nexit 2\n```\n",
    "other output": "```console\n$ echo a\nb\n```\n",
    "more output": "```console\n$ printf 'a\\nb\\n'\na\n```\n",
    "other output of Python": "```python\nprint('y')\n```\n<!-- output -->\n```text\nx\n```\n",
    "no JSON": "```json\n{a}\n```\n",
    "no YAML": "```yaml\na: [\n```\n",
}


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD)
def test_a_true_page_passes(text: str, tmp_path: Path) -> None:
    _walk(tmp_path, text)


@pytest.mark.parametrize("text", BAD.values(), ids=BAD)
def test_a_false_page_fails(text: str, tmp_path: Path) -> None:
    with pytest.raises(BlockError, match=r"^page\.md:\d+: "):
        _walk(tmp_path, text)


def test_an_error_names_the_line_of_the_page(tmp_path: Path) -> None:
    with pytest.raises(BlockError, match=r'File "page\.md", line 4'):
        _walk(tmp_path, "# Title\n\n```python\nraise KeyError\n```\n")


def test_a_mark_is_of_the_next_block_alone(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- not run: why -->\n\ntext\n\n```sh\ntrue\n```\n", encoding="utf-8")
    assert [it.mark for it in blocks(page)] == [""]


def test_an_indented_block_has_no_language(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("text\n\n    code\n", encoding="utf-8")
    assert [it.language for it in blocks(page)] == [""]
