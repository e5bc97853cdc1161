"""The local files of ToolSmith: `tools.json`, `tasks.json` and saved runs.

A file is told by its list, `tools`, `tasks` or `results`, and by what ToolSmith requires beside it:
`name` and `version`, or the `id` of a run. What is written is told by the documents:
tools, cases, or traces with their results.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from agentool_otel.converters.kit.fields import Object, describe
from agentool_otel.errors import DecodeError
from agentool_otel.ground.json_codec import Json
from agentool_otel.integrations.toolsmith.converter.runs import read_run, write_run
from agentool_otel.integrations.toolsmith.converter.tasks import read_tasks, write_tasks
from agentool_otel.integrations.toolsmith.converter.tools import read_tools, write_tools
from agentool_otel.model.documents import (
    Document,
    EvalCase,
    EvalResult,
    ReasoningTrace,
    ToolRegistry,
    ToolSpec,
)

__all__ = ["ToolSmith"]

_READ: dict[str, Callable[[Object], list[Document]]] = {
    "tools": read_tools,
    "tasks": read_tasks,
    "results": read_run,
}
_WRITE: tuple[tuple[tuple[type[Document], ...], Callable[[Sequence[Document]], Object]], ...] = (
    ((ToolSpec, ToolRegistry), write_tools),
    ((EvalCase,), write_tasks),
    ((ReasoningTrace, EvalResult), write_run),
)
_BESIDE = {"tools": {"name", "version"}, "tasks": {"name", "version"}, "results": {"id"}}


def _kind_of(value: Json) -> str:
    """Return the member whose list a file is, of several the last one, else the one that should be
    a list; empty for no file."""
    names = [item for item in reversed(_READ) if isinstance(value, dict) and item in value]
    lists = [name for name in names if isinstance(value, dict) and isinstance(value[name], list)]
    return next(iter(lists or names), "")


class ToolSmith:
    """One file of any of the three kinds."""

    name = "toolsmith"
    lossless = True

    def recognises(self, value: Json) -> bool:
        requirement = _BESIDE.get(_kind_of(value))
        if requirement is None or not isinstance(value, dict) or "registry_id" in value:
            return False
        return requirement <= value.keys()

    def normal(self, value: Json) -> Json:
        return value

    def read(self, value: Json) -> list[Document]:
        kind = _kind_of(value)
        if isinstance(value, dict) and kind in _READ:
            return _READ[kind](value)
        raise DecodeError("an object with tools, tasks or results", describe(value))

    def write(self, documents: Sequence[Document]) -> Json:
        for kinds, write in _WRITE:
            if documents and all(isinstance(document, kinds) for document in documents):
                return write(documents)
        names = ", ".join(sorted({type(document).__name__ for document in documents})) or "nothing"
        raise DecodeError("tools, EvalCases, or ReasoningTraces with EvalResults", names)
