"""The shape of messages: problem, place and hint, in lines of bounded length."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.cli._messages import single_line
from tests.cli.conftest import Invoke, agentool

HUGE = 5_000_000


@pytest.mark.parametrize(
    "arguments",
    [
        ["--nosuch"],
        ["nosuch"],
        ["show", "--nosuch"],
        ["show", "--last", "0"],
        ["show", "nothing.here"],
        ["eval"],
        ["run"],
        ["convert", "x", "--to", "nothing"],
        ["diff", "a"],
        ["rebuild", "--format", "nothing"],
        ["clean", "--older", "soon"],
        ["help", "nothing"],
        ["show", "text.txt"],
        ["show", "cut.json"],
    ],
)
def test_an_error_is_two_lines(tmp_path: Path, arguments: list[str]) -> None:
    (tmp_path / "text.txt").write_text("hello\n")
    (tmp_path / "cut.json").write_text('{"a": [1')
    done = agentool(*arguments)
    assert done.returncode in (2, 3)
    message, hint = done.stderr.splitlines()
    assert message.startswith("error: ")
    assert hint.startswith(" hint: ")


@pytest.mark.parametrize(
    "document",
    [
        {"type": "status", "k" * HUGE: 1},
        {"k" * HUGE: 1},
        {"case_id": "a", "assertions": [{"type": "status", "k" * HUGE: 1}]},
        {"case_id": "a", "assertions": [{"type": "k" * HUGE}]},
        {"type": "k" * HUGE},
        {"trace_id": "k" * HUGE, "steps": 1},
    ],
    ids=["parameter", "member", "parameter of a case", "type of a case", "type", "id"],
)
@pytest.mark.parametrize("command", ["eval", "validate", "show", "convert", "rebuild", "export"])
def test_a_huge_value_is_not_printed_whole(
    invoke: Invoke, tmp_path: Path, command: str, document: dict[str, object]
) -> None:
    (tmp_path / "huge.json").write_text(json.dumps(document))
    options = ["--to", "openai-tools"] if command == "convert" else []
    result = invoke(command, "huge.json", *options)
    assert result.exit_code in (0, 1, 2, 3)
    assert max(map(len, result.stderr.splitlines()), default=0) < 1200


@given(st.text(min_size=1), st.integers(0, 5000), st.text(max_size=200))
def test_a_message_keeps_its_start_and_its_end(start: str, size: int, end: str) -> None:
    plain = f"{start[:20]!a}{'x' * size}{end!a}"
    line = single_line(plain)
    assert len(line) < 1100
    assert line.startswith(plain[:20])
    assert line.endswith(plain[-200:])


def test_a_credential_that_lies_across_a_cut_is_not_shown(invoke: Invoke) -> None:
    url = "tempo://me:" + "s" * 2000 + "@host/" + "x" * 2000
    result = invoke("show", url, "--nosuch")
    assert "ss" not in result.stderr
