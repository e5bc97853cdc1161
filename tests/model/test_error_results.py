"""Which results look like errors, and which that are about errors do not."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.model.error_results import error_rule

ERRORS: list[Any] = [
    {"error": "TimeoutError: the provider did not answer"},
    {"error": {"message": "no such order", "code": "E12"}},
    {"errors": [{"message": "no such field"}]},
    {"error": "no station", "query": "Rome"},
    {"status": "error", "message": "no such order"},
    {"status": "FAILED", "id": 3},
    {"isError": True, "content": [{"type": "text", "text": "no"}]},
    {"is_error": True},
    {"statusCode": 500, "body": "x"},
    {"type": "about:blank", "title": "Not Found", "status": 404},
    {"code": 429, "message": "slow down"},
    "Error: no such file",
    "error: pathspec 'x' did not match",
    "TimeoutError: the provider did not answer",
    "openai.BadRequestError: Error code: 400",
    "java.lang.NullPointerException: value is null",
    "  ValueError: x",
    "RuntimeError[main]: broken",
    'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\nKeyError: 1',
    "HTTP 404 Not Found",
    "HTTP/1.1 503 Service Unavailable",
    "404 Client Error: Not Found for url: https://a.example",
    [{"type": "text", "text": "Error: no such file"}],
]
OTHERS: list[Any] = [
    *(None, True, 0, 3.5, "", [], {}, "[]", "{}", "null"),
    {"error": None, "result": 3},
    {"error": "", "result": 3},
    {"error": "none"},
    {"errors": [], "warnings": []},
    {"error": False},
    {"result": 3, "error": "a member behind the result of a partial success"},
    {"errors_fixed": 3},
    {"error_rate": 0.5},
    {"status": "ok", "code": 404},
    {"status": "open"},
    {"code": 404},
    {"status": 200, "message": "found"},
    {"is_error": False, "content": "x"},
    {"results": [{"title": "TypeError: x is not a function - a forum"}]},
    [{"title": "Error: no such file"}, {"title": "b"}],
    "Errors: 0",
    "Error: none",
    "error: 0",
    "Error handling in Python is done with try and except.",
    "The error: was fixed",
    "No errors found.",
    "1. TypeError: x is not a function",
    "2026-01-01 12:00:00 ERROR: disk full",
    "ERROR 2026-01-01 disk full\nINFO done",
    "TypeError: x is not a function\n" + "a line of a page\n" * 8,
    "HTTP 200 OK",
    "404 is the status of a missing page",
    '{"error": "cut in the mid',
    json.dumps({"log": ["Error: no such file"] * 3}),
]


@pytest.mark.parametrize("result", ERRORS)
def test_a_result_that_looks_like_an_error_has_a_rule(result: Any) -> None:
    assert error_rule(result)
    if not isinstance(result, str):
        assert error_rule(json.dumps(result)) or isinstance(result, list)


@pytest.mark.parametrize("result", OTHERS)
def test_a_result_about_errors_is_none(result: Any) -> None:
    assert error_rule(result) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["error", "status", "code", "text"]) | st.text(), inner)
    ),
    max_leaves=8,
)


@given(JSON)
def test_any_result_has_a_rule_or_none(result: Any) -> None:
    assert error_rule(result) is None or isinstance(error_rule(result), str)
