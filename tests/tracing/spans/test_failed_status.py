"""The status of a run that failed: a time limit is one of its own."""

from __future__ import annotations

import asyncio
import concurrent.futures
from typing import Any

import pytest

import agentool_otel
from agentool_otel.tracing.spans.exceptions import failed_status


class APITimeoutError(Exception):
    """As of openai."""


class ReadTimeout(Exception):
    """As of httpx."""


class SoftTimeLimitExceeded(Exception):
    """As of Celery."""


class DeadlineExceeded(Exception):
    """As of google-api-core."""


class OwnLimit(TimeoutError):
    """A program's own, by its base class."""


@pytest.mark.parametrize(
    "error",
    [
        *(TimeoutError(), asyncio.TimeoutError(), concurrent.futures.TimeoutError()),
        *(TimeoutError(), APITimeoutError(), ReadTimeout(), SoftTimeLimitExceeded()),
        *(DeadlineExceeded(), OwnLimit()),
    ],
)
def test_a_time_limit_is_a_timeout(error: Exception, spans: Any) -> None:
    assert failed_status(error) == "timeout"

    @agentool_otel.agent
    def slow() -> None:
        raise error

    with pytest.raises(type(error)):
        slow()
    assert spans.attributes()["agentool.status"] == "timeout"


@pytest.mark.parametrize(
    "error", [ValueError("the timeout is wrong"), KeyError("deadline"), RuntimeError()]
)
def test_the_text_of_an_exception_makes_no_timeout(error: Exception) -> None:
    assert failed_status(error) == "error"


@pytest.mark.parametrize(("kind", "status"), [("ReadTimeoutError", "timeout"), ("x", "error")])
def test_the_type_of_an_error_without_an_exception_counts(kind: str, status: str) -> None:
    assert failed_status(None, kind) == status
