"""Spans of each framework in each situation, compared with `expected/`."""

from __future__ import annotations

from types import ModuleType

import pytest

from tests.situations.conftest import Stage
from tests.situations.expected import expected_text
from tests.situations.readable import readable
from tests.situations.situations import SITUATIONS, frameworks, possible

CASES = [(framework, situation) for framework in frameworks() for situation in SITUATIONS]


@pytest.mark.parametrize(("driver", "situation"), CASES, indirect=["driver"])
def test_spans_and_trajectory_are_as_expected(
    driver: ModuleType, situation: str, stage: Stage
) -> None:
    if situation not in possible(driver):
        assert driver.IMPOSSIBLE[situation], "a situation without a way into it has a reason"
        return
    stage.play(driver, situation)
    name = driver.__name__.rpartition(".")[2]
    assert readable(stage.recorded.spans()) == expected_text(name, situation)


@pytest.mark.parametrize("driver", frameworks(), indirect=True)
def test_what_is_impossible_is_not_done_as_well(driver: ModuleType) -> None:
    assert not set(possible(driver)) & set(driver.IMPOSSIBLE)
