"""Base of all instrumentors: patch table, single installation, switching off, reports.

A framework file holds only *where* (its patches) and *what* (one function per patch that makes an
operation of a call). A patch is put back only while it is the outermost: restoring a saved original
from below other tools' wrappers would remove those too, so there it is switched off instead.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple

from agentool_otel.ground.attached import Attached
from agentool_otel.ground.import_hooks import after_import
from agentool_otel.ground.untrusted_text import logger
from agentool_otel.tracing.instrumentation.options import InstrumentorOptions, parse_options
from agentool_otel.tracing.instrumentation.wrapper_chain import foreign_wrappers, layers
from agentool_otel.tracing.spans.native_spans import cover, uncover

__all__ = ["AgentInstrumentor", "Attached", "Patch"]

_log = logger(__name__)

Wrapper = Callable[[Callable[..., Any], Any, "tuple[Any, ...]", "dict[str, Any]"], Any]
"""wrapt's signature: wrapped function, instance, positional and keyword arguments."""


class Patch(NamedTuple):
    """One function of a framework and its wrapper.

    `optional` marks a target that some supported versions do not have.
    """

    module: str
    target: str
    """Attribute path inside the module, e.g. `Completions.create`."""
    wrapper: Wrapper
    optional: bool = False


class _Place(NamedTuple):
    """Place of a wrapper of ours, and the original there."""

    owner: Any
    attribute: str
    original: Any
    wrapper: Any

    def outermost(self) -> bool:
        return vars(self.owner).get(self.attribute) is self.wrapper

    def removed(self) -> bool:
        """Return whether the original was put back. A wrapper above ours may hide it, so not
        finding ours proves nothing.
        """
        present = vars(self.owner).get(self.attribute)
        return any(each is present for each in layers(self.original))


