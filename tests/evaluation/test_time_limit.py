"""Patterns and schemas of cases end in time, and patterns have the meaning of `re`."""

from __future__ import annotations

import marshal
import multiprocessing
import re
import sys
import threading
import uuid
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.errors import EvaluationError
from agentool_otel.evaluation import time_limit
from agentool_otel.evaluation.trace_diff.ignored import Ignoring
from tests.evaluation.runs import Object, verdict

TEXT = "a" * 40 + "!"


@pytest.fixture
def short_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_limit, "LIMIT_S", 0.2)
    monkeypatch.setattr(time_limit, "_reached", Counter())


def fan_out(keyword: str) -> Object:
    """Return a schema in which each level is ten of the next."""
    levels = {
        f"n{index}": {keyword: [{"allOf": [{"$ref": f"#/$defs/n{index + 1}"}]}] * 10}
        for index in range(9)
    }
    return {"$defs": {**levels, "n9": {"const": 1}}, "$ref": "#/$defs/n0"}


PATTERNS = [
    "^(a+)+$",
    "^(a|a)*$",
    "(.*)*x",
    "^(?:a?){40}a{40}b",
    r"^(a*)*\1$",
    "(?i)" + r"[\x00-\U0010ffff]" * 400,  # takes that long to be compiled
]
SCHEMAS: list[tuple[Object, Any]] = [
    ({"pattern": "^(a+)+$"}, TEXT),
    ({"patternProperties": {"^(a+)+$": {}}}, {TEXT: 1}),
    ({"patternProperties": {"^(a+)+$": {}}, "additionalProperties": False}, {TEXT: 1}),
    ({"propertyNames": {"pattern": "^(a+)+$"}}, {TEXT: 1}),
    ({"$ref": "#/$defs/p", "$defs": {"p": {"pattern": "^(a+)+$"}}}, TEXT),
    ({"unevaluatedProperties": False, "patternProperties": {"^(a+)+$": {}}}, {TEXT: 1}),
    ({"pattern": PATTERNS[-1], "format": "regex"}, TEXT),
    (fan_out("anyOf"), {"x": 1}),
    (fan_out("oneOf"), {"x": 1}),
    ({"uniqueItems": True}, [{"x": [index]} for index in range(20_000)]),
]


def run_of(**members: Any) -> Object:
    return {"trace_id": "t", "agent_id": "a", "status": "success", "steps": [], **members}


def calls_of(*arguments: Object) -> Object:
    """Return a run that calls `t` with each of these."""
    steps = [
        {"step_id": f"s{at}", "type": "tool_call", "tool_call": {"id": f"c{at}", "name": "t",
         "arguments": argument}}
        for at, argument in enumerate(arguments)
    ]  # fmt: skip
    return run_of(steps=steps)


def reason_of_unevaluated(run: Object, **assertion: Any) -> str:
    result = verdict(assertion, run)
    assert result.passed is None
    return str(result.reason)


@pytest.mark.usefixtures("short_limit")
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_pattern_without_end_is_not_evaluated(pattern: str) -> None:
    limit = "0.2 s"
    assert limit in reason_of_unevaluated(
        run_of(output=TEXT), type="output_matches", pattern=pattern
    )
    assert limit in reason_of_unevaluated(
        calls_of({"x": TEXT}), type="args_match", tool_name="t", arg_patterns={"x": pattern}
    )


@pytest.mark.usefixtures("short_limit")
@pytest.mark.parametrize(("schema", "value"), SCHEMAS)
def test_a_schema_without_end_is_not_evaluated(schema: Object, value: Any) -> None:
    schema = {**schema, "title": str(uuid.uuid4())}
    reason = reason_of_unevaluated(run_of(output=value), type="response_format", schema=schema)
    assert "did not end within 0.2 s, the limit of a check" in reason


@pytest.mark.usefixtures("short_limit")
def test_a_schema_that_refers_to_itself_is_not_evaluated() -> None:
    reason_of_unevaluated(run_of(output=1), type="response_format", schema={"$ref": "#"})


@pytest.mark.usefixtures("short_limit")
def test_a_call_that_matches_passes_beside_one_without_end() -> None:
    check = {"type": "args_match", "tool_name": "t", "arg_patterns": {"x": "^(a+)+$"}}
    assert verdict(check, calls_of({"x": "aa"}, {"x": TEXT})).passed


