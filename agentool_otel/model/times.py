"""Times as text and as nanoseconds since the Unix epoch, in exact integer arithmetic."""

from __future__ import annotations

from datetime import date
from functools import lru_cache

from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.durations import parse_duration

__all__ = [
    "END_NS",
    "FIRST_NS",
    "from_ns",
    "in_calendar",
    "parse_time",
    "same_text",
    "to_ns",
    "unsigned_ns",
]

_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)[Tt ]"
    r"([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d|60)(?:[.,](\d+))?)?"
    r" ?(?:[Zz]|([+-])([01]\d|2[0-3]):?([0-5]\d)?)?",
    re.ASCII,
)
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_DAY_S = 86_400
_SECOND_NS = 1_000_000_000
_MINUTE_NS = 60 * _SECOND_NS
_DIGITS = 100 * _SECOND_NS
"""Added to the nanoseconds of a minute it makes twelve digits of them: 1, two of seconds, nine."""
FIRST_NS = (date.min.toordinal() - _EPOCH_DAY) * _DAY_S * _SECOND_NS
"""The first time that has a text."""
END_NS = (date.max.toordinal() - _EPOCH_DAY + 1) * _DAY_S * _SECOND_NS
"""The first one behind them."""


def to_ns(text: str) -> int | None:
    """Parse a time as nanoseconds since the epoch; None if `text` is not a time.

    Reads RFC 3339 and the date-time forms of ISO 8601 with separators: any offset, no offset
    (taken as UTC), a space in place of the `T`, no seconds, a leap second (the start of the
    next). Digits beyond the ninth of a fraction are cut. A time outside the years 1 to
    9999 in UTC is None.
    """
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    day, hour, minute, second, fraction, sign, offset_hour, offset_minute = match.groups()
    try:
        days = date.fromisoformat(day).toordinal() - _EPOCH_DAY
    except ValueError:
        return None
    seconds = days * _DAY_S + int(hour) * 3600 + int(minute) * 60 + int(second or 0)
    if sign:
        offset = int(offset_hour) * 3600 + int(offset_minute or 0) * 60
        seconds += offset if sign == "-" else -offset
    ns = seconds * _SECOND_NS + (int(fraction[:9].ljust(9, "0")) if fraction else 0)
    return ns if FIRST_NS <= ns < END_NS else None


def parse_time(text: str, now_ns: int) -> int | None:
    """Return the time a person means, or None when it is not one.

    Reads what `to_ns` does, a day (its beginning in UTC), `now`, and how long ago, as `2h`. What
    lies before 1970 is none.
    """
    ago = 0 if text == "now" else parse_duration(text)
    if ago is not None:
        return max(now_ns - ago, 0)
    at = to_ns(text)
    if at is None:
        at = to_ns(f"{text}T00:00Z")
    return None if at is None or at < 0 else at


def from_ns(ns: int) -> str:
    """Return the canonical text of a time: UTC, `Z`, no more digits of a fraction than it needs.

    `to_ns(from_ns(ns)) == ns` always holds.

    Raises:
        ValueError: if the time lies outside the years 1 to 9999.
    """
    minutes, remainder = divmod(ns, _MINUTE_NS)
    digits = str(remainder + _DIGITS)
    if fraction := digits[3:].rstrip("0"):
        return f"{_to_the_minute(minutes)}:{digits[1:3]}.{fraction}Z"
    return f"{_to_the_minute(minutes)}:{digits[1:3]}Z"


def in_calendar(ns: int) -> bool:
    """Return whether a time is in the years 1 to 9999 and can be formatted."""
    return FIRST_NS <= ns < END_NS


@lru_cache(maxsize=4096)
def _to_the_minute(minutes: int) -> str:
    """Cached, because the times of a file do."""
    if not FIRST_NS <= minutes * _MINUTE_NS < END_NS:
        raise ValueError(f"time outside the years 1 to 9999: {minutes * 60} s")
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    return f"{date.fromordinal(days + _EPOCH_DAY)}T{hour:02}:{minute:02}"


def same_text(text: str) -> bool:
    """Return whether nanoseconds can replace `text`: it is the canonical text of its time."""
    ns = to_ns(text)
    return ns is not None and from_ns(ns) == text


def unsigned_ns(time: object) -> int:
    """Return a time from a program as the unsigned 64-bit integer of a span: the nearest one, and
    0, which means none, if it is no number.

    Seconds as `time.time()` gives them are a common mistake; the span matters more than its time.
    """
    try:
        number = int(time)  # type: ignore[call-overload]
    except (TypeError, ValueError, OverflowError):
        return 0
    return number if 0 <= number <= _LAST_NS else _LAST_NS if number > 0 else 0


_LAST_NS = 2**64 - 1
