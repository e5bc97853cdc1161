"""An API of the table, and the function that adds one."""

from __future__ import annotations

import asyncio
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, NamedTuple

from tests.endings.reading import Reader

__all__ = ["APIS", "ASKED", "QUESTION", "Api", "add"]

QUESTION = "What is OpenTelemetry?"
ASKED: dict[str, Any] = {"messages": [{"role": "user", "content": QUESTION}]}

Use = Callable[[str, Reader], Any]


class Api(NamedTuple):
    """One way to call a model."""

    name: str
    kind: str
    """`whole`, `stream` or `helper`, and whether it is async."""
    needs: str
    """Module that has to be installed."""
    use: Use
    """Makes the call at a URL, and hands a stream to a reader."""

    @property
    def product(self) -> str:
        """Its name as environments select it with `-k`, e.g. `google_genai`."""
        return self.name.replace("-", "_")

    @property
    def is_async(self) -> bool:
        return self.kind.startswith("async")

    @property
    def streams(self) -> bool:
        return not self.kind.endswith("whole")

    @property
    def is_installed(self) -> bool:
        try:
            return find_spec(self.needs) is not None
        except ModuleNotFoundError:
            return False


APIS: list[Api] = []


def add(name: str, kind: str, needs: str) -> Callable[[Any], Any]:
    """Decorate a function that calls an API: it becomes a row of the table."""

    def decorate(use: Any) -> Any:
        if kind.startswith("async"):

            def run(url: str, reader: Reader) -> Any:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of streams that nobody closed
                    return asyncio.run(use(url, reader))

            APIS.append(Api(name, kind, needs, run))
        else:
            APIS.append(Api(name, kind, needs, use))
        return use

    return decorate
