"""A few hundred cases of hostile input for every change; `.ci/nightly fuzz` plays ten minutes."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.security.fuzz.__main__ import handling_alarms, play
from tests.security.fuzz.file_targets import FILE_TARGETS
from tests.security.fuzz.isolated import failures as isolated_failures
from tests.security.fuzz.targets import TARGETS

pytestmark = pytest.mark.skipif(os.name != "posix", reason="makes pipes, and is stopped by alarms")


@pytest.mark.parametrize("target", TARGETS)
def test_hostile_input_costs_itself_alone(target: str, tmp_path: Path) -> None:
    with handling_alarms():
        failures = [play(target, number, tmp_path / "case") for number in range(60)]
    assert not [failure for failure in failures if failure is not None]


@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of a process")
@pytest.mark.parametrize("target", FILE_TARGETS)
def test_a_hostile_file_costs_itself_alone(target: str) -> None:
    failures = [failure for _, failure in isolated_failures(target, 0, 60)]
    assert not [failure for failure in failures if failure is not None]