class AgentInstrumentor:
    """Base of all instrumentors; also the entry point for `opentelemetry-instrument`.

    Source of the entry-point contract: opentelemetry-instrumentation, `BaseInstrumentor`; only
    `instrument`, `uninstrument` and `instrumentation_dependencies` are called on one.
    """

    framework: ClassVar[str]
    """Distribution whose presence decides whether there is anything to do."""
    supports: ClassVar[tuple[str, ...]] = ()
    """Requirements of the versions the patches are known to fit."""
    patches: ClassVar[tuple[Patch, ...]] = ()
    native_scopes: ClassVar[tuple[str, ...]] = ()
    """Scopes under which the library writes spans of itself, of calls that the patches cover."""
    passed: ClassVar[tuple[tuple[str, str], ...]] = ()
    """Further functions, module and path, that a recorded call passes and other tools wrap."""
    options: ClassVar[type[InstrumentorOptions]] = InstrumentorOptions
    """Options that `instrument()` and `uninstrument()` accept."""

    _instance: ClassVar[AgentInstrumentor | None] = None
    _installed: bool
    enabled: bool
    attached: dict[str, Attached]
    _places: dict[str, _Place]

    def __new__(cls, *args: Any, **kwargs: Any) -> AgentInstrumentor:
        if cls.__dict__.get("_instance") is None:
            created = object.__new__(cls)
            created._installed = False
            created.enabled = False
            created.attached = {}
            created._places = {}
            cls._instance = created
            uncover(cls.framework, cls.native_scopes)  # known from here on
        instance = cls._instance
        assert instance is not None
        return instance

    def instrumentation_dependencies(self) -> tuple[str, ...]:
        return self.supports

    @property
    def version(self) -> str | None:
        """Installed version of the framework, None if it is not installed or cannot be read.

        Where the distribution is not there but its package can be imported, the version of the
        distribution that has it: `fastmcp-slim` brings the package of `fastmcp`.
        """
        try:
            return importlib.metadata.version(self.framework)
        except importlib.metadata.PackageNotFoundError:
            return _version_of(self.patches)
        except OSError:
            return None

    def others(self) -> dict[str, list[str]]:
        """Return the functions that other tools have wrapped as well, and the modules that did."""
        places = [(patch.module, patch.target) for patch in self.patches]
        wrappers = {
            f"{module}.{target}": self._foreign_wrappers(module, target)
            for module, target in (*places, *self.passed)
        }
        return {name: modules for name, modules in wrappers.items() if modules}

    def _foreign_wrappers(self, module: str, target: str) -> list[str]:
        package = type(self).__module__.partition(".")[0]  # of an instrumentor outside this package
        return [
            item for item in foreign_wrappers(module, target) if item.partition(".")[0] != package
        ]

    def instrument(self, **options: Any) -> None:
        """Attach to the framework, now or as soon as it is imported. Calling twice is calling once.

        Args:
            options: those that `self.options` declares.

        Raises:
            ConfigurationError: an option is not known; nothing is changed then.
        """
        chosen = self._parsed(options)
        if chosen.tracer_provider is not None:
            from agentool_otel.tracing.spans.settings import settings

            settings.configure(provider=chosen.tracer_provider)
        if chosen.meter_provider is not None:
            from agentool_otel.tracing.spans import metrics

            metrics.configure(chosen.meter_provider)
        self.enabled = True
        if not self._installed:
            self._installed = True
            self._install()
        else:
            self._attach_again()
        self._cover_native_spans()

    def _cover_native_spans(self) -> None:
        """Replace the library's own spans, unless a patch that they stand for is not in place."""
        unfit = any(item.state in ("missing", "failed") for item in self.attached.values())
        change = uncover if unfit or not self.enabled else cover
        change(self.framework, self.native_scopes)

    def _parsed(self, options: dict[str, Any]) -> InstrumentorOptions:
        return parse_options(self.options, type(self).__name__, options)

    def uninstrument(self, **options: Any) -> None:
        """Restore functions that nobody has wrapped since; other wrappers stay and let every call
        pass.

        Raises:
            ConfigurationError: an option is not known; nothing is changed then.
        """
        self._parsed(options)
        self.enabled = False
        self._cover_native_spans()
        for name, place in list(self._places.items()):
            if place.outermost():
                setattr(place.owner, place.attribute, place.original)
                del self._places[name]
                self.attached[name] = Attached(name, "detached")

    def _attach_again(self) -> None:
        """Attach patches that were restored, or removed by other tools with their own wrapper."""
        for patch in self.patches:
            name = _name(patch)
            place = self._places.get(name)
            lost = self.attached[name].state == "detached" if place is None else place.removed()
            if lost and patch.module in sys.modules:
                self._attach(sys.modules[patch.module], patch)

    def _install(self) -> None:
        """Attach all patches independently; one that fails does not keep the others out."""
        for module in dict.fromkeys(patch.module for patch in self.patches):
            mine = tuple(patch for patch in self.patches if patch.module == module)
            for patch in mine:
                self.attached[_name(patch)] = Attached(_name(patch), "waiting")
            if module not in sys.modules and not _exists(module):
                for patch in mine:
                    self.attached[_name(patch)] = Attached(_name(patch), "missing", "not installed")

            def attach_all(imported: Any, mine: tuple[Patch, ...] = mine) -> None:
                for patch in mine:
                    self._attach(imported, patch)
                self._cover_native_spans()

            after_import(module, attach_all)

    def _attach(self, module: Any, patch: Patch) -> None:
        """Put one patch into place. A target that is not as known is left as it is."""
        name = _name(patch)
        try:
            state, detail = self._wrap(module, patch)
        except Exception as error:  # the framework's import, and the other patches, go on
            state, detail = "failed", f"{type(error).__name__}: {error}"
            _log.warning("agentool_otel could not attach to %s", name)
        self.attached[name] = Attached(name, state, detail)

    def _wrap(self, module: Any, patch: Patch) -> tuple[str, str]:
        """Return the state of the patch, and more about it."""
        from wrapt import resolve_path

        from agentool_otel.tracing.instrumentation.patched import Patched

        try:
            owner, attribute, original = resolve_path(module, patch.target)
        except AttributeError:
            state = "missing" if not patch.optional else "absent"
            return state, f"not in {self.framework} {self.version}"
        if attribute not in vars(owner):
            # Inherited: wrapping it here would leave a copy that hides the parent's.
            return "inherited", ""
        original = self._unwrapped(vars(owner)[attribute])
        wrapper = Patched(original, patch.wrapper, lambda: self.enabled)
        wrapper._self_place = (owner, attribute)
        setattr(owner, attribute, wrapper)
        self._places[_name(patch)] = _Place(owner, attribute, original, wrapper)
        return "attached", ""

    def _unwrapped(self, function: Any) -> Any:
        """Return the original of a function: a class may hold a copy of a function of another
        class, wrapped as it was when the copy was made.
        """
        source = getattr(function, "_self_parent", None)
        return next(
            (place.original for place in self._places.values() if place.wrapper is source), function
        )


def _version_of(patches: tuple[Patch, ...]) -> str | None:
    """Return the version of the distribution that has the package of some patches."""
    package = patches[0].module.partition(".")[0] if patches else ""
    try:
        spec = importlib.util.find_spec(package) if package else None
        if spec is None or spec.origin is None:  # not there, or a namespace that several share
            return None
        for distribution in importlib.metadata.packages_distributions().get(package, ()):
            return importlib.metadata.version(distribution)
    except (ImportError, ValueError, OSError):
        return None
    return None


def _name(patch: Patch) -> str:
    return f"{patch.module}.{patch.target}"


def _exists(module: str) -> bool:
    """True if a module's package can be imported; an empty folder of that name does not count.

    Of a namespace package, which has no code of its own, the part below it has to exist:
    `langgraph` is one. Looking for that imports the namespace, which runs nothing.
    """
    package, _, remainder = module.partition(".")
    while True:
        try:
            spec = importlib.util.find_spec(package)
        except (ImportError, ValueError):
            return False
        if spec is None or spec.origin is not None or not remainder:
            return spec is not None and spec.origin is not None
        head, _, remainder = remainder.partition(".")
        package = f"{package}.{head}"
