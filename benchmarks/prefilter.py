"""Cost of looking at new text with the prefilter, against the exact search of the same text.

An engine that builds its automaton while it reads is fast only on text that it has read before. So
each text is new: a piece of 4 KB that occurs once.
"""

from __future__ import annotations

import base64
import json
import random
import re
import statistics
import sysconfig
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from agentool_otel.content.masking.credentials import mask_text
from agentool_otel.content.masking.prefilter import engine
from benchmarks._child import in_child
from benchmarks._rounds import Compared, compared
from benchmarks._sizes import Size
from benchmarks._table import Row, Target

__all__ = ["rows"]

_PIECE = 4096
_PIECES = 60
_SHORT = 130


def rows(size: Size) -> Iterator[Row]:
    if engine.installed() is None:
        return
    for key, (worst, values) in in_child(measure, size.rounds).items():
        target = Target("≤ 4 µs", 4, on="ours")
        yield Row.of(f"a kilobyte of new {key}", "µs", Compared(*values), target)
        yield Row(
            what=f"a kilobyte of new {key}, the slowest piece",
            unit="µs",
            ours=worst,
            target=Target("≤ 20 µs", 20, on="ours"),
        )
    values = in_child(measure_short, size.rounds)
    yield Row.of(f"{_SHORT} characters", "µs", Compared(*values), Target("not slower", 1.0))


def measure(rounds: int) -> dict[str, tuple[float, Compared]]:
    """Return, by corpus, the slowest piece and the mean of all against the exact search."""
    look = _look()
    measured: dict[str, tuple[float, Compared]] = {}
    for key, text in _corpora().items():
        cut = [text[at : at + _PIECE] for at in range(0, len(text) - _PIECE, _PIECE)]
        pieces = random.Random(key).sample(cut, min(len(cut), _PIECES))
        exact = [_us(mask_text, piece) / 4 for piece in pieces]
        per_round = [
            [_us(look, piece.encode()) / 4 for piece in pieces] for _ in range(max(3, rounds))
        ]
        fastest = [min(times) for times in zip(*per_round, strict=True)]
        mean = statistics.mean(exact)
        measured[key] = (
            max(fastest),
            compared([(statistics.mean(times), mean) for times in per_round]),
        )
    return measured


def measure_short(rounds: int) -> Compared:
    """Compare the look at short texts with the exact search of them."""
    look = _look()
    text = _corpora()["English"]
    pieces = [text[at : at + _SHORT] for at in range(0, _SHORT * 1000, _SHORT)]
    return compared(
        [
            (
                statistics.median(_us(look, piece.encode()) for piece in pieces),
                statistics.median(_us(mask_text, piece) for piece in pieces),
            )
            for _ in range(rounds)
        ]
    )


def _look() -> Callable[[bytes], bool]:
    from agentool_otel.content.masking.prefilter import database

    with TemporaryDirectory() as folder:
        return engine.loaded(database.make(Path(folder) / "benchmark.hs"))


def _us(run: Callable[..., object], value: object) -> float:
    """Return CPU microseconds."""
    start = time.thread_time_ns()
    run(value)
    return (time.thread_time_ns() - start) / 1e3


def _corpora() -> dict[str, str]:
    choose = random.Random("prefilter")
    modules = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))
    code = "\n".join(module.read_text("utf-8", "replace") for module in modules)
    return {
        "code": code,
        "English": "\n".join(re.findall(r'"""(.{200,}?)"""', code, re.DOTALL)),
        "minified code": re.sub(r"\s*([^\w\s])\s*", r"\1", code),
        "log": "".join(_log_line(choose) for _ in range(4000)),
        "CSV": "".join(
            f"{number},{choose.random():.6f},item {number % 97},ok\n" for number in range(20_000)
        ),
        "JSON": json.dumps(
            [{"id": n, "price": choose.random(), "name": f"item {n}"} for n in range(9000)]
        ),
        "base64": base64.b64encode(choose.randbytes(300_000)).decode(),
    }


def _log_line(choose: random.Random) -> str:
    return (
        f"2026-11-24T04:29:{choose.random() * 60:06.3f}Z INFO [worker-{choose.randrange(9)}] "
        f"id={choose.getrandbits(32):08x} path=/v1/items/{choose.randrange(9999)}?limit=50 "
        f"status={choose.choice((200, 404))} dur={choose.random() * 90:.1f}ms "
        f'key=items:{choose.randrange(999)} user-agent="curl/8.5" cache=miss\n'
    )
