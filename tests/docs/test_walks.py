"""Walks of pages: comparison of output, and the end of a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.docs.walks import failures, fits, walk, with_real_outputs

VARIABLE = {
    "ids": ("trace 5f7229b60ad726adf7ca0413ed35c9fe", "trace 22a36f0f39e575bca05ae65c39c0d90a"),
    "times": ("started 2026-11-24 16:17:57Z", "started 2027-01-02 03:04:05Z"),
    "clocks": ("1  10:11:12  desk", "1  2026-11-24  desk"),
    "dates": ("1  10:11:12  desk", "1  11-24 10:11  desk"),
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
def test_variable_parts_of_output_are_ignored(one: str, other: str) -> None:
    assert fits(one, other)


@pytest.mark.parametrize(("one", "other"), CONSTANT.values(), ids=CONSTANT)
def test_constant_parts_of_output_are_compared(one: str, other: str) -> None:
    assert not fits(one, other)


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
    assert "".join(outcome.output for outcome in outcomes).split() == printed


CLOCK = """
```sh
echo "id $(date +%s%N)"
```

<!-- output -->
```text
id 1234567890
```

```sh
echo one; echo "id $(date +%s%N)"
```

<!-- output -->
```text
one
…
```

```sh
echo {word}
```

<!-- output -->
```text
old
```
"""


@pytest.mark.parametrize(
    ("word", "every", "kept"), [("new", False, False), ("old", False, True), ("old", True, False)]
)
def test_one_outdated_output_renews_the_others_without_gaps(
    word: str, every: bool, kept: bool, tmp_path: Path
) -> None:
    page = tmp_path / "page.md"
    page.write_text(CLOCK.replace("{word}", word))
    text = with_real_outputs(page, walk(page, tmp_path), every=every)
    assert ("id 1234567890" in text) == kept
    assert "one\n…" in text
    assert f"text\n{word}\n" in text
