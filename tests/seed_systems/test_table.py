"""The table is made of the tests that are there."""

from __future__ import annotations

from tests.seed_systems.checks import CANNOT, PROMISES
from tests.seed_systems.table import Outcomes, checks_in, lines


def test_there_are_88_checks() -> None:
    assert list(PROMISES) == list(range(1, 89))


def test_every_test_is_of_a_check() -> None:
    assert {number for number, _ in checks_in()} <= PROMISES.keys()


def test_what_cannot_be_shown_has_no_test() -> None:
    assert not {number for number, _ in checks_in()} & CANNOT.keys()


def test_a_check_without_a_test_is_seen_as_missing() -> None:
    *checks, sums = lines(Outcomes())
    assert [line.split()[1] for line in checks].count("missing") == 88 - len(CANNOT)
    assert sums == f"{88 - len(CANNOT)} missing, {len(CANNOT)} cannot"


def test_one_failing_test_of_several_is_a_failing_check() -> None:
    outcomes = Outcomes()
    outcomes.of[1] = {"passed", "failed"}
    outcomes.of[2] = {"passed"}
    first, second, *_ = lines(outcomes)
    assert first.split()[1] == "fails"
    assert second.split()[1] == "passes"


def test_what_was_skipped_here_and_passed_elsewhere_passes() -> None:
    outcomes = Outcomes()
    outcomes.of[1] = {"skipped"}
    outcomes.reasons[1] = "needs another package"
    assert next(lines(outcomes)).split()[1] == "cannot"
    outcomes.add({"1": ["passed", "skipped"]})
    assert next(lines(outcomes)).split()[1] == "passes"
