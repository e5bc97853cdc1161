"""The prefilter in tests: compiled once for all of them, and the law that it has to obey.

python -m tests.prefilters 200000        the law, with a new seed
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from agentool_otel.content.masking import credentials
from agentool_otel.content.masking.prefilter import database, engine
from agentool_otel.content.masking.prefilter.look import _prefilter
from tests.security.mutated_texts import mutated_texts

__all__ = ["Law", "Look", "compiled_in", "in_force", "law", "look_from"]

Look = Callable[[bytes], bool]


def compiled_in(folder: Path) -> Path:
    """Return the database in a folder, which one of several processes compiles."""
    file = folder / database.path().name
    while database.read(file) is None:
        try:
            database.make(file)
        except database.Busy:
            time.sleep(0.2)
    return file


def look_from(file: Path) -> Look:
    """Return the look of a database."""
    data = database.read(file)
    assert data is not None
    return engine.loaded(data)


@contextmanager
def in_force(look: Look | None) -> Generator[None]:
    """Put a look before the exact search of this process, or take it away."""
    before, _prefilter.look = _prefilter.look, look
    credentials.HARMLESS.clear()
    try:
        yield
    finally:
        _prefilter.look = before


class Law(NamedTuple):
    """Counts of texts: what the exact search masks, the prefilter sees."""

    texts: int
    masked: int
    seen: int
    """Texts that are seen though nothing is masked in them."""
    missed: list[str]


def law(look: Look, seed: int, count: int) -> Law:
    """Compare a look with the exact search on texts near credentials."""
    texts = masked = seen = 0
    missed: list[str] = []
    with in_force(None):
        for text in mutated_texts(seed, count):
            texts += 1
            sees = look(text.encode("utf-8", "surrogatepass"))
            if credentials.mask_text(text) != text or credentials.masked(text) != text:
                masked += 1
                if not sees:
                    missed.append(text)
            else:
                seen += sees
    return Law(texts, masked, seen, missed)


def main(count: int) -> int:
    seed = random.SystemRandom().randrange(1 << 32)
    with tempfile.TemporaryDirectory() as folder:
        result = law(look_from(compiled_in(Path(folder))), seed, count)
    print(
        f"seed {seed}: {result.texts} texts, {result.masked} masked, {len(result.missed)} missed, "
        f"{result.seen} seen in vain"
    )
    for text in sorted(result.missed, key=len)[:20]:
        print(repr(text))
    return 1 if result.missed else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200_000))
