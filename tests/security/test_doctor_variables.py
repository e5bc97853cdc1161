"""`doctor` prints the variables that are set, and no credential that stands in one."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentool_otel.cli import doctor, main
from agentool_otel.ground import environment
from tests.click_runner import CliRunner

CANARY = "hunter2CANARY"
VARIABLES = sorted(
    {
        *environment.of_opentelemetry(dict.fromkeys(doctor._EFFECTS, "")),
        *environment.of_this_package(
            {var: "" for var in vars(environment).values() if isinstance(var, str)}
        ),
        "OTEL_PYTHON_X",
        "OTEL_PROPAGATORS",
        "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
        "AGENTOOL_NOTHING_READS_IT",
    }
)
VALUES = [
    f"api_key={CANARY}",
    f"service.name=a,password={CANARY},b=c",
    f"db.user.password%20={CANARY}",
    f"api%5Fkey={CANARY}",
    f"authorization=Bearer%20{CANARY}",
    f"x-tenant={CANARY}",
    f"password: {CANARY}",
    f'{{"a": {{"client_secret": "{CANARY}"}}}}',
    f"http://user:{CANARY}@127.0.0.1:1",
    f"http://user:a,{CANARY}@127.0.0.1:1",
    f"http://127.0.0.1:1/?token={CANARY}",
    f"a=http://user:{CANARY}@127.0.0.1:1,b=c",
    f"a=http://127.0.0.1:1?sig={CANARY}",
    f"https:/user:{CANARY}@127.0.0.1:1",
]
SECRET_NAMES = [
    "AGENTOOL_JAEGER_TENANT", "AGENTOOL_TEMPO_TENANT", "AGENTOOL_TEMPO_TOKEN",
    "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS", "OTEL_X_PASSWORD",
    "OTEL_X_API_KEY", "OTEL_X_PASSWD", "OTEL_X_AUTHORIZATION", "OTEL_X_COOKIE",
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES)
def test_no_variable_shows_a_credential(value: str) -> None:
    rows = doctor._environment(dict.fromkeys(VARIABLES, value))
    assert {row["name"] for row in rows} >= {"OTEL_PYTHON_X", "OTEL_RESOURCE_ATTRIBUTES"}
    assert [row for row in rows if CANARY in row["value"]] == []


@pytest.mark.parametrize("name", SECRET_NAMES)
def test_a_variable_that_is_named_for_a_credential_is_not_shown(name: str) -> None:
    (row,) = doctor._environment({name: "a"})
    assert row["value"] == "(set, not shown)"


@pytest.mark.parametrize(
    "value",
    ["http://127.0.0.1:4318", "service.name=bot,deployment.environment=prod", "0.25", "/a/b c", ""],
)
def test_what_is_no_credential_is_shown(value: str) -> None:
    (row,) = doctor._environment({"OTEL_PYTHON_X": value})
    assert row["value"] == value


@pytest.mark.parametrize("options", [[], ["--json"]])
@pytest.mark.parametrize("value", VALUES)
def test_the_whole_report_shows_none(
    value: str, options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [*SECRET_NAMES, "OTEL_PYTHON_X", "OTEL_RESOURCE_ATTRIBUTES", "OTEL_PROPAGATORS",
                 "OTEL_TRACES_SAMPLER", "OTEL_SERVICE_NAME", "AGENTOOL_NOTHING"]:  # fmt: skip
        monkeypatch.setenv(name, value)
    result = CliRunner().invoke(main, ["doctor", *options])
    assert "OTEL_PYTHON_X" in result.output
    assert CANARY not in result.output
    if options:
        assert json.loads(result.stdout)["environment"]
