"""A variable whose value cannot be used stops no program: it is named, and counts as unset."""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.content import policy
from agentool_otel.content.fitting.fitter import Sizes
from agentool_otel.ground import environment, otlp_settings
from agentool_otel.ground.environment import Signal
from agentool_otel.ground.unsupported_variables import UNSUPPORTED
from agentool_otel.tracing.export import otlp_variables
from agentool_otel.tracing.export.send.otlp import target_from_environment
from agentool_otel.tracing.setup.decision import check_variables
from agentool_otel.tracing.setup.sdk_variables import limits, sampler
from agentool_otel.tracing.spans.exceptions import signals
from tests.tracing.setup.test_setup import AGENT, JOIN, run

SIGNALS = get_args(Signal)
OTLP = ("ENDPOINT", "PROTOCOL", "HEADERS", "COMPRESSION", "TIMEOUT", "CERTIFICATE", "INSECURE")
CHECKED = [
    environment.QUIET,
    environment.RECORD,
    environment.STRICT,
    environment.JOURNAL,
    environment.COPIES,
    environment.AGENT_USAGE,
    environment.GENERATION,
    environment.ALSO,
    environment.LARGEST_ATTRIBUTE,
    environment.LARGEST_SPAN,
    environment.DISABLED,
    environment.CAPTURE,
    environment.EXCEPTIONS,
    environment.DELAY,
    environment.BATCH_SIZE,
    environment.QUEUE_SIZE,
    environment.EXPORT_TIMEOUT,
    environment.SAMPLER,
    environment.RESOURCE_ATTRIBUTES,
    environment.ATTRIBUTE_COUNT_LIMIT,
    environment.EVENT_LIMIT,
    *environment.COUNT_LIMITS,
    *environment.VALUE_LENGTH_LIMITS,
    "OTEL_PYTHON_SDK_INTERNAL_METRICS_ENABLED",
    *map(environment.exporter_variable, SIGNALS),
    *(otlp_settings.variable(item, signal) for item in OTLP for signal in (None, *SIGNALS)),
    *UNSUPPORTED,
]
"""Variables of which not every text is a value."""
TAKES_ANY_TEXT = [
    environment.FOLDER,
    environment.OFFLOAD,
    environment.CASE,
    environment.SERVICE_NAME,
    environment.INSTRUMENTATIONS_DISABLED,
]

texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=20)
values = texts | st.sampled_from(
    ["maybe", "-1", "0", "1e999", "nan", "http/json", "a=b,c", "http://", "²", "1_0", "x://y"]
)


@contextmanager
def only(**variables: str) -> Generator[None]:
    """Have these variables of OpenTelemetry and of this package and no others."""
    before = dict(os.environ)
    for name in [item for item in os.environ if item.startswith(("OTEL_", "AGENTOOL_"))]:
        del os.environ[name]
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def in_force() -> dict[str, Any]:
    """Return the resolved values of all variables."""
    targets = [target_from_environment(os.environ, signal) for signal in SIGNALS]
    return {
        "switches": [
            environment.quiet(),
            environment.record_wanted(),
            environment.journal_wanted(),
            environment.copies_wanted(),
            environment.agent_usage_wanted(),
            environment.strict(),
            environment.sdk_disabled(),
        ],
        "sizes": Sizes.requested(os.environ),
        "places": policy.places(os.environ),
        "exceptions": signals(os.environ),
        "batches": [
            otlp_variables.delay_s(),
            otlp_variables.batch_size(),
            otlp_variables.queue_size(7),
            otlp_variables.export_timeout_s(),
        ],
        "targets": [target and (str(target), target.protocol, target.also) for target in targets],
        "exporters": [otlp_variables.exporter(os.environ, signal) for signal in SIGNALS],
        "requests": [
            (
                otlp_variables.timeout_s(signal),
                otlp_variables.compression(signal, "grpc"),
                otlp_variables.compression(signal, "http/protobuf"),
            )
            for signal in SIGNALS
        ],
        "limits": repr(limits()),
    }


with only():
    UNSET = in_force()


@given(st.sampled_from([*CHECKED, *TAKES_ANY_TEXT]), values)
def test_no_value_of_any_variable_raises(name: str, text: str) -> None:
    with only(**{name: text}):
        check_variables()
        in_force()
        sampler()


@given(st.sampled_from(CHECKED), values)
def test_a_refused_value_counts_as_unset(name: str, text: str) -> None:
    with only(**{name: text}):
        check_variables()
        if name not in environment.refused():
            return
        now = in_force()
        assert policy.requested(os.environ) is (False if name == environment.CAPTURE else None)
        assert environment.refused()[name].startswith(name)
    assert now == UNSET


@pytest.mark.parametrize("name", CHECKED)
def test_every_variable_refuses_what_means_nothing(name: str) -> None:
    with only(**{name: "no such thing"}):
        check_variables()
        assert set(environment.refused()) == {name}
    with only(**{name: ""}):
        check_variables()
        assert environment.refused() == {}


