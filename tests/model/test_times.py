"""Times as text and as nanoseconds."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.model.times import from_ns, same_text, to_ns

NOON = 1_772_366_400_000_000_000
FIRST, LAST = -62_135_596_800_000_000_000, 253_402_300_799_999_999_999


@pytest.mark.parametrize(
    "text",
    [
        "2026-03-01T12:00:00Z",
        "2026-03-01t12:00:00z",
        "2026-03-01 12:00:00Z",
        "2026-03-01T12:00:00",
        "2026-03-01T12:00Z",
        "2026-03-01T12:00:00.000000000Z",
        "2026-03-01T12:00:00+00:00",
        "2026-03-01T14:00:00+02:00",
        "2026-03-01T06:30:00-0530",
        "2026-03-01T11:59:60Z",
    ],
)
def test_the_same_moment_can_be_written_in_many_ways(text: str) -> None:
    assert to_ns(text) == NOON


@pytest.mark.parametrize(
    ("fraction", "ns"),
    [(".5", 500_000_000), (",25", 250_000_000), (".000000001", 1), (".1234567899", 123_456_789)],
)
def test_a_fraction_counts_to_the_nanosecond(fraction: str, ns: int) -> None:
    assert to_ns(f"2026-03-01T12:00:00{fraction}Z") == NOON + ns


@pytest.mark.parametrize(
    "text",
    [
        "",
        "yesterday",
        "2026-03-01",
        "2026-02-30T12:00:00Z",
        "2026-03-01T24:00:00Z",
        "2026-03-01T12:60:00Z",
        "2026-03-01T12:00:00+25:00",
        "2026-03-01T12:00:00Z and more",
        "2026-03-01T12:00:00Z\n",
        "٢٠٢٦-٠٣-٠١T12:00:00Z",
        "0000-03-01T12:00:00Z",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
    ],
)
def test_text_that_is_not_a_time_is_none(text: str) -> None:
    assert to_ns(text) is None


@given(st.integers(FIRST, LAST))
def test_nanoseconds_survive_as_text(ns: int) -> None:
    assert to_ns(from_ns(ns)) == ns


@given(st.integers(FIRST, LAST))
def test_canonical_text_is_recognised_as_such(ns: int) -> None:
    assert same_text(from_ns(ns))


@settings(deadline=None)
@given(
    st.datetimes(datetime(1, 1, 3), datetime(9999, 12, 29)),
    st.timedeltas(timedelta(hours=-23), timedelta(hours=23)).map(
        lambda offset: timezone(timedelta(minutes=offset // timedelta(minutes=1)))
    ),
)
def test_any_datetime_is_read_as_python_means_it(naive: datetime, zone: timezone) -> None:
    moment = naive.replace(tzinfo=zone)
    since = moment - datetime(1970, 1, 1, tzinfo=timezone.utc)
    assert to_ns(moment.isoformat()) == since // timedelta(microseconds=1) * 1000


@pytest.mark.parametrize(
    ("ns", "text"),
    [
        (0, "1970-01-01T00:00:00Z"),
        (-1, "1969-12-31T23:59:59.999999999Z"),
        (NOON + 120_000_000, "2026-03-01T12:00:00.12Z"),
        (FIRST, "0001-01-01T00:00:00Z"),
        (LAST, "9999-12-31T23:59:59.999999999Z"),
    ],
)
def test_text_has_only_the_digits_it_needs(ns: int, text: str) -> None:
    assert from_ns(ns) == text


@pytest.mark.parametrize("ns", [FIRST - 1, LAST + 1])
def test_a_time_without_a_four_digit_year_has_no_text(ns: int) -> None:
    with pytest.raises(ValueError, match="outside the years"):
        from_ns(ns)


@pytest.mark.parametrize(
    "text",
    ["2026-03-01T12:00:00+00:00", "2026-03-01T12:00:00.50Z", "2026-03-01T12:00:00", "soon"],
)
def test_other_text_of_a_time_cannot_be_replaced_by_nanoseconds(text: str) -> None:
    assert not same_text(text)
