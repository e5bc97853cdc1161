"""Laws of sessions that are put together from several channels."""

from __future__ import annotations

import json
import random
import re
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.loading import rebuild
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.rebuild.trace import Rebuilt
from agentool_otel.reading.sources.opening import open_spans
from tests.coding_agents.missing import MISSING
from tests.coding_agents.recordings import FOLDER
from tests.coding_agents.stories import CHANNELS
from tests.laws import many

_MADE = re.compile(r"call_[0-9a-f]{16}")
"""An id of a call whose records have none."""
_ORDINARY = ("killed", "read_edit_shell", "sub_agent")
"""Situations that are played in the ordinary tests; the others take patience."""
RECORDINGS = sorted(
    f"{folder.parent.name}/{folder.name}"
    for agent in MISSING
    for folder in FOLDER.glob(f"{agent}/*")
)
PLAYED = [
    recording
    if recording.endswith(_ORDINARY)
    else pytest.param(recording, marks=pytest.mark.thorough)
    for recording in RECORDINGS
]


@cache
def records(recording: str) -> tuple[SpanRecord, ...]:
    folder = FOLDER / recording
    files = [str(folder / file) for file in CHANNELS.values() if (folder / file).exists()]
    return tuple(open_spans(files).spans())


def document(run: Rebuilt) -> str:
    return json.dumps(run.document, sort_keys=True)


@pytest.mark.parametrize("recording", PLAYED)
@settings(max_examples=many(3), deadline=None)
@given(seed=st.randoms(use_true_random=False), again=st.integers(0, 20))
def test_order_and_repetition_of_records_change_nothing(
    recording: str, seed: random.Random, again: int
) -> None:
    spans = list(records(recording))
    expected = sorted(map(document, rebuild(spans)))
    shuffled = spans + seed.sample(spans, min(again, len(spans)))
    seed.shuffle(shuffled)
    assert sorted(map(document, rebuild(shuffled))) == expected


@pytest.mark.parametrize("recording", PLAYED)
@settings(max_examples=many(3), deadline=None)
@given(seed=st.randoms(use_true_random=False), share=st.floats(0.1, 0.9))
def test_with_records_missing_no_call_is_there_twice_and_none_is_new(
    recording: str, seed: random.Random, share: float
) -> None:
    spans = list(records(recording))
    some = seed.sample(spans, max(1, int(len(spans) * share)))
    recorded = [call for call in calls(some) if not _MADE.fullmatch(call[1])]
    assert len(recorded) == len(set(recorded))
    assert {call_id for _, call_id in recorded} <= {call_id for _, call_id in calls(spans)}


def calls(spans: list[SpanRecord]) -> list[tuple[object, str]]:
    """Return the calls of each session; a sub-agent's file that no record ties to a session is one
    by itself."""
    return [
        (run.document.get("session_id"), step["tool_call"]["id"])
        for run in rebuild(spans)
        for step in run.document["steps"]
        if step["type"] == "tool_call"
    ]
