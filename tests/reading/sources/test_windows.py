"""All of a window of time is read through a search that gives the first few, or the missing part is
reported.
"""

from __future__ import annotations

from collections.abc import Generator

from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.reading.sources.servers.windows import Window, search_window

DAY_NS = 86_400 * 10**9
STEP_NS = 1000


@given(
    times=st.lists(st.integers(0, 3 * DAY_NS) | st.integers(0, 9 * STEP_NS), max_size=40),
    cap=st.integers(1, 9),
)
def test_every_trace_is_found_or_the_overfull_instant_is_named(times: list[int], cap: int) -> None:
    named: list[Window] = []

    def search(window: Window) -> Generator[int, None, bool]:
        result = [
            n for n, time in enumerate(times)
            if window.since_ns <= time // STEP_NS * STEP_NS <= window.until_ns
        ][:cap]  # fmt: skip
        yield from result
        return len(result) == cap

    result = set(search_window(Window(0, 3 * DAY_NS), STEP_NS, search, named.append))
    missing = [time for n, time in enumerate(times) if n not in result]
    assert all(window.until_ns - window.since_ns == STEP_NS for window in named)
    for time in missing:
        assert any(window.since_ns <= time <= window.until_ns for window in named)


def test_a_quiet_window_takes_the_fewest_requests() -> None:
    windows: list[Window] = []

    def search(window: Window) -> Generator[int, None, bool]:
        windows.append(window)
        yield from ()
        return False

    window = Window(5, 2 * DAY_NS + 6)
    assert not list(search_window(window, 1, search, windows.append))
    assert not list(search_window(window, 1, search, windows.append, DAY_NS))
    assert windows == [
        window,
        (5, DAY_NS + 5),
        (DAY_NS + 5, 2 * DAY_NS + 5),
        (2 * DAY_NS + 5, 2 * DAY_NS + 6),
    ]
