"""The cache takes no more memory than its bound."""

from __future__ import annotations

import pytest

from agentool_otel.reading.sources.files import bounded_cache
from agentool_otel.reading.sources.files.bounded_cache import Interned


def test_stored_values_are_known() -> None:
    numbers = Interned[int]()
    numbers.put(b"a", 1)
    numbers.put(b"b", 2)
    assert numbers.known == {b"a": 1, b"b": 2}


@pytest.mark.parametrize(("limit", "value"), [("MANY", 3), ("MANY_BYTES", 30)])
def test_a_full_cache_forgets_everything(
    monkeypatch: pytest.MonkeyPatch, limit: str, value: int
) -> None:
    monkeypatch.setattr(bounded_cache, limit, value)
    numbers = Interned[int]()
    for number in range(100):
        numbers.put(f"{number:010}".encode(), number)
        assert len(numbers.known) <= 3
        assert numbers.known[f"{number:010}".encode()] == number
