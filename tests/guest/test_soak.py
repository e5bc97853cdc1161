"""Agent runs while everything around them fails: `python -m benchmarks.soak` for some seconds."""

from __future__ import annotations

import sys

import pytest

from benchmarks.soak import SCENARIOS, soak

SECONDS = 4
WARMING_UP_MB = 150.0
"""Memory is the business of the long one: a short one ends before every large value has come."""


@pytest.mark.thorough
@pytest.mark.skipif(sys.platform == "win32", reason="needs limits for files")
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_faults_are_invisible_to_the_program_and_no_span_is_lost(scenario: str) -> None:
    soaked = soak(scenario, SECONDS, flat_mb=WARMING_UP_MB)
    assert soaked.problems == []
    assert soaked.found > 100
