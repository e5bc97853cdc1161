"""Earlier words of cases mean what they did, and are named once."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agentool_otel import Assertion, EvalCase
from agentool_otel.cli import main
from agentool_otel.evaluation.cases.old_words import note_on_old_words
from tests.click_runner import CliRunner
from tests.evaluation.runs import RUN, verdict

ARGS: dict[str, Any] = {"type": "args_match", "tool_name": "search_web"}


@pytest.mark.parametrize(("old", "new"), [("subset", "at_least"), ("superset", "at_most")])
@pytest.mark.parametrize(
    "arguments",
    [
        *({}, {"limit": 3}, {"limit": 3, "query": "agent tools"}),
        {"limit": 3, "query": "agent tools", "more": 1},
    ],
)
def test_an_earlier_word_means_the_same(old: str, new: str, arguments: dict[str, Any]) -> None:
    expected = verdict({**ARGS, "tool_args": arguments, "mode": new}, RUN)
    assert verdict({**ARGS, "tool_args": arguments, "mode": old}, RUN) == expected
    call = {"tool_name": "search_web", "tool_args": arguments}
    by_word = [
        verdict({"type": "tool_sequence", "tools": [{**call, "args_mode": mode}]}, RUN)
        for mode in (old, new)
    ]
    assert by_word[0] == by_word[1]


def test_the_words_of_cases_are_named_once(tmp_path: Path) -> None:
    sequence = {"type": "tool_sequence", "tools": [{"tool_name": "a", "args_mode": "superset"}]}
    checks = [{**ARGS, "mode": "subset"}, {**ARGS, "mode": "subset"}, sequence]
    (tmp_path / "cases.json").write_text(json.dumps({"case_id": "c", "assertions": checks}))
    (tmp_path / "run.json").write_text(json.dumps(RUN))
    places = [str(tmp_path / name) for name in ("cases.json", "run.json")]
    result = CliRunner().invoke(main, ["eval", *places])
    [note] = [line for line in result.stderr.splitlines() if line.startswith("note: ")]
    assert "'at_least' instead of 'subset' and 'at_most' instead of 'superset'" in note


def test_the_modes_of_a_sequence_keep_their_words() -> None:
    kept = Assertion.from_dict({"type": "tool_sequence", "tools": ["a"], "mode": "superset"})
    case = EvalCase.from_dict({"case_id": "c", "input": "x", "assertions": [{**ARGS}]})
    assert note_on_old_words([kept, case]) is None
