"""Cost of searching for credentials: in a megabyte of any text, and in the content of calls.

The texts are those of the security audit: some that make a careless search slow, some of every day.
"""

from __future__ import annotations

import base64
import json
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import orjson

from agentool_otel.content.masking.credentials import mask_text, masked
from benchmarks._child import in_child
from benchmarks._rounds import Compared, compared
from benchmarks._sizes import Size
from benchmarks._table import Row, Target
from benchmarks._workload import QUERY, ROWS

__all__ = ["rows"]

_MB = 1_000_000
_REPEATED = {
    "eyJ-": "",
    "password=": "",
    "secret=": "",
    ":// ": "@",
    "://a:b": "@",
    "Basic ": "",
    "github_pat_ ": "",
}
"""Beginnings of credentials that are none, and what ends the text."""
_CALLS = 2000


def rows(size: Size) -> Iterator[Row]:
    for key, values in in_child(measure, size.rounds, size.masked).items():
        target = Target("≤ 50 ms", 50, on="ours")
        yield Row.of(f"{key}, against json.dumps", "ms", Compared(*values), target)
    for key, values in in_child(measure_calls, size.rounds).items():
        yield Row.of(f"{key}, against orjson", "µs", Compared(*values))


def measure(rounds: int, characters: int) -> dict[str, Compared]:
    """Compare masking a text, and JSON that has it as a string, with encoding it."""
    measured: dict[str, Compared] = {}
    for key, text in _texts(characters).items():
        encoded = orjson.dumps({"result": text}).decode()
        for how, mask, value in (("text", mask_text, text), ("JSON", masked, encoded)):
            pairs = [(_ms(mask, value), _ms(json.dumps, value)) for _ in range(rounds + 1)]
            measured[f"{characters / _MB:g} MB of {key}, as {how}"] = compared(pairs[1:])
    return measured


def measure_calls(rounds: int) -> dict[str, Compared]:
    """Compare the search for credentials in ordinary calls with encoding them."""
    values = {"arguments of 100 bytes": {"query": QUERY, "limit": 5}, "a result of 1 KB": ROWS}
    return {
        key: compared([_of_calls(value) for _ in range(rounds + 1)][1:])
        for key, value in values.items()
    }


def _of_calls(value: Any) -> tuple[float, float]:
    text = orjson.dumps(value).decode()
    ours = [_ms(masked, text) for _ in range(_CALLS)]
    reference = [_ms(orjson.dumps, value) for _ in range(_CALLS)]
    return statistics.median(ours) * 1000, statistics.median(reference) * 1000


def _ms(run: Callable[[Any], object], value: Any) -> float:
    """Return CPU milliseconds."""
    start = time.thread_time_ns()
    run(value)
    return (time.thread_time_ns() - start) / 1e6


def _texts(characters: int) -> dict[str, str]:
    texts = {
        f"{unit!r} repeated": unit * (characters // len(unit)) + end
        for unit, end in _REPEATED.items()
    }
    texts["a site map with one e-mail address"] = _site_map(characters)
    texts["a GraphQL answer with cursors"] = _graph_ql(characters)
    return texts


def _site_map(characters: int) -> str:
    line = "<url><loc>https://www.example.org/articles/{:06}/its-title</loc></url>\n"
    urls = map(line.format, range(characters // len(line.format(0))))
    return f"{''.join(urls)}write to ada@example.org\n"


def _graph_ql(characters: int) -> str:
    def edge(number: int) -> dict[str, Any]:
        cursor = base64.b64encode(orjson.dumps({"id": number, "at": "2026-11-21T12:30:00Z"}))
        node = {"id": f"I_{number:06}", "title": f"Issue {number}", "state": "OPEN"}
        return {"cursor": cursor.decode(), "node": node}

    edges = [edge(number) for number in range(characters // len(orjson.dumps(edge(0))))]
    return orjson.dumps({"data": {"repository": {"issues": {"edges": edges}}}}).decode()
