"""Run the tests with the lowest dependencies that `pyproject.toml` declares.

    python -m tests.lowest

The environment has the oldest supported Python that is installed, and the lowest version of each
dependency and of those of the extras in `EXTRAS`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib.metadata import requires

from packaging.requirements import Requirement

from tests import versions
from tests.environments import NotInstalled, prepare
from tests.frameworks import HOME, ROOT
from tests.pythons import VERSIONS, interpreter_of

__all__ = ["EXTRAS", "TESTS", "lowest"]

EXTRAS = ("zstd", "servers", "remote", "arrow", "eval", "judge")
"""Without `cost`: genai-prices 0.0.30 needs httpx 0.28, with which openai 1.40 does not work."""
TOOLS = ("pytest>=8", "pytest-xdist>=3.5", "hypothesis>=6.100", "opentelemetry-proto==1.30")
TESTS = (
    *(
        "tests/model",
        "tests/providers",
        "tests/converters",
        "tests/reading/formats",
        "tests/roundtrip",
    ),
    *("tests/tracing/capture", "tests/tracing/spans", "tests/content", "tests/cli"),
    *(
        f"tests/tracing/export/test_{name}.py"
        for name in ("exits", "journal", "kills", "outbox", "spool")
    ),
)
"""Spans, recordings, sending, commands. The frameworks' lowest versions are in `tests.frameworks`;
comparisons with the official encoder do not hold for an encoder that old."""


def lowest(extras: tuple[str, ...] = EXTRAS) -> Iterator[str]:
    """Yield the lowest version of each dependency, as pip takes them."""
    for requirement in map(Requirement, requires("agentool-otel") or ()):
        marker = requirement.marker
        of_extra = marker is not None and "extra ==" in str(marker)
        if of_extra and not any(_belongs(requirement, extra) for extra in extras):
            continue
        [bound] = [item.version for item in requirement.specifier if item.operator == ">="]
        yield f"{requirement.name}=={bound}"


def _belongs(requirement: Requirement, extra: str) -> bool:
    """Return whether an extra has a requirement, on the oldest Python."""
    environment = {"extra": extra, "python_version": VERSIONS[0]}
    return requirement.marker is not None and requirement.marker.evaluate(environment)


def main() -> int:
    python = next(filter(None, map(interpreter_of, VERSIONS)), sys.executable)
    print(f"--- lowest dependencies: {', '.join(lowest(()))}", file=sys.stderr, flush=True)
    try:
        prepared = prepare(HOME / "lowest", ["-e", str(ROOT), *TOOLS, *lowest()], python)
    except NotInstalled as error:
        print(f"lowest dependencies: {error}", file=sys.stderr)
        return 1
    return 0 if versions.run(versions.LOWEST, prepared, TESTS) else 1


if __name__ == "__main__":
    raise SystemExit(main())
