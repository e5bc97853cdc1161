"""`Retry-After`, whatever a receiver or server writes into it, is a bounded wait or none."""

from __future__ import annotations

import http.client
from email.message import Message
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.ground.retry_after import retry_after_s
from agentool_otel.tracing.export.send import attempt

NUMBERS = st.integers(-(10**30), 10**30).map(str) | st.floats().map(str)
DATES = st.builds(
    "{}, {} {} {} {}:{}:{} {}".format,
    st.sampled_from(["Mon", "Tue", ""]),
    NUMBERS,
    st.sampled_from(["Jan", "Feb", "Foo", ""]),
    NUMBERS,
    NUMBERS,
    NUMBERS,
    NUMBERS,
    st.sampled_from(["GMT", "+0000", "-9999", "+99999999999999999999", ""]),
)
PLAUSIBLE = st.builds(
    "Mon, {:02} Jan {} {:02}:00:00 {}".format,
    st.integers(0, 40),
    st.integers(0, 10**20),
    st.integers(0, 30),
    st.sampled_from(["GMT", "+0000", "-9999", "+99999999999999999999"]),
)


@given(st.text() | NUMBERS | DATES | PLAUSIBLE)
def test_any_header_is_a_number_of_seconds_or_none(text: str) -> None:
    seconds = retry_after_s(text)
    assert seconds is None or isinstance(seconds, float)


@given(st.text() | NUMBERS | DATES | PLAUSIBLE)
def test_a_receiver_asks_for_an_hour_at_most(text: str) -> None:
    headers = Message()
    headers._headers = [("retry-after", text)]  # type: ignore[attr-defined] # not checked there
    answer = attempt._http_answer(429, "Busy", cast("http.client.HTTPMessage", headers), b"")
    assert answer.verdict == "later"
    assert answer.retry_after_s is None or 0 <= answer.retry_after_s <= 3600


@pytest.mark.parametrize(
    "text", [None, "", "soon", "Mon, 01 Jan 99999999999999999999 00:00:00 GMT"]
)
def test_without_a_time_there_is_no_wait(text: str | None) -> None:
    assert retry_after_s(text) is None
