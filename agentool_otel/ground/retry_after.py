"""The header `Retry-After`: how long to wait before the next request.

Spec: RFC 9110, 10.2.3.
"""

from __future__ import annotations

import time
from email.utils import parsedate_to_datetime

__all__ = ["retry_after_s"]


def retry_after_s(text: str | None) -> float | None:
    """Return the seconds of a header that has a number or a date; None without any.

    The number may be negative, infinite or NaN: the caller bounds it.
    """
    if not text:
        return None
    try:
        return float(text)
    except ValueError:
        pass
    try:
        return parsedate_to_datetime(text).timestamp() - time.time()
    except (ValueError, OverflowError, TypeError, IndexError):  # no calendar has such a date
        return None
