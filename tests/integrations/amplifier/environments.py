"""Amplifier."""

from __future__ import annotations

from tests.environments import Environment

__all__ = ["ENVIRONMENTS"]

ENVIRONMENTS = {
    "amplifier": Environment(
        ("amplifier-core>=2",),
        (
            *("tests/seed_systems/amplifier", "tests/situations/test_hostile_values.py"),
            *("-k", "amplifier", "-m", "not backends"),
            # The kernel's plug-in for pytest needs another one.
            *("-p", "no:amplifier_module"),
        ),
    ),
}
