"""The frameworks of `doctor`: our patches, and the spans that others write by themselves."""

from __future__ import annotations

import importlib
import importlib.metadata
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.text import Text

from agentool_otel.cli import _text
from agentool_otel.cli._output import collect_warnings
from agentool_otel.ground.integrations import Library, Mount, installed_version, integrations
from agentool_otel.tracing.capture import threads
from agentool_otel.tracing.setup.frameworks import instrumentors
from agentool_otel.tracing.spans.native_spans import is_covered

if TYPE_CHECKING:
    from agentool_otel.tracing.instrumentation.instrumentor import AgentInstrumentor

__all__ = [
    "GOOD",
    "frameworks",
    "mounting",
    "not_instrumented",
    "print_frameworks",
    "thread_patches",
]

GOOD = frozenset({"attached", "absent", "inherited"})
"""States of a patch with which nothing is wrong."""
_OWN_SPANS = {
    "on": "its own spans are recorded",
    "some": "some of its own spans are recorded",
    "off": "its own spans are off",
    "none": "it has no spans of its own",
}


def frameworks() -> list[dict[str, Any]]:
    """Attach to every installed framework in this process and report how that went."""
    entries: list[dict[str, Any]] = []
    switches = {
        library.distribution: library.switch
        for library in _libraries()
        if library.own_spans is None
    }
    with collect_warnings("agentool_otel") as logged:
        by_name = instrumentors()
    for message in logged:
        entries.append({"name": message.split()[1], "error": message})
    for name, instrumentor in sorted(by_name.items()):
        entry: dict[str, Any] = {
            "name": name,
            "installed": instrumentor.version,
            "supports": list(instrumentor.supports),
        }
        entries.append(entry)
        if instrumentor.version is None:
            continue
        entry["unsupported"] = _unsupported(instrumentor)
        entry["instrumented_by"] = _instrumentors_of(name)
        try:
            instrumentor.instrument()
        except Exception as error:
            entry["error"] = f"{type(error).__name__}: {error}"
            continue
        _import({patch.module for patch in instrumentor.patches})
        waiting = [patch for patch in instrumentor.attached.values() if patch.state == "waiting"]
        _import({patch.target for patch in waiting})
        optional = {
            f"{patch.module}.{patch.target}" for patch in instrumentor.patches if patch.optional
        }
        entry["patches"] = [
            {
                "target": patch.target,
                "state": "absent"
                if patch.target in optional and patch.state in ("waiting", "missing")
                else patch.state,
                "detail": patch.detail,
            }
            for patch in instrumentor.attached.values()
        ]
        entry["replaces"] = [
            native_scope for native_scope in instrumentor.native_scopes if is_covered(native_scope)
        ]
        entry["switch"] = switches.get(name)
        entry["others"] = instrumentor.others()
        instrumentor.uninstrument()
    return entries


def _unsupported(instrumentor: AgentInstrumentor) -> list[str]:
    """Return the requirements that an installed version does not meet."""
    from packaging.requirements import InvalidRequirement, Requirement

    unmet: list[str] = []
    for text in instrumentor.supports:
        with suppress(InvalidRequirement):  # of an instrumentor of another package
            requirement = Requirement(text)
            version = installed_version(requirement.name) or instrumentor.version or ""
            if not requirement.specifier.contains(version, prereleases=True):
                unmet.append(f"{requirement.name} {version} is not {requirement.specifier}")
    return unmet


def mounting() -> list[dict[str, Any]]:
    """Return the frameworks that load a module of ours, and whether they will find it."""
    return [
        {
            "name": name,
            "installed": installed_version(mount.distribution),
            "supports": [mount.supports],
            "module": mount.module,
            "how": mount.how,
            "error": _why_not_loaded(mount),
        }
        for name, product in integrations().items()
        if (mount := product.mount) is not None
    ]


def _libraries() -> list[Library]:
    """Return the libraries of all products, sorted by name."""
    libraries = (library for product in integrations().values() for library in product.libraries)
    return sorted(libraries, key=lambda library: library.distribution)


def _why_not_loaded(framework: Mount) -> str | None:
    points = importlib.metadata.entry_points(group=framework.group, name=framework.module)
    if not points:
        return f"{framework.module} is not announced to it: install this package beside it"
    try:
        next(iter(points)).load()
    except Exception as error:
        return f"{framework.module}: {type(error).__name__}: {error}"
    return None


def thread_patches() -> list[dict[str, str]]:
    """Attach to threads and pools in this process and report how that went."""
    _import({"concurrent.futures.process", "multiprocessing.pool", "multiprocessing.process"})
    threads.carry_into_threads()
    try:
        return [patch._asdict() for patch in threads.patches()]
    finally:
        threads.stop_carrying()


def not_instrumented() -> list[dict[str, Any]]:
    """Return the installed frameworks that no instrumentor, ours or of a plug-in, is for."""
    own_names = {instrumentor.framework for instrumentor in instrumentors().values()}
    entries: list[dict[str, Any]] = []
    for library in _libraries():
        version = None if library.own_spans is None else installed_version(library.distribution)
        if version is not None and library.distribution not in own_names:
            entry = {"name": library.distribution, "installed": version, "spans": library.own_spans}
            entries.append(
                {**entry, "switch": library.switch, "instrumented_by": library.traced_by}
            )
    return entries


def _import(modules: set[str]) -> None:
    """Import modules that can be imported, so that patches waiting for them attach."""
    for module in sorted(modules):
        with suppress(Exception):  # some versions lack it; the state of the patch says so
            importlib.import_module(module)


