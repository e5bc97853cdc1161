"""Environment variables are named in one module, and documented there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import agentool_otel
from agentool_otel.ground import environment, otlp_settings
from agentool_otel.ground.unsupported_variables import UNSUPPORTED

PACKAGE = Path(agentool_otel.__file__).parent
FOLDERS = (
    "cli",
    "content",
    "evaluation",
    "integrations",
    "otlp",
    "reading",
    "testing",
    "tracing",
)
"""Packages whose modules spell no name of a variable, in code or in a message."""
NAME = re.compile(
    r"\b(?:OTEL|AGENTOOL)_(?:[A-Z]|$)|\b(?:TRACEPARENT|TRACESTATE|[A-Z]+_CA_BUNDLE)\b"
)


def texts(file: Path) -> Iterator[tuple[int, str]]:
    """The strings of a module that are no documentation."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    documentation = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in documentation:
            continue
        if isinstance(node.value, str):
            yield node.lineno, node.value


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_other_module_spells_the_name_of_a_variable(folder: str) -> None:
    spelled = [
        f"{file.relative_to(PACKAGE)}:{line} {text!r}"
        for file in sorted((PACKAGE / folder).rglob("*.py"))
        if file.name != "sitecustomize.py"  # runs in Pythons without this package
        for line, text in texts(file)
        if NAME.search(text)
    ]
    assert spelled == []


def test_every_variable_is_documented_with_its_default() -> None:
    tree = ast.parse(Path(environment.__file__).read_text(encoding="utf-8"))
    for node, after in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(node, ast.AnnAssign):
            assert isinstance(after, ast.Expr), ast.unparse(node)
            assert isinstance(after.value, ast.Constant), ast.unparse(node)
            assert "Default: " in str(after.value.value), ast.unparse(node)


@pytest.mark.parametrize(
    ("text", "wanted"), [("", True), ("on", True), (" OFF ", False), ("0", False), ("no", False)]
)
def test_the_journal_is_kept_unless_it_is_switched_off(text: str, wanted: bool) -> None:
    assert environment.journal_wanted({environment.JOURNAL: text}) is wanted


def test_the_setting_of_a_signal_comes_before_that_of_all() -> None:
    general, own = (
        otlp_settings.variable("HEADERS"),
        otlp_settings.variable("HEADERS", "logs"),
    )
    assert (general, own) == ("OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_LOGS_HEADERS")
    environ = {general: "a=1", own: " b=2 "}
    assert otlp_settings.value("HEADERS", "logs", environ) == "b=2"
    assert otlp_settings.value("HEADERS", "traces", environ) == "a=1"
    assert otlp_settings.value_of_signal("HEADERS", "traces", environ) == ""


def test_an_environment_that_is_empty_is_not_that_of_the_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv(environment.DISABLED, "true")
    assert environment.sdk_disabled()
    assert not environment.sdk_disabled({})


SPECIFIED = {
    *("OTEL_CONFIG_FILE", "OTEL_ENTITIES", "OTEL_LOG_LEVEL", "OTEL_PROPAGATORS"),
    *("OTEL_RESOURCE_ATTRIBUTES", "OTEL_SDK_DISABLED", "OTEL_SERVICE_NAME"),
    *("OTEL_TRACES_SAMPLER", "OTEL_TRACES_SAMPLER_ARG"),
    *(f"OTEL_{name}_SCHEDULE_DELAY" for name in ("BSP", "BLRP")),
    *(f"OTEL_{name}_EXPORT_TIMEOUT" for name in ("BSP", "BLRP")),
    *(f"OTEL_{name}_MAX_QUEUE_SIZE" for name in ("BSP", "BLRP")),
    *(f"OTEL_{name}_MAX_EXPORT_BATCH_SIZE" for name in ("BSP", "BLRP")),
    *(
        f"OTEL_{name}ATTRIBUTE_COUNT_LIMIT"
        for name in ("", "SPAN_", "EVENT_", "LINK_", "LOGRECORD_")
    ),
    *(f"OTEL_{name}ATTRIBUTE_VALUE_LENGTH_LIMIT" for name in ("", "SPAN_", "LOGRECORD_")),
    *("OTEL_SPAN_EVENT_COUNT_LIMIT", "OTEL_SPAN_LINK_COUNT_LIMIT"),
    *("OTEL_EXPORTER_ZIPKIN_ENDPOINT", "OTEL_EXPORTER_ZIPKIN_TIMEOUT"),
    *("OTEL_EXPORTER_PROMETHEUS_HOST", "OTEL_EXPORTER_PROMETHEUS_PORT"),
    *("OTEL_TRACES_EXPORTER", "OTEL_METRICS_EXPORTER", "OTEL_LOGS_EXPORTER"),
    *("OTEL_METRICS_EXEMPLAR_FILTER", "OTEL_METRIC_EXPORT_INTERVAL", "OTEL_METRIC_EXPORT_TIMEOUT"),
}
"""Spec: opentelemetry-specification, configuration/sdk-environment-variables.md."""
READ_BY_COMPONENTS = {
    "OTEL_PROPAGATORS",
    "OTEL_METRICS_EXEMPLAR_FILTER",
    "OTEL_METRIC_EXPORT_INTERVAL",
    "OTEL_METRIC_EXPORT_TIMEOUT",
    "OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE",
    "OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION",
    "OTEL_EXPERIMENTAL_RESOURCE_DETECTORS",
    "OTEL_PYTHON_EXPORTER_OTLP_HTTP_METRICS_CREDENTIAL_PROVIDER",
    "OTEL_PYTHON_EXPORTER_OTLP_GRPC_METRICS_CREDENTIAL_PROVIDER",
}
"""Variables that the API, the SDK's resource and its metrics read for us."""


def named_here() -> set[str]:
    """Return the variables that `environment` and `otlp_settings` name."""
    results: set[str] = set()
    for value in vars(environment).values():
        if isinstance(value, (str, tuple)):
            results |= {value} if isinstance(value, str) else {*map(str, value)}
    for signal in (None, "traces", "metrics", "logs"):
        settings = re.findall(r"[A-Z_]{7,}", str(otlp_settings.variable.__doc__))
        results |= {otlp_settings.variable(setting, signal) for setting in settings}
    signals = ("traces", "metrics", "logs")
    return results | {environment.exporter_variable(signal) for signal in signals}  # type: ignore[arg-type]


def of_the_sdk() -> set[str]:
    from opentelemetry.sdk import environment_variables

    names = (var.removeprefix("_") for var in vars(environment_variables))
    return {name for name in names if name.startswith("OTEL_")}


def test_every_specified_variable_is_honoured_or_refused() -> None:
    entries = named_here() | READ_BY_COMPONENTS | UNSUPPORTED.keys()
    assert sorted((SPECIFIED | of_the_sdk()) - entries) == []


def test_no_unsupported_variable_is_honoured() -> None:
    assert sorted((named_here() | READ_BY_COMPONENTS) & UNSUPPORTED.keys()) == []
