"""Rebuilt traces of every recording, to compare before and after a change.

    python -m tests.rebuilt_traces before.jsonl          writes the traces and notes
    python -m tests.rebuilt_traces before.jsonl after.jsonl     compares two such files

Inputs are the recordings in `tests/fixtures`, 2,000 trees of spans without any sense and 100
programs of up to 20 loops at once. Each difference has a reason, or is a fault. Exit 1 if there are
any.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec.structs import asdict

from agentool_otel.loading import rebuild
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.opening import open_source
from tests.reading.rebuild.loops import Loops
from tests.reading.rebuild.test_wild_trees import _Wild

FIXTURES = Path(__file__).parent / "fixtures"
TREES = 2_000
PROGRAMS = 100


def inputs() -> Iterator[tuple[str, list[SpanRecord]]]:
    """Yield each input by its name."""
    for path in sorted(FIXTURES.rglob("*")):
        if path.is_file() and path.suffix != ".py":
            try:
                spans = list(open_source(path).spans())
            except Exception:  # not a recording
                continue
            if spans:
                yield str(path.relative_to(FIXTURES)), spans
    for number in range(TREES):
        yield f"tree {number}", _Wild(random.Random(number)).spans()
    for number in range(PROGRAMS):
        chance = random.Random(number)
        program = Loops(chance, 1 + number % 20, below=number % 3 == 0)
        yield f"program {number}", chance.sample(program.spans, len(program.spans))


def rebuilt(spans: list[SpanRecord]) -> list[Any]:
    """Return each trace with its notes, as JSON, by id: runs that wait come later."""
    return [
        {"trace": item.trace.to_dict(), "notes": [asdict(note) for note in item.fidelity.notes]}
        for item in sorted(rebuild(spans), key=lambda item: item.trace_id)
    ]


def main(arguments: list[str]) -> int:
    if len(arguments) == 1:
        with Path(arguments[0]).open("w") as file:
            for name, spans in inputs():
                print(json.dumps([name, rebuilt(spans)], default=str), file=file)
        return 0
    before, after = (
        dict(map(json.loads, Path(path).read_text(encoding="utf-8").splitlines()))
        for path in arguments
    )
    differing = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    for name in differing:
        print(f"--- {name}")
        lines = [json.dumps(item.get(name), indent=1).splitlines() for item in (before, after)]
        print(*_changes(*lines), sep="\n")
    print(f"{len(differing)} of {len(after)} inputs differ", file=sys.stderr)
    return 1 if differing else 0


def _changes(before: list[str], after: list[str]) -> list[str]:
    from difflib import unified_diff

    return list(unified_diff(before, after, n=2, lineterm=""))[2:80]


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