def _instrumentors_of(framework: str) -> list[dict[str, str]]:
    """Return other packages' OpenTelemetry instrumentors of a framework, which may be off."""
    return [
        {"name": point.dist.name, "version": point.dist.version, "as": point.value}
        for point in importlib.metadata.entry_points(group="opentelemetry_instrumentor")
        if point.name == framework and point.dist is not None
    ]


def print_frameworks(console: Console, report: dict[str, Any], verbose: bool) -> None:
    """Print a line for each framework, and every patch if `verbose`."""
    missing: list[str] = []
    for framework in report["frameworks"]:
        if framework.get("installed") is None and not framework.get("error"):
            supports = ", ".join(framework["supports"]) or "any version"
            missing.append(f"{framework['name']} ({supports})" if verbose else framework["name"])
        else:
            _print_framework(console, framework, verbose)
    for framework in report["mounting"]:
        if framework["installed"] is None:
            supports = framework["supports"][0]
            missing.append(f"{framework['name']} ({supports})" if verbose else framework["name"])
        else:
            _print_mounting(console, framework)
    _print_threads(console, report["threads"], verbose)
    for framework in report["not_instrumented"]:
        _print_other(console, framework)
    if missing:
        text = Text(f"  - not installed: {', '.join(missing)}", "dim")
        console.print(text, soft_wrap=True)


def _print_threads(console: Console, patches: list[dict[str, str]], verbose: bool) -> None:
    wrong = [patch for patch in patches if patch["state"] not in GOOD]
    mark, style = ("✗", "red") if wrong else ("✓", "green")
    name = (f"{'threads':<14}", "bold")
    summary = f"and pools keep their context, {len(patches) - len(wrong)} functions wrapped"
    console.print(Text.assemble("  ", (f"{mark} ", style), name, summary), soft_wrap=True)
    _print_patches(console, patches if verbose else wrong)


def _print_mounting(console: Console, framework: dict[str, Any]) -> None:
    mark, style = ("✗", "red") if framework["error"] else ("✓", "green")
    supports = f"{framework['installed']} (supports {framework['supports'][0]}), "
    status = _text.line(framework["error"]) if framework["error"] else f"by {framework['how']}"
    name = (f"{framework['name']:<14}", "bold")
    console.print(Text.assemble("  ", (f"{mark} ", style), name, supports, status), soft_wrap=True)


def _print_patches(console: Console, patches: list[dict[str, str]]) -> None:
    for patch in patches:
        good = patch["state"] in GOOD
        style = "dim" if patch["state"] == "absent" else "" if good else "red"
        state = f"{patch['state'] if good else patch['state'].upper():<10}"
        detail = f"  {_text.line(patch['detail'])}" if patch["detail"] else ""
        line = Text.assemble("      ", (state, style), (patch["target"], style), (detail, "dim"))
        console.print(line, soft_wrap=True)


def _print_other(console: Console, framework: dict[str, Any]) -> None:
    parts = [f"not instrumented; {_OWN_SPANS[framework['spans']]}"]
    if framework["switch"] is not None:
        parts.append(framework["switch"])
    if (other := framework["instrumented_by"]) is not None:
        present = installed_version(other)
        version = "" if present is None else f" {present}"
        where = "" if present is None else " where it is switched on"
        parts.append(f"{other}{version} writes spans that are read{where}")
    if framework["spans"] == "none":
        parts.append("or decorate with agentool_otel.agent and agentool_otel.tool")
    name = (f"{framework['name']:<13} ", "bold")
    head = Text.assemble("  ", ("! ", "yellow"), name, f"{framework['installed']}, {parts[0]}")
    console.print(head, soft_wrap=True)
    if parts[1:]:
        console.print(Text(f"      {'; '.join(parts[1:])}", "dim"), soft_wrap=True)


def _print_framework(console: Console, framework: dict[str, Any], verbose: bool) -> None:
    def line(*parts: str | tuple[str, str]) -> None:
        console.print(Text.assemble("  ", *parts), soft_wrap=True)

    name = f"{framework['name']:<14}"
    if framework.get("error"):
        line(name, (f"✗ {_text.line(framework['error'])}", "red"))
        return
    supports = ", ".join(framework["supports"]) or "any version"
    patches: list[dict[str, str]] = framework["patches"]
    wrong = [patch for patch in patches if patch["state"] not in GOOD]
    unsupported: list[str] = framework["unsupported"]
    mark, style = ("✗", "red") if wrong else ("✓", "green")
    if unsupported and not wrong:
        mark, style = "!", "yellow"
    wrapped = sum(patch["state"] == "attached" for patch in patches)
    version = f"{framework['installed']} (supports {supports}), {wrapped} functions wrapped"
    line((f"{mark} ", style), (name, "bold"), version)
    if unsupported:
        line("    ", (f"not a tested version: {'; '.join(unsupported)}", "yellow"))
    _print_patches(console, patches if verbose else wrong)
    if scopes := framework["replaces"]:
        more = f" and {len(scopes) - 1} more" if len(scopes) > 1 else ""
        parts = [f"its own spans ({scopes[0]}{more}) are replaced, unless the provider is yours"]
        parts.append(f"exclude={[framework['name']]} keeps them instead")
        if framework["switch"] is not None:
            parts.append(framework["switch"])
        line("    ", ("; ".join(parts), "dim"))
    for target, modules in framework["others"].items():
        line("    ", (f"also wrapped by {', '.join(modules)}: {target}", "yellow"))
    for other in framework["instrumented_by"]:
        label = f"{other['name']} {other['version']}"
        line("    ", (f"{label} instruments it too, where it is switched on", "yellow"))
