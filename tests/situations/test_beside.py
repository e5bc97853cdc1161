"""Beside other tracers of a framework, each records each call once and nobody is in the way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from tests.situations.beside import PLAYED, Played
from tests.situations.expected import expected_text
from tests.situations.situations import driver_of, frameworks, possible
from tests.situations.tracers import tracers

_ROOT = Path(__file__).parent.parent.parent
_BEGUN_TWICE = {("crewai", "stream")}
"""Tracers that record a run which ends at once twice: `kickoff` starts a thread, and
itself anew.
"""
_ORDERS = ("ours theirs", "theirs ours")


def _pairs() -> list[tuple[str, str]]:
    return [
        (framework, tracer)
        for framework in frameworks()
        if driver_of(framework)
        for tracer in tracers(framework)
    ]


_CASES = [
    (framework, tracer, situation)
    for framework, tracer in _pairs()
    for situation in PLAYED
    if (driver := driver_of(framework)) and situation in possible(driver)
]


def _doubled(framework: str, tracer: str, situation: str) -> str:
    """Return why a rebuild counts calls twice there; empty where it does not."""
    doubled: dict[tuple[str, str], str] = getattr(driver_of(framework), "DOUBLED", {})
    return doubled.get((tracer, situation), "")


beside = pytest.mark.parametrize(("framework", "tracer", "situation"), _CASES)
in_both_orders = pytest.mark.parametrize("order", _ORDERS)


@cache
def _played(framework: str, tracer: str, order: str) -> dict[str, Played]:
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("OTEL_", "AGENTOOL_"))}
    done = subprocess.run(
        [sys.executable, "-m", "tests.situations.beside", framework, tracer, order],
        env=clean | {"AGENTOOL_OTEL_STRICT": "1"},
        cwd=_ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=180,
    )
    assert done.returncode == 0, done.stderr
    played: dict[str, Played] = json.loads(done.stdout.splitlines()[-1])
    return played


@beside
@in_both_orders
def test_the_program_gets_what_it_gets_without_us(
    framework: str, tracer: str, situation: str, order: str
) -> None:
    both, alone = (_played(framework, tracer, item)[situation] for item in (order, "theirs"))
    assert (both["outcome"], both["error"]) == (alone["outcome"], alone["error"])


@beside
@in_both_orders
def test_their_spans_are_as_without_us(
    framework: str, tracer: str, situation: str, order: str
) -> None:
    both, alone = (_played(framework, tracer, item)[situation] for item in (order, "theirs"))
    if situation not in getattr(driver_of(framework), "VARYING", ()):
        assert both["theirs"] == alone["theirs"]


@beside
@in_both_orders
def test_ours_are_complete(framework: str, tracer: str, situation: str, order: str) -> None:
    recorded = _played(framework, tracer, order)[situation]["recorded"]
    expected = expected_text(framework, situation)
    if expected.startswith("invoke_agent\n") and not recorded.startswith("invoke_agent\n"):
        # Below a span of another tracer no run is inferred: a rebuild joins its calls.
        assert order == "ours theirs"
        recorded, expected = map(_trajectory, (recorded, expected))
    assert recorded == expected


def _trajectory(text: str) -> str:
    return text.partition("\ntrajectory of ")[2]


@pytest.mark.parametrize(
    ("framework", "tracer", "situation"),
    [
        pytest.param(
            *item,
            marks=pytest.mark.xfail(bool(_doubled(*item)), strict=True, reason=_doubled(*item)),
        )
        for item in _CASES
    ],
)
def test_both_in_one_recording_count_each_call_once(
    framework: str, tracer: str, situation: str
) -> None:
    both, ours = (
        _played(framework, tracer, name)[situation]["counted"] for name in ("ours shared", "ours")
    )
    if (framework, situation) in _BEGUN_TWICE:
        assert both.pop("runs") == ours.pop("runs") + 1
    assert both == ours
