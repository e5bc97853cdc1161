"""Selection of the traces to evaluate."""

from __future__ import annotations

import pytest

from agentool_otel.evaluation.selecting import Selection
from agentool_otel.model.times import to_ns
from tests.evaluation.runs import Object
from tests.evaluation.test_evaluate import trace

NOON = to_ns("2026-11-22T12:00:00Z")
RUN: Object = {
    "started_at": "2026-11-22T12:00:00Z",
    "session_id": "chat-1",
    "metadata": {"tags": ["nightly", "eu"], "model": "gpt-5"},
}
SILENT: Object = {"agent_id": ..., "status": ..., "started_at": ..., "metadata": ...}


@pytest.mark.parametrize(
    ("selection", "holds"),
    [
        (Selection(), True),
        (Selection(agents=("researcher",)), True),
        (Selection(agents=("writer", "res*")), True),
        (Selection(agents=("Researcher",)), False),
        (Selection(tags=("eu",)), True),
        (Selection(tags=("us",)), False),
        (Selection(models=("gpt-*",)), True),
        (Selection(statuses=("success", "refusal")), True),
        (Selection(statuses=("error",)), False),
        (Selection(agents=("researcher",), tags=("us",)), False),
        (Selection(sessions=("chat-*",)), True),
        (Selection(sessions=("chat",)), False),
        (Selection(texts=("nowhere", "NIGHT")), True),
        (Selection(texts=("night*",)), False),
        (Selection(since_ns=NOON), True),
        (Selection(until_ns=NOON), False),
        (Selection(since_ns=NOON + 1 if NOON else 0), False),
        (Selection(until_ns=NOON + 1 if NOON else 0), True),
    ],
)
def test_any_name_of_a_kind_matches_but_every_kind_must(selection: Selection, holds: bool) -> None:
    assert selection.holds(trace(**RUN)) is holds


@pytest.mark.parametrize(
    "selection",
    [
        *(Selection(agents=("*",)), Selection(models=("*",)), Selection(tags=("*",))),
        *(
            Selection(sessions=("*",)),
            Selection(statuses=("*",)),
            Selection(since_ns=0),
            Selection(until_ns=2**63),
        ),
    ],
)
def test_an_unknown_value_matches_no_name_and_no_time(selection: Selection) -> None:
    assert not selection.holds(trace(**SILENT))


def test_a_stopped_run_is_selected_by_ending_and_status() -> None:
    stopped = trace(status="error", metadata={"error": {"type": "asyncio.CancelledError"}})
    assert Selection(statuses=("cancelled",)).holds(stopped)
    assert Selection(statuses=("error",)).holds(stopped)
    assert not Selection(statuses=("interrupted",)).holds(stopped)
