"""Declarations of products, readable without loading any of their code.

    from agentool_otel.ground.integrations import Integration, Library

    INTEGRATION = Integration("Tiny", libraries=(Library("tiny-agents", own_spans="none"),))

That is in the package of a product, `agentool_otel.integrations.<product>`; a third party announces
the same object by an entry point of the group `agentool_otel.integrations`. `doctor`, help, tables
and tests read all of them; `instrument()` reads those of products with an instrumentor.
"""

from __future__ import annotations

from functools import cache
from typing import Literal, NamedTuple

__all__ = ["Integration", "Library", "Mount", "Page", "installed_version", "integrations"]

OwnSpans = Literal["on", "some", "off", "none"]


class Library(NamedTuple):
    """A distribution of a product."""

    distribution: str
    own_spans: OwnSpans | None = None
    """Whether it writes OpenTelemetry spans by default. None if we instrument it."""
    switch: str | None = None
    """The setting that changes this, in a phrase; None without one."""
    traced_by: str | None = None
    """A package of others that instruments it, whose spans we read."""


class Mount(NamedTuple):
    """A module of ours that a framework loads by name: nothing is patched."""

    distribution: str
    supports: str
    group: str
    """Of the entry points where it looks."""
    module: str
    how: str
    """The recorder of its runs, in a phrase."""


class Page(NamedTuple):
    """The page on which a server shows people the spans that it was sent."""

    title: str
    """Name of the page's program."""
    port: int
    """Where the page is by default."""
    probe: str
    """Path of a request that tells the program by its answer."""
    answer: str
    """Text that stands in this answer, without its blanks."""
    of_service: str = ""
    """Path of the page of one service, with `{service}` in place of the name."""
    takes_spans: bool = False
    """Whether spans are sent to the same port."""
    below: str | None = None
    """Path below which spans are sent, where no other server has the same."""
    scheme: str | None = None
    """Scheme of the address from which spans are read back, at the same port."""


class Integration(NamedTuple):
    """One product."""

    title: str
    """Its name, as it writes it."""
    libraries: tuple[Library, ...] = ()
    tracers: tuple[str, ...] = ()
    """Distributions that trace agents too, and may record a call a second time; `*` stands for any
    end of a name."""
    mount: Mount | None = None
    own_units: tuple[str, ...] = ()
    """Its providers in price tables that bill in units of their own, and not by the token."""
    page: Page | None = None
    patches: tuple[str, ...] = ()
    """Packages that its instrumentor patches. The instrumentor is loaded when the program
    imports one of them; without this, when `instrument()` runs."""


@cache
def integrations() -> dict[str, Integration]:
    """Return the declarations of all products, ours and those of other packages, by name."""
    # The rest of this module is loaded with every product, and does without them.
    import pkgutil
    from importlib import import_module

    from agentool_otel.ground.plugins import load_plugins

    package = import_module("agentool_otel.integrations")
    ours = {
        module.name: import_module(f"{package.__name__}.{module.name}").INTEGRATION
        for module in pkgutil.iter_modules(package.__path__)
    }
    return dict(sorted({**load_plugins("agentool_otel.integrations"), **ours}.items()))


def installed_version(distribution: str) -> str | None:
    """Return the version of a distribution, None if it is not installed."""
    import importlib.metadata

    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None
