"""Hiding a part of a run, with evidence, never turns a verdict into the other one."""

from __future__ import annotations

import json
import random

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from agentool_otel.evaluation.assertion_checks import assertion_types
from tests.evaluation.hiding import SHARES, WAYS, assertions_on, broken, run_of, shares
from tests.laws import many


@settings(max_examples=many(5000, fewer=16), suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(sorted(WAYS)), st.integers(0, 2**64))
@example("spans, then documents: masked by a Collector", 940_952_934_464)  # two calls, one hidden
def test_a_verdict_stays_or_is_not_evaluated(way: str, seed: int) -> None:
    """The same for `diff`: what is hidden is never reported as changed."""
    assert broken(way, random.Random(seed)) == []


def test_the_law_covers_every_assertion_type() -> None:
    chance = random.Random(0)
    assert {assertion["type"] for assertion in assertions_on(run_of(chance), chance)} == {
        *assertion_types()
    }


@pytest.fixture(scope="module")
def survivors() -> dict[str, dict[str, float]]:
    return shares()


@pytest.mark.thorough
def test_no_share_of_surviving_verdicts_falls(survivors: dict[str, dict[str, float]]) -> None:
    """`python -m tests.evaluation.hiding` writes the table anew."""
    before = json.loads(SHARES.read_text())
    fallen = [
        f"{way}, {name}: {share} -> {survivors[way].get(name, 0.0)}"
        for way, row in before.items()
        for name, share in row.items()
        if survivors[way].get(name, 0.0) < share
    ]
    assert fallen == []


@pytest.mark.thorough
def test_a_share_is_zero_only_with_a_reason(survivors: dict[str, dict[str, float]]) -> None:
    zero = {
        (way, name) for way, row in survivors.items() for name, share in row.items() if not share
    }
    assert zero <= {(way, name) for way, names in ZERO.items() for name in names}


_OF_OUTPUT = {
    *("output_contains", "output_equals", "output_matches", "response_format"),
    *("no_hallucination", "output_property", "rubric"),
}
_OF_ORDER = {"no_loop", "tests_after_last_change"}
_OF_TOTALS = {"context_efficiency", "latency", "max_cost_usd"}
ZERO = {
    "document: content off": _OF_OUTPUT,
    "document: parent missing": {*_OF_OUTPUT, *_OF_ORDER, "max_turns", "status"},
    **{
        f"{form}: {way}": types
        for form in ("spans", "spans, then documents")
        for way, types in (
            ("content off", _OF_OUTPUT),
            (
                "root missing",
                {*_OF_OUTPUT, *_OF_TOTALS, *_OF_ORDER, "finished", "max_turns", "status"},
            ),
            ("cut by a limit", {*_OF_ORDER, "changed_file", "result_contains", "result_schema"}),
        )
    },
}
"""The last lines of docs/reference/hidden-data.md have the reasons."""
