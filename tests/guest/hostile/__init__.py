"""Values that break code which inspects them, as users really pass to tools and agents.

Nothing here is a test, and only the standard library is needed: kinds that belong to another
library are there when it is installed. Methods of the hostile classes note in `TOUCHED` that they
were called, because a guest has no business calling them; those named in `HANGS` make whoever calls
them wait for ever, so try them in a process of their own.

making            how the values are made, and who touched them
structures        plain values in odd shapes
standard_library  values of its types
stateful          iterators, locks, files, references
classes           objects that resent being looked at
libraries         values of pydantic, attrs, numpy, pandas, SQLAlchemy
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.guest.hostile import classes, libraries, standard_library, stateful, structures
from tests.guest.hostile.making import TOUCHED

__all__ = ["CORPUS", "HANGS", "TOUCHED"]

CORPUS: dict[str, Callable[[], Any]] = {
    **structures.KINDS,
    **standard_library.KINDS,
    **stateful.KINDS,
    **classes.KINDS,
    **libraries.KINDS,
}
"""Functions that make a fresh hostile value, by its oddity."""

HANGS = frozenset({"repr hangs", "iteration hangs", "attributes hang", "model dump hangs"})
"""Kinds that never answer when they are called."""
