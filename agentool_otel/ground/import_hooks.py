"""Calls that are made when a module is imported: before its code runs, or after it has run.

    before_import("openai", load)       # calls load()
    after_import("openai", attach)      # calls attach(module), at once if it has been imported
    before_first(["openai", "mcp"], start)  # calls start() once, which may import them itself

The standard library alone, and loaded by its path where this package must not be imported yet
(`cli/_bootstrap/sitecustomize.py`). A call that fails is logged, and the import goes on.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing `typing` takes as long as all the rest
    from collections.abc import Callable, Iterable
    from importlib.machinery import ModuleSpec
    from typing import Any

__all__ = ["after_import", "before_first", "before_import", "reach"]

_before: dict[str, list[Callable[[], object]]] = {}
_after: dict[str, list[Callable[[Any], object]]] = {}
_first: dict[str, Callable[[], object]] = {}
_loading: set[str] = set()
"""Modules whose code runs now, of those that somebody waits for."""


def before_import(name: str, call: Callable[[], object]) -> None:
    """Make a call before the code of a module runs. One that is imported already has no before."""
    _before.setdefault(name, []).append(call)
    _be_asked()


def after_import(name: str, call: Callable[[Any], object]) -> None:
    """Make a call with a module once its code has run, or at once if it has."""
    if name in sys.modules and name not in _loading:
        _make(name, [call], sys.modules[name])
        return
    _after.setdefault(name, []).append(call)
    _be_asked()


def before_first(names: Iterable[str], call: Callable[[], object]) -> None:
    """Make a call before the first of some modules is looked for. The call may import it."""
    names = tuple(names)
    calls = [call]

    def once() -> None:
        for name in names:
            _first.pop(name, None)
        try:
            first = calls.pop()
        except IndexError:  # another thread was first
            return
        first()

    for name in names:
        _first[name] = once
    _be_asked()


def reach(name: str) -> None:
    """Make the call of `before_first` for a module that another finder may have found."""
    if (call := _first.get(name)) is not None:
        _make(name, [call])


def _be_asked() -> None:
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)


def _make(name: str, calls: Iterable[Callable[..., object]], *module: Any) -> None:
    for call in calls:
        try:
            call(*module)
        except Exception:  # the import is the program's
            from agentool_otel.ground.untrusted_text import logger

            log = logger("agentool_otel")
            log.warning("a callback for the import of %s failed", name, exc_info=True)


class _Finder:
    """Finds modules through the other finders, and wraps their loaders."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        if name in _first:
            reach(name)
            if name in sys.modules:
                return _present(sys.modules[name])
        if name not in _before and name not in _after:
            return None
        for finder in list(sys.meta_path):
            find = None if finder is self else getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = None if find is None else find(name, path, target)
            if spec is None:
                continue
            if spec.origin is None or not hasattr(spec.loader, "exec_module"):
                _make(name, _before.pop(name, ()))  # a namespace has no code that could run
            else:
                loader: Any = _Loader(spec.loader)
                spec.loader = loader
            return spec
        return None


class _Loader:
    """The loader of a module that a callback waits for."""

    def __init__(self, loader: Any):
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        name = module.__name__
        module.__loader__ = module.__spec__.loader = self._loader
        _loading.add(name)
        try:
            _make(name, _before.pop(name, ()))
            self._loader.exec_module(module)
        finally:
            _loading.discard(name)
        _make(name, _after.pop(name, ()), module)


def _present(module: Any) -> ModuleSpec:
    """Return a spec of a module that has been imported while it was looked for.

    The import system takes the spec that the module has by then, and loads by it once more.
    Source: CPython 3.10 to 3.14, `Lib/importlib/_bootstrap.py`, `_find_spec`.
    """
    before: ModuleSpec = module.__spec__
    spec: Any = object.__new__(type(before))
    vars(spec).update(vars(before), loader=_Present(module, before))
    module.__spec__ = spec
    module_spec: ModuleSpec = spec
    return module_spec


class _Present:
    """A loader that gives the module there is, as it is."""

    def __init__(self, module: Any, spec: ModuleSpec):
        self._module = module
        self._spec = spec

    def __getattr__(self, name: str) -> Any:
        return getattr(self._spec.loader, name)

    def create_module(self, spec: ModuleSpec) -> Any:
        return self._module

    def exec_module(self, module: Any) -> None:
        module.__spec__ = self._spec


_finder: Any = _Finder()
