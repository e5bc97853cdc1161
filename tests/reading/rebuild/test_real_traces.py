"""Real traces give their right answers, `tests/fixtures/answers`, or fall short as stated."""

from __future__ import annotations

import pytest

from agentool_otel.loading import rebuild
from agentool_otel.reading.sources.opening import open_source
from tests.right_answers import reading as ours
from tests.right_answers.answers import FIXTURES, Answer, answers, compared

ANSWERS = answers()


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.fixture.name)
def test_a_real_trace_gives_its_right_answer(answer: Answer) -> None:
    short: dict[str, object] = {}
    for aspect, share in compared(answer.found, ours.read(answer.fixture)).items():
        if share is not None and not share.right == share.expected == share.found:
            short[aspect] = share
    assert short.keys() == answer.wanting.keys() - {"runs"}, short


def test_every_fixture_has_an_answer() -> None:
    files = {*FIXTURES.glob("spans/*.jsonl"), *FIXTURES.glob("traces/*/*.json")}
    assert files == {answer.fixture for answer in ANSWERS}


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.fixture.name)
def test_a_run_is_read_once(answer: Answer) -> None:
    as_often = ours.read(answer.fixture).runs == answer.found.runs
    assert as_often == ("runs" not in answer.wanting)


@pytest.mark.parametrize("answer", ANSWERS, ids=lambda answer: answer.fixture.name)
def test_a_failed_run_has_its_cause(answer: Answer) -> None:
    for rebuilt in rebuild(open_source(answer.fixture).spans()):
        failed = rebuilt.document["status"] not in ("success", "in_progress")
        assert ("error" in rebuilt.document.get("metadata", {})) == failed
