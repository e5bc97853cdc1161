"""Skip a trace that fails; keep the others."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from traceback import walk_tb

from agentool_otel.errors import AgentoolError
from agentool_otel.ground import environment
from agentool_otel.ground.untrusted_text import logger
from agentool_otel.model.problems import Problem

__all__ = ["Report", "skip_on_error"]

Report = Callable[[Problem], None]
"""Takes what is wrong with a trace that was left out."""
_log = logger(__name__)


@contextmanager
def skip_on_error(
    trace_id: str, report: Report | None, loss: str = "left out, it could not be rebuilt"
) -> Generator[None]:
    """Skip the rest of a trace on an error, and report it: a file may contain anything, and the
    other traces in it are whole.

    Args:
        trace_id: the id of the trace.
        report: takes the problem; without it, it is logged as a warning.
        loss: what becomes of the trace then.

    Raises:
        AgentoolError: what is not the trace's fault, such as a full disk.
        Exception: anything, in our own tests (`AGENTOOL_OTEL_STRICT`).
    """
    try:
        yield
    except AgentoolError:
        raise
    except Exception as error:
        if environment.strict():
            raise
        words = " ".join(str(error).split())[:_LONGEST]
        problem = Problem(
            f"trace {trace_id}",
            f"{loss}: {type(error).__name__}: {words}; {_origin(error)}",
        )
        if report is None:
            _log.warning("agentool_otel: %s", problem)
        else:
            report(problem)


def _origin(error: Exception) -> str:
    """Return the name of the package that caused an error: the innermost that is not
    Python's own.
    """
    if isinstance(error, MemoryError):
        return "there is not enough memory for it"
    packages = [
        str(frame.f_globals.get("__name__")).partition(".")[0]
        for frame, _ in walk_tb(error.__traceback__)
    ]
    theirs = [name for name in packages if name not in sys.stdlib_module_names]
    if theirs and theirs[-1] != _OURS:
        return f"raised in {theirs[-1]}, which is no part of {_OURS}"
    return f"this is a fault of {_OURS}, please report it with the trace"


_OURS = __name__.partition(".")[0]
_LONGEST = 200
"""Characters of an error's words that are shown."""