PROGRAM = f"""{AGENT}
import json
agentool_otel.instrument(include=())
assert clerk("?") == "3"
print(json.dumps(agentool_otel.status()["refused_variables"]))
"""


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_an_unsupported_variable_is_named_beside_a_bad_one(name: str) -> None:
    with only(**{name: "/nowhere.yaml", environment.DELAY: "abc"}):
        check_variables()
        assert set(environment.refused()) == {name, environment.DELAY}
        assert environment.refused()[name].endswith(UNSUPPORTED[name])


def _has(name: str, parts: tuple[str, ...]) -> bool:
    return any(part in name for part in parts)


def bad_variables() -> dict[str, str]:
    disabled = (environment.QUIET, environment.STRICT)
    return {name: "no such thing" for name in CHECKED if name not in disabled}


def test_a_program_with_only_invalid_values_is_recorded(tmp_path: Path) -> None:
    bad = {key: text for key, text in bad_variables().items() if key != environment.CAPTURE}
    done = run(tmp_path, PROGRAM, **bad)
    refused = json.loads(done.stdout)
    of_others = ("_LOGS_", "_METRICS_", "CERTIFICATE")
    read = {
        item for item in bad if not item.startswith("OTEL_EXPORTER") or not _has(item, of_others)
    }
    assert read.issuperset(UNSUPPORTED)
    assert read <= refused.keys()
    assert all(any(name in line for line in done.stderr.splitlines()) for name in read)
    assert len(list((tmp_path / ".agentool").glob("*.jsonl"))) == 1


def test_values_for_the_applications_sdk_are_not_refused(tmp_path: Path) -> None:
    variables = {
        "OTEL_TRACES_EXPORTER": "zipkin",
        "OTEL_EXPORTER_OTLP_PROTOCOL": "http/json",
        "OTEL_TRACES_SAMPLER": "of_my_own",
        **dict.fromkeys(UNSUPPORTED, "of my own"),
    }
    done = run(tmp_path, JOIN + PROGRAM, **variables)
    assert json.loads(done.stdout) == {}


def test_a_variable_and_logging_silence_the_notices(tmp_path: Path) -> None:
    quiet = {environment.QUIET: "on", environment.JOURNAL: "maybe"}
    done = run(tmp_path, PROGRAM, **quiet)
    assert done.stderr == ""
    assert list(json.loads(done.stdout)) == [environment.JOURNAL]
    silent = "import logging; logging.getLogger('agentool_otel').setLevel(logging.ERROR)\n"
    assert run(tmp_path, silent + PROGRAM, AGENTOOL_JOURNAL="maybe").stderr == ""


def test_without_the_certificate_that_is_named_nothing_is_sent(tmp_path: Path) -> None:
    done = run(
        tmp_path,
        PROGRAM,
        OTEL_EXPORTER_OTLP_ENDPOINT="https://127.0.0.1:9",
        OTEL_EXPORTER_OTLP_CERTIFICATE="nowhere.pem",
    )
    assert list(json.loads(done.stdout)) == ["OTEL_EXPORTER_OTLP_CERTIFICATE"]
    assert len(list((tmp_path / ".agentool").glob("traces-*.jsonl"))) == 1


def test_the_exporter_of_the_sdk_stops_at_none_of_them(tmp_path: Path) -> None:
    code = (
        "from agentool_otel.tracing.export.sdk import AgentoolSpanExporter\nAgentoolSpanExporter()"
        "\nprint('made')"
    )
    bad = {key: text for key, text in bad_variables().items() if "SPAN_ATTRIBUTE_COUNT" not in key}
    assert run(tmp_path, code, **bad).stdout == "made\n"


# ------------------------------------------------------------------------ where nothing is recorded

DECORATED = f"{AGENT}clerk('?'); clerk('?')\n"


def test_a_decorator_without_destination_warns_once(tmp_path: Path) -> None:
    lines = run(tmp_path, DECORATED).stderr.splitlines()
    assert len(lines) == 1
    assert "not recorded" in lines[0]
    assert "agentool_otel.instrument()" in lines[0]


@pytest.mark.parametrize(
    ("before", "environ"),
    [
        ("", {"OTEL_SDK_DISABLED": "true"}),
        ("", {"AGENTOOL_QUIET": "on"}),
        ("import logging; logging.getLogger('agentool_otel').disabled = True\n", {}),
        (JOIN, {}),
        ("import agentool_otel; agentool_otel.instrument()\n", {}),
        (
            "from opentelemetry import trace\n"
            "trace.set_tracer_provider(trace.NoOpTracerProvider())\n",
            {},
        ),
    ],
)
def test_without_a_problem_nothing_is_logged(
    before: str, environ: dict[str, str], tmp_path: Path
) -> None:
    assert run(tmp_path, before + DECORATED, **environ).stderr == ""


def test_after_uninstrument_nothing_is_logged(tmp_path: Path) -> None:
    code = f"{AGENT}agentool_otel.instrument(); agentool_otel.uninstrument()\nclerk('?')\n"
    assert run(tmp_path, code).stderr == ""
