"""Hyperscan, which looks for all patterns of the prefilter at once.

The library is optional: it has no build for some platforms. Nothing here loads it at import.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from agentool_otel.ground.integrations import installed_version

if TYPE_CHECKING:
    from agentool_otel.content.masking.prefilter.patterns import Look

__all__ = ["ENGINE", "build", "compiled", "installed", "loaded"]

ENGINE = "hyperscan"
"""The distribution, which is the module as well."""


def installed() -> str | None:
    """Return the installed version of the engine; None if it is missing."""
    return installed_version(ENGINE)


def build() -> str:
    """Return what a database is only valid for: the engine's version and the processor's features.

    Raises:
        ImportError: if the engine is missing or its library does not load.
    """
    import hyperscan

    sample = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    sample.compile(expressions=[b"a"], ids=[0], elements=1, flags=[0])
    return f"{installed()} {sample.info()!r}"


def compiled(looks: Iterable[Look]) -> bytes:
    """Compile a set of patterns into a database, without the GIL; it takes seconds.

    Raises:
        ImportError: as `build`.
        hyperscan.error: if a pattern is not accepted.
    """
    import hyperscan

    plain = hyperscan.HS_FLAG_DOTALL | hyperscan.HS_FLAG_SINGLEMATCH
    quiet = plain | hyperscan.HS_FLAG_QUIET
    combination = hyperscan.HS_FLAG_COMBINATION | hyperscan.HS_FLAG_SINGLEMATCH
    numbers: dict[tuple[str, int], int] = {}
    for look in looks:
        flags = plain if len(look.patterns) == 1 else quiet
        parts = [numbers.setdefault((pattern, flags), len(numbers)) for pattern in look.patterns]
        if flags == quiet:
            numbers.setdefault((" & ".join(map(str, parts)), combination), len(numbers))
    database = hyperscan.Database(mode=hyperscan.HS_MODE_BLOCK)
    database.compile(
        expressions=[pattern.encode() for pattern, _ in numbers],
        ids=list(numbers.values()),
        elements=len(numbers),
        flags=[flags for _, flags in numbers],
    )
    return hyperscan.dumpb(database)


def loaded(data: bytes) -> Callable[[bytes], bool]:
    """Return the look at a text, from a database: whether one of the patterns matches.

    The look may run in any thread, in a forked child, and in a signal handler. It returns True
    where the engine fails.

    Raises:
        ImportError: as `build`.
        hyperscan.error: if the database is not one, or of another version or processor.
    """
    import hyperscan

    database: Any = hyperscan.loadb(data, hyperscan.HS_MODE_BLOCK)
    stopped = hyperscan.error  # that it has matched is one of its errors
    idle = [hyperscan.Scratch(database)]
    """Memory that a look works in. A look that runs beside another one takes another."""
    scan, take, give_back = database.scan, idle.pop, idle.append

    def look(text: bytes) -> bool:
        try:
            scratch = take() if idle else hyperscan.Scratch(database)
            try:
                # The callback returns what stops the engine, in C: a signal handler of the program
                # cannot run in it.
                scan(text, max, context=1, scratch=scratch)
            finally:
                give_back(scratch)
        except (stopped, IndexError):  # another thread has taken the last memory
            return True
        return False

    return look
