"""Misspelt, shortened and wrongly prefixed variables are named; those of others are not."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from agentool_otel.ground import environment, otlp_settings
from agentool_otel.ground.unsupported_variables import refuse_misspelt

_CONTENT = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"
_ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
MEANT = {
    "AGENTOOL_ENDPOINT": _ENDPOINT,
    "AGENTOOL_OTEL_ENDPOINT": _ENDPOINT,
    "AGENTOOL_OTLP_ENDPOINT": _ENDPOINT,
    "AGENTOTEL_ENDPOINT": _ENDPOINT,
    "AGENTOOL_CONTENT": _CONTENT,
    "AGENTOOL_CONTNT": _CONTENT,
    "AGENTOOL_CAPTURE_CONTENT": _CONTENT,
    "AGENTOOL_CONTENT_CAPTURE": _CONTENT,
    "AGENTOOL_SERVICE_NAME": "OTEL_SERVICE_NAME",
    "AGENTOOL_HEADERS": "OTEL_EXPORTER_OTLP_HEADERS",
    "AGENTOOL_DISABLED": "OTEL_SDK_DISABLED",
    "AGENTOOL_DIRECTORY": "AGENTOOL_DIR",
    "AGENTOOL_OTEL_DIR": "AGENTOOL_DIR",
    "AGENTOTEL_DIR": "AGENTOOL_DIR",
    "AGENTTOOL_DIR": "AGENTOOL_DIR",
    "AGENTOOL_MAXSIZE": "AGENTOOL_MAX_SIZE",
    "AGENTOOL_QUITE": "AGENTOOL_QUIET",
    "AGENTOOL_AGENT_NAME": "AGENTOOL_AGENT",
    "OTEL_EXPORTER_OTLP_ENDPONT": _ENDPOINT,
    "OTEL_EXPORTER_OLTP_ENDPOINT": _ENDPOINT,
    "OTEL_EXPORTER_ENDPOINT": _ENDPOINT,
    "OTEL_OTLP_ENDPOINT": _ENDPOINT,
    "OTEL_ENDPOINT": _ENDPOINT,
    "OTEL_EXPORTER_OTLP_TRACE_ENDPOINT": "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT",
    "OTEL_EXPORTER_OTLP_HEADER": "OTEL_EXPORTER_OTLP_HEADERS",
    "OTEL_TRACE_EXPORTER": "OTEL_TRACES_EXPORTER",
    "OTEL_SERIVCE_NAME": "OTEL_SERVICE_NAME",
    "OTEL_SERVICENAME": "OTEL_SERVICE_NAME",
    "OTEL_RESOURCE_ATTRIBUTE": "OTEL_RESOURCE_ATTRIBUTES",
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_CONTENT": _CONTENT,
}
OF_OTHERS = Path(__file__).with_name("variables_of_others.txt").read_text().split()
"""Variables of the specification, of the SDKs and agents of Python, Java, .NET, Node, PHP, Ruby, Go
and C++, of the Collector, the operator, Lambda layers and coding agents; and of other programs."""


_NUMBERS = count()


@pytest.fixture(autouse=True)
def other_variables() -> Iterator[None]:
    before = dict(os.environ)
    yield
    os.environ.clear()
    os.environ.update(before)


def sentence(name: str) -> str | None:
    """The notice about a variable, None if there is none."""
    os.environ[name] = f"value-{next(_NUMBERS)}"
    refuse_misspelt()
    return environment.refused().get(name)


@pytest.mark.parametrize(("name", "found"), MEANT.items())
def test_what_a_name_means_is_named(name: str, found: str) -> None:
    told = sentence(name)
    assert told is not None
    assert told.endswith(f"is {found} meant?")


@pytest.mark.parametrize("name", OF_OTHERS)
def test_a_variable_of_others_is_left_alone(name: str) -> None:
    assert sentence(name) is None


def test_each_variable_that_is_read_is_left_alone() -> None:
    for name in (*environment.names_of_opentelemetry(), *otlp_settings.names()):
        assert sentence(name) is None


@pytest.mark.parametrize("name", ["OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_SERVICE_NAME"])
def test_every_lost_letter_is_noticed(name: str) -> None:
    for at in range(len("OTEL_"), len(name)):
        told = sentence(name[:at] + name[at + 1 :])
        assert told is not None
        assert told.endswith(f"is {name} meant?")


def test_a_short_name_beside_the_variable_itself_is_left_alone() -> None:
    """Compose files and scripts set one by the other."""
    os.environ[_ENDPOINT] = "http://127.0.0.1:4318"
    assert sentence("OTEL_ENDPOINT") is None


def test_a_program_is_told_once(tmp_path: Path) -> None:
    code = "import agentool_otel as ao; ao.instrument(include=()); ao.instrument(include=())"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "AGENTOOL_ENDPOINT": "http://127.0.0.1:9", "AGENTOOL_QUIET": ""},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stderr.count(f"is {_ENDPOINT} meant?") == 1
