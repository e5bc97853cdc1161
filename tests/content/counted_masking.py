"""Masking whose work is counted: the package's own modules, over text that counts.

They are loaded once more, with expressions that count their steps (`tests.regex_work`). Of a text
it is counted how many characters its methods go over, and what is made of it counts on.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from importlib.util import find_spec, module_from_spec
from typing import Any
from unittest.mock import patch

from agentool_otel.ground import lazy_re
from tests.regex_work import CountedPattern, Steps

__all__ = ["masking", "work"]

_ORDER = (
    *("secret_names", "references", "credential_shapes", "assignments", "command_lines"),
    *("grammars", "credentials"),
)
_MODULES = tuple(f"agentool_otel.content.masking.{name}" for name in _ORDER)
"""Each after those that it imports."""
_STEPS = Steps()


class CountedText(str):
    """Text of which each method counts the characters that it may go over."""

    __slots__ = ()

    def __contains__(self, part: object) -> bool:
        at = super().find(str(part))
        _STEPS.take(1 + (at if at >= 0 else len(self)))
        return at >= 0

    def __getitem__(self, at: Any) -> CountedText:
        return _counted(super().__getitem__(at))

    def find(self, part: str, *at: Any) -> int:
        return self._ahead(super().find(part, *at), *at)

    def rfind(self, part: str, *at: Any) -> int:
        rfind = super().rfind(part, *at)
        begins = at[0] if at else 0
        ends = at[1] if len(at) > 1 else len(self)
        _STEPS.take(1 + max(0, min(ends, len(self)) - (rfind if rfind >= 0 else begins)))
        return rfind

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:
        _STEPS.take(len(self))
        return super().encode(encoding, errors)

    def startswith(self, part: Any, *at: Any) -> bool:
        _STEPS.take(len(part))
        return super().startswith(part, *at)

    def split(self, sep: str | None = None, maxsplit: Any = -1) -> list[Any]:
        _STEPS.take(len(self))
        return [_counted(part) for part in super().split(sep, maxsplit)]

    def partition(self, sep: str) -> tuple[str, str, str]:
        _STEPS.take(len(self))
        before, result, behind = super().partition(sep)
        return _counted(before), result, _counted(behind)

    def count(self, part: str, *at: Any) -> int:
        _STEPS.take(len(self))
        return super().count(part, *at)

    def _ahead(self, number: int, begins: int = 0, ends: int = sys.maxsize) -> int:
        _STEPS.take(1 + (number if number >= 0 else min(ends, len(self))) - begins)
        return number


def _changing(name: str) -> Callable[..., CountedText]:
    method = getattr(str, name)
    return lambda self, *args: _counted(method(self, *args))


for _name in ("lower", "casefold", "replace", "strip", "rstrip", "lstrip"):
    setattr(CountedText, _name, _changing(_name))


def _counted(text: str) -> CountedText:
    _STEPS.take(len(text))
    return CountedText(text)


def _deep(value: Any) -> Any:
    """Return a JSON value whose texts count."""
    if isinstance(value, str):
        return CountedText(value)
    if isinstance(value, dict):
        return {key: _deep(inner) for key, inner in value.items()}
    return [_deep(inner) for inner in value] if isinstance(value, list) else value


def _load() -> Any:
    """Return the module of masking, loaded once more beside the one that everything else uses."""
    real = re.compile

    def compiled(*args: Any) -> Any:
        return CountedPattern(real(*args), _STEPS)

    module: Any = None
    with patch.dict(sys.modules), patch.object(lazy_re, "compile", compiled):
        for name in _MODULES:
            spec = find_spec(name)
            assert spec is not None
            assert spec.loader is not None
            sys.modules[name] = module = module_from_spec(spec)
            spec.loader.exec_module(module)
    cut, loads, dumps = module._cut, module.loads, module.dumps
    module._cut = lambda text, result: _counted(cut(text, result))
    module.loads = lambda text: _deep(loads(str(_counted(text))))
    module.dumps = lambda value: _counted(dumps(value))
    return module


masking = _load()


def work(text: str, most: int) -> int:
    """Return how many steps it takes to mask a text, as it is and as a string in JSON.

    Raises:
        TooMuchWork: it takes more than `most`.
    """
    total = 0
    encoded = json.dumps({"result": text}, ensure_ascii=False)
    for mask, value in ((masking.mask_text, text), (masking.masked, encoded)):
        masking.HARMLESS.clear()
        _STEPS.taken, _STEPS.most = 0, most - total
        mask(CountedText(value))
        total += _STEPS.taken
    return total
