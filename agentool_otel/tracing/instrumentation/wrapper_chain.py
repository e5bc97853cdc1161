"""Find other wrappers of a function that we wrap.

Tracing packages wrap the same few functions. Python keeps no record of the wrappers, but a
wrapper's own code shows where it was defined.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from typing import Any

__all__ = ["foreign_wrappers", "layers"]

_DEEPEST = 32
"""Wrappers that are followed; a chain that is longer is most likely a circle."""


def layers(function: Any) -> Iterator[Any]:
    """Yield a function and the functions it wraps, outermost first."""
    for _ in range(_DEEPEST):
        yield function
        function = getattr(function, "__wrapped__", None)
        if function is None:
            return


def foreign_wrappers(module: str, target: str) -> list[str]:
    """Return the modules, other than ours and the library's, whose wrappers a call passes.

    A wrapper of the standard library is the library's own: `asynccontextmanager`, for example.

    Args:
        module: of the library; it is not imported for this.
        target: attribute path inside it, e.g. `Completions.create`.
    """
    function: Any = sys.modules.get(module)
    for name in target.split("."):
        function = getattr(function, name, None)
    packages = {__name__.partition(".")[0], module.partition(".")[0], *sys.stdlib_module_names}
    homes = (_home(layer) for layer in layers(function) if function is not None)
    wrappers = [home for home in homes if home and home.partition(".")[0] not in packages]
    return list(dict.fromkeys(wrappers))


def _home(layer: Any) -> str | None:
    """Return the module that a layer's code is from; `__module__` is copied from the wrapped
    function.
    """
    wrapper = getattr(layer, "_self_wrapper", layer)  # what a wrapt wrapper calls
    while isinstance(wrapper, functools.partial):
        wrapper = wrapper.func
    wrapper = getattr(wrapper, "__func__", wrapper)
    space = getattr(wrapper, "__globals__", None)
    home = space.get("__name__") if isinstance(space, dict) else type(wrapper).__module__
    return home if isinstance(home, str) and home != "builtins" else None
