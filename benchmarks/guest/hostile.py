"""The hostile corpus: every kind of value as argument and result of a tool.

All kinds go through one process for as long as it lives; the kind that hangs or ends it has its
cell, and a fresh process goes on behind it.

python -m benchmarks.guest.hostile SDK FIRST
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from typing import Any

from benchmarks.guest._table import Cell, no, partly, yes
from benchmarks.guest.sdks import Sdk, prepared

__all__ = ["MARK", "judge"]

MARK = "beside-7391"
"""An argument that is easy to record, next to the one that is not."""

_MEMORY = 6 << 30
"""Address space of the process: some kinds are endless."""


def judge(facts: dict[str, Any], spans: list[Any]) -> Cell:
    """Return the cell of one kind, from the facts about its call and its spans."""
    if "raised" in facts:
        return no(f"user's call fails: {facts['raised']}")
    if not facts["same"]:
        return no("the result is another")
    if not spans:
        return no("span lost")
    if facts["touched"]:
        return partly(f"calls {', '.join(facts['touched'][:2])} of the value")
    if not any(span.holds(MARK) for span in spans):
        return partly("no argument recorded")
    return yes()


def _main(name: str, first: str) -> None:
    from tests.guest.hostile import CORPUS, TOUCHED

    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(**description: Any) -> None:
        print(json.dumps(description), file=out, flush=True)

    with suppress(ImportError):  # elsewhere there is no such limit
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    sdk = prepared(name)
    for number, (kind, make) in enumerate(CORPUS.items()):
        if number >= int(first):
            value = make()
            say(number=number, kind=kind)
            TOUCHED.clear()
            facts = _call(sdk, f"kind_{number}_", value)
            facts["touched"] = sorted(set(TOUCHED))
            say(facts=facts)
            with suppress(Exception):
                sdk.flush()
            del value
    say(done=True)
    os._exit(0)


def _call(sdk: Sdk, name: str, value: Any) -> dict[str, Any]:
    def taking(value: Any, extra: str) -> Any:
        return value

    taking.__name__ = taking.__qualname__ = name
    try:
        return {"same": sdk.tool(taking)(value, MARK) is value}
    except BaseException as error:
        return {"raised": type(error).__name__}


if __name__ == "__main__":
    _main(*sys.argv[1:])
