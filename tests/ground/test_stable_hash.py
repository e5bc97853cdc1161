"""Hashes are equal in every process."""

from __future__ import annotations

import subprocess
import sys

import pytest

from agentool_otel.ground.stable_hash import stable_hash


def test_another_process_has_the_same_hashes() -> None:
    code = (
        "from agentool_otel.ground.stable_hash import stable_hash\n"
        "print(stable_hash('call', 'c1', None), stable_hash('\\ud800', 2**70))"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert [*map(int, printed)] == [
        stable_hash("call", "c1", None),
        stable_hash("\ud800", 2**70),
    ]


@pytest.mark.parametrize("other", [("a", "b"), ("ab", None), ("ab", "None"), (["ab"],)])
def test_other_parts_have_another_hash(other: tuple[object, ...]) -> None:
    assert stable_hash("ab") != stable_hash(*other)


def test_a_hash_has_64_bits() -> None:
    assert all(-(2**63) <= stable_hash(n) < 2**63 for n in range(1000))
