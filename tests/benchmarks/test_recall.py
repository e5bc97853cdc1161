"""The recall table."""

from __future__ import annotations

from benchmarks.recall.__main__ import main
from tests.click_runner import CliRunner


def test_the_table_is_printed_by_one_command() -> None:
    ran = CliRunner().invoke(main, ["--no-peers"])
    assert ran.exit_code == 0
    assert "openinference" in ran.output
