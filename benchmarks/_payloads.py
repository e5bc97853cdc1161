"""Four kinds of text that tools and models return, new in every call.

What a traced call costs depends on the text: a search for secrets looks closer at quotes, dashes
and equals signs. `rows` has next to none of them; the others have what English, logs and code have.
A text that comes again would flatter whatever remembers what it has read. So each kind is a
megabyte from which a call takes its own piece.
"""

from __future__ import annotations

import random
import re
import sysconfig
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

__all__ = ["NAMES", "messages", "result", "texts"]

_SIZE = 1 << 20
_MODULES = 120
"""Modules of the standard library that are read."""
_SNIPPETS = 5
_SNIPPET = {"rows": 110}
"""Characters of each snippet of a result, by payload; 200 for the others."""
_MESSAGES = 20
_MESSAGE = 2_048


def _rows(chance: random.Random) -> str:
    return (
        f"order {chance.randrange(10**7)} of {chance.choice(_PLACES)}, {chance.randrange(90)} "
        f"boxes at {chance.random() * 900:.2f} EUR, tide {chance.random() * 6:.1f} m; "
    )


_PLACES = ("Aveiro", "Bergen", "Cork", "Dover", "Esbjerg", "Faro", "Gdansk", "Hamburg")


def _log(chance: random.Random) -> str:
    return (
        f"2026-03-02T08:15:{chance.random() * 60:06.3f}Z {chance.choice(('INFO', 'WARN'))} "
        f"[pool-{chance.randrange(9)}] conn={chance.getrandbits(24):06x} method=PUT "
        f"url=/api/v2/boxes/{chance.randrange(10**5)}?dry=1 code={chance.choice((200, 409))} "
        f'took={chance.random() * 90:.1f}ms etag="W/{chance.getrandbits(20):x}" '
        f"key=box:{chance.randrange(999)} user=guest\n"
    )


def _repeated(line: Callable[[random.Random], str]) -> str:
    chance = random.Random(7)
    return "".join(line(chance) for _ in range(_SIZE // 60))[:_SIZE]


def _modules() -> str:
    paths = sorted(Path(sysconfig.get_paths()["stdlib"]).glob("*.py"))[:_MODULES]
    return "\n".join(path.read_text("utf-8", errors="replace") for path in paths)


def _english() -> str:
    return "\n".join(re.findall(r'"""(.{200,}?)"""', _modules(), re.DOTALL))[:_SIZE]


_TEXTS: dict[str, Callable[[], str]] = {
    "rows": lambda: _repeated(_rows),
    "english": _english,
    "log": lambda: _repeated(_log),
    "code": lambda: _modules()[:_SIZE],
}

NAMES = tuple(_TEXTS)


@cache
def _text(name: str) -> str:
    return _TEXTS[name]()


def result(name: str) -> list[dict[str, Any]]:
    """Return the first result of a search: rows with a snippet of the text each."""
    length = _SNIPPET.get(name, 200)
    return [
        {
            "url": f"https://example.org/page/{number}",
            "title": f"Page {number} of the answer",
            "snippet": _text(name)[number * length : (number + 1) * length],
        }
        for number in range(_SNIPPETS)
    ]


def messages(name: str) -> list[dict[str, str]]:
    """Return the first conversation of 40 KB: messages of a user and a model in turns."""
    return [
        {
            "role": ("user", "assistant")[number % 2],
            "content": _text(name)[number * _MESSAGE : (number + 1) * _MESSAGE],
        }
        for number in range(_MESSAGES)
    ]


def texts() -> dict[str, Any]:
    """Return every payload, as a worker takes it: the first result and conversation, and the text
    from which further ones take their pieces."""
    return {
        name: {
            "result": result(name),
            "messages": messages(name),
            "answer": _text(name)[:400],
            "text": _text(name),
        }
        for name in NAMES
    }
