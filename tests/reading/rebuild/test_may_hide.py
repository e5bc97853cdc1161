"""`Rebuilt.may_hide` saves making a report, and is never False where the report has notes."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentool_otel.loading import rebuild
from agentool_otel.model.spans import Damage, SpanRecord
from agentool_otel.reading.sources.opening import open_source
from tests.records import Collected, agent, asks

SPANS = Path(__file__).parents[2] / "fixtures" / "spans"
HIDING = {"redacted", "truncated", "damaged"}


@pytest.mark.parametrize(
    "attributes",
    [
        {"gen_ai.output.messages": "<REDACTED>"},
        {"gen_ai.output.messages": "the beginning [truncated]"},
        {"odd": '{"half": "of i'},
        {"redaction.masked.keys": "gen_ai.output.messages"},
        {"agentool.content.shortened": '{"gen_ai.output.messages": {"bytes": 9}}'},
    ],
    ids=lambda attributes: next(iter(attributes)),
)
def test_what_the_report_notes_of_an_attribute_may_be_hidden(attributes: dict[str, str]) -> None:
    collected = Collected()
    run = collected.add(agent())
    call: SpanRecord = collected.add(asks(("c1", "search")), parent=run)
    (before,) = rebuild(collected.spans)
    assert not before.may_hide()
    call.attributes.update(attributes)
    (after,) = rebuild(collected.spans)
    assert HIDING & {note.outcome for note in after.fidelity.notes}
    assert after.may_hide()


def test_a_damaged_value_may_be_hidden() -> None:
    collected = Collected()
    collected.add(agent(), damaged=(Damage("attributes.odd", False),))
    (rebuilt,) = rebuild(collected.spans)
    assert rebuilt.may_hide()


@pytest.mark.parametrize(
    "file", sorted(SPANS.glob("*openinference.jsonl")), ids=lambda item: item.stem
)
def test_may_hide_is_true_of_all_recorded_spans_with_such_notes(file: Path) -> None:
    for rebuilt in rebuild(open_source(file).spans()):
        of_spans = {
            note.outcome for note in rebuilt.fidelity.notes if note.attribute and not note.step_id
        }
        assert rebuilt.may_hide() or not HIDING & of_spans