@pytest.mark.usefixtures("short_limit")
def test_the_patterns_of_one_check_share_its_limit() -> None:
    pattern = f"^(a+)+$|{uuid.uuid4()}"
    with time_limit.one_check():
        with pytest.raises(time_limit.TimeLimit):
            time_limit.search(pattern, TEXT)
        with pytest.raises(
            time_limit.TimeLimit, match=r"nothing is left of the 0\.2 s of this check"
        ):
            time_limit.search("a", "a")
    assert time_limit.search("a", "a") == (0, 1)


@pytest.mark.usefixtures("short_limit")
def test_a_pattern_is_not_tried_after_repeated_timeouts() -> None:
    pattern = f"^(a+)+${uuid.uuid4()}"
    reasons: list[str] = []
    for _ in range(5):
        with pytest.raises(time_limit.TimeLimit) as reached:
            time_limit.search(pattern, TEXT)
        reasons.append(str(reached.value))
    assert ["is not tried again" in reason for reason in reasons] == [False] * 3 + [True] * 2


@pytest.mark.usefixtures("short_limit")
def test_what_a_comparison_ignores_has_a_limit_too() -> None:
    ignoring = Ignoring([f"^(a+)+$|{uuid.uuid4()}"])
    with pytest.raises(EvaluationError, match=r"did not end within 0\.2 s"):
        ignoring.text(TEXT)


ODD = ["\x1c", "ſ", "İ", "न", "²", "\ud800", "", "{e<=1}", "[[:alpha:]]"]
PIECES = [
    r"\w+", r"\s", r"\d", r"\b", "(?i:s)", "[^a]", "a{2,}", "(?=a)", "(?<=a)b", "{e<=1}",
    "[[:alpha:]]", r"\Z", "$", "(?P<n>a)(?P=n)", "ſ", "[a-z]*?", "(", r"\p{L}", "*",
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::FutureWarning")
@given(
    pattern=st.lists(st.sampled_from(PIECES), max_size=4).map("".join),
    text=st.lists(st.sampled_from([*ODD, "a", "b", "S", " ", "\n"]), max_size=6).map("".join),
)
def test_a_pattern_means_what_it_means_to_re(pattern: str, text: str) -> None:
    why = time_limit.compiles(pattern)
    if why is not None:
        with pytest.raises(re.error, match=re.escape(why)):
            re.compile(pattern)
        return
    match = re.search(pattern, text)
    assert time_limit.search(pattern, text) == (match and match.span())


def test_the_process_is_started_again_where_it_has_ended() -> None:
    assert time_limit.search("b", "ab") == (1, 2)
    running = time_limit._process._running
    assert running is not None
    running.kill()
    running.wait()
    assert time_limit.search("b", "ab") == (1, 2)
    assert time_limit._process._running is not running


def test_an_interrupt_leaves_no_reply_for_the_next_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    assert time_limit.search("a", "a") == (0, 1)
    with monkeypatch.context() as patched:
        patched.setattr(marshal, "load", interrupted)
        with pytest.raises(KeyboardInterrupt):
            time_limit.search("a", "ba")
    assert time_limit.search("a", "bba") == (2, 3)


def test_threads_get_their_own_answers() -> None:
    wrong: list[int] = []

    def ask(number: int) -> None:
        for _ in range(50):
            if time_limit.search("x", "a" * number + "x") != (number, number + 1):
                wrong.append(number)

    threads = [threading.Thread(target=ask, args=(index,)) for index in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def _in_child(results: Any) -> None:
    results.put(time_limit.search("b", "ab"))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_forked_program_has_a_process_of_its_own() -> None:
    assert time_limit.search("b", "ab") == (1, 2)
    context: Any = multiprocessing.get_context("fork")
    results = context.Queue()
    child = context.Process(target=_in_child, args=(results,))
    child.start()
    assert results.get(timeout=30) == (1, 2)
    child.join()
    assert time_limit.search("b", "aab") == (2, 3)


def test_without_a_process_the_check_is_not_evaluated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    time_limit._process.end()
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    reason = reason_of_unevaluated(run_of(output="a"), type="output_matches", pattern="a")
    assert "runs in a process of its own, which failed" in reason
