"""Fixtures for tests of instrumented agents. Nothing happens until a test asks for one.

Registered with pytest by installing this package; `-p no:agentool_otel` switches it off.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable

    from opentelemetry.sdk.trace import ReadableSpan

    from agentool_otel.model.spans import SpanRecord

__all__ = ["AssertConformant", "assert_conformant"]


class AssertConformant(Protocol):
    """The type of the fixture `assert_conformant`."""

    def __call__(
        self, spans: Iterable[SpanRecord | ReadableSpan], content: bool = True
    ) -> None: ...


@pytest.fixture(name="assert_conformant")
def assert_conformant() -> AssertConformant:
    """`agentool_otel.conformance.assert_conformant`: fail with every violation of some spans."""
    from agentool_otel.conformance import assert_conformant as check

    return check
