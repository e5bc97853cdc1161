"""Eval sets of other packages that are read as cases, ours and third parties': entry points of the
group `agentool_otel.cases`, each a class."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, Protocol

from agentool_otel.evaluation.cases.entries import Entry
from agentool_otel.ground.json_places import Path
from agentool_otel.ground.plugins import load_plugins, plugins

__all__ = ["EvalSets", "eval_set_names", "eval_sets_of"]


class EvalSets(Protocol):
    """The eval sets of one package."""

    def recognises(self, value: Any) -> bool:
        """Return whether a JSON value is such an eval set."""
        ...

    def entries(self, value: Any, path: Path = ()) -> Iterator[Entry]:
        """Yield the cases of an eval set as EvalCase objects; anything else comes with its fault.

        Args:
            value: the eval set.
            path: where it stands in its document.
        """
        ...


def eval_set_names() -> list[str]:
    """Return the names of the packages whose eval sets are read."""
    return sorted(plugins("agentool_otel.cases"))


@cache
def _installed_readers() -> tuple[EvalSets, ...]:
    return tuple(kind() for kind in load_plugins("agentool_otel.cases").values())


def eval_sets_of(value: Any) -> EvalSets | None:
    """Return the package whose eval set a value is; None if it is none."""
    return next((reader for reader in _installed_readers() if reader.recognises(value)), None)
