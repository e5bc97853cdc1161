"""Credentials belong to the endpoint they were configured for, and are shown and stored nowhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentool_otel.errors import ConfigurationError
from agentool_otel.ground.urls import with_path, without_credentials, without_path
from agentool_otel.tracing.export.send.otlp import OtlpTarget
from tests.cli.conftest import AGENT
from tests.security.test_foreign_files import journal, line
from tests.tracing.export.proxy import Proxy
from tests.tracing.export.receiver import GrpcReceiver, HttpReceiver

SECRET = "hunter2TOPSECRET"
HEADERS = f"authorization=Bearer%20{SECRET},x-honeycomb-team={SECRET}"
KILLED = f"""{AGENT.partition("if __name__")[0]}
import os, signal, sys
agentool_otel.instrument(*sys.argv[1:])
add(1, 2)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        if name.startswith(("OTEL_", "AGENTOOL_DIR")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def agentool(*args: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "agentool_otel", *args],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "OTEL_METRICS_EXPORTER": "none", **environ},
    )


def program(text: str, *args: str, **environ: str) -> subprocess.CompletedProcess[str]:
    Path("app.py").write_text(text)
    return subprocess.run(
        [sys.executable, "app.py", *args],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "OTEL_METRICS_EXPORTER": "none", **environ},
    )


def leave_for(endpoint: str) -> None:
    """Have a process killed that had a span for an endpoint which was down."""
    assert program(KILLED, endpoint).returncode == -9


def down() -> str:
    """An address at which nobody is yet."""
    with HttpReceiver() as receiver:
        return receiver.endpoint


def again_at(endpoint: str) -> HttpReceiver:
    return HttpReceiver(port=int(endpoint.rpartition(":")[2]))


def test_recover_sends_no_credentials_to_a_files_endpoint() -> None:
    endpoint = down()
    leave_for(endpoint)
    with again_at(endpoint) as receiver, Proxy() as proxy:
        done = agentool(
            "recover",
            OTEL_EXPORTER_OTLP_HEADERS=HEADERS,
            OTEL_EXPORTER_OTLP_TRACES_HEADERS=HEADERS,
            HTTP_PROXY=proxy.url.replace("://", f"://user:{SECRET}@"),
        )
    assert done.returncode == 0, done.stderr
    assert receiver.names() == ["execute_tool add"]
    assert SECRET not in str(receiver.headers)
    assert proxy.asked == []


def test_recover_over_grpc_sends_no_credentials_to_a_files_endpoint() -> None:
    with GrpcReceiver() as receiver:
        journal(
            Path(".agentool/a.open"),
            line(),
            destination=receiver.endpoint.replace("grpc", "http"),
            protocol="grpc",
        )
        done = agentool("recover", OTEL_EXPORTER_OTLP_HEADERS=HEADERS)
        assert done.returncode == 0, done.stderr
        assert receiver.names() == ["forged"]
        assert SECRET not in str(receiver.metadata)


def test_client_certificates_are_not_sent_to_a_files_endpoint(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from agentool_otel.tracing.export.send.attempt import HttpSender

    monkeypatch.setenv("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "/nowhere/client.pem")
    with pytest.raises(ConfigurationError):
        HttpSender(OtlpTarget.at("https://localhost:1", {}))
    from agentool_otel.tracing.export.send.otlp import Destination

    HttpSender(OtlpTarget.noted(Destination("https://localhost:1", "http/protobuf")))


@pytest.mark.parametrize("named", ["by option", "in the environment"])
def test_recover_sends_credentials_to_an_explicit_endpoint(named: str) -> None:
    endpoint = down()
    leave_for(endpoint)
    arguments = ["--endpoint", endpoint] if named == "by option" else []
    environ = {} if arguments else {"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint}
    with again_at(endpoint) as receiver:
        done = agentool("recover", *arguments, OTEL_EXPORTER_OTLP_HEADERS=HEADERS, **environ)
    assert done.returncode == 0, done.stderr
    assert receiver.headers[0]["authorization"] == f"Bearer {SECRET}"


def test_run_sends_what_is_for_its_endpoint_and_names_the_rest() -> None:
    second = down()
    leave_for(second)
    Path("app.py").write_text(AGENT)
    with HttpReceiver() as receiver, again_at(second) as attacker:
        done = agentool(
            "run", "--endpoint", receiver.endpoint, "--", sys.executable, "app.py",
            OTEL_EXPORTER_OTLP_HEADERS=HEADERS,
        )  # fmt: skip
        assert done.returncode == 0
        assert (attacker.names(), attacker.headers) == ([], [])
    assert len(receiver.names()) == 3
    assert f"could not deliver are in {Path('.agentool').absolute()} for {second}" in done.stderr
    assert "`agentool-otel recover` sends" in done.stderr


def test_instrument_sends_only_leftovers_for_its_endpoint() -> None:
    second = down()
    leave_for(second)
    with HttpReceiver() as receiver, again_at(second) as attacker:
        text = f"{AGENT.partition('if __name__')[0]}\nagentool_otel.instrument()\nadd(1, 2)\n"
        done = program(
            text,
            OTEL_EXPORTER_OTLP_ENDPOINT=receiver.endpoint,
            OTEL_EXPORTER_OTLP_HEADERS=HEADERS,
        )
        assert (attacker.names(), attacker.headers) == ([], [])
        assert receiver.names() == ["execute_tool add"]
    assert done.stderr.count(f"for {second}: `agentool-otel recover` sends") == 1


URLS = [
    "http://user:{secret}@127.0.0.1:{port}",
    "http://127.0.0.1:{port}/?api_key={secret}",
    "http://user:{secret}@127.0.0.1:{port}/base?api_key={secret}#{secret}",
]


@pytest.mark.thorough
@pytest.mark.parametrize("url", URLS)
def test_secrets_of_a_url_are_used_and_shown_and_stored_nowhere(url: str) -> None:
    with HttpReceiver() as receiver:
        port = int(receiver.endpoint.rpartition(":")[2])
        endpoint = url.format(secret=SECRET, port=port)
        texts = [
            agentool("doctor", "--endpoint", endpoint),
            agentool("doctor", "--json", OTEL_EXPORTER_OTLP_ENDPOINT=endpoint),
        ]
        Path("app.py").write_text(f"{AGENT}\nprint(agentool_otel.status())")
        texts.append(agentool("run", "--endpoint", endpoint, "--", sys.executable, "app.py"))
        assert "sent to http://127.0.0.1" in texts[-1].stderr
        got = f"{receiver.headers}{receiver.paths}"
    assert "/v1/traces" in got
    assert SECRET in got or "dXNlcjpodW50ZXIyVE9QU0VDUkVU" in got  # the latter is Basic
    texts.append(agentool("run", "--endpoint", endpoint, "--", sys.executable, "app.py"))
    assert list(Path(".agentool").glob("*.open")), "nobody answers by now: they wait"
    texts.append(agentool("recover", OTEL_EXPORTER_OTLP_ENDPOINT=endpoint))
    texts.append(agentool("recover", "--endpoint", endpoint))
    for done in texts:
        assert SECRET not in done.stdout + done.stderr, done.args
    for file in Path(".agentool").rglob("*"):
        assert SECRET.encode() not in file.read_bytes()


def test_variables_for_children_have_no_secrets() -> None:
    text = (
        "import os, subprocess, sys\n"
        "print({name: value for name, value in os.environ.items()})\n"
        "subprocess.run([sys.executable, 'child.py'], check=True)\n"
    )
    Path("parent.py").write_text(text)
    Path("child.py").write_text(AGENT)
    with HttpReceiver() as receiver:
        port = receiver.endpoint.rpartition(":")[2]
        endpoint = f"http://user:{SECRET}@127.0.0.1:{port}?api_key={SECRET}"
        done = agentool("run", "--endpoint", endpoint, "--", sys.executable, "parent.py")
        assert SECRET not in done.stdout
        assert len(receiver.names()) == 3, "the child has them all the same"
        assert "authorization" in receiver.headers[0]
        assert SECRET in receiver.paths[0]


@pytest.mark.parametrize(
    "endpoint",
    [
        f"htp://user:{SECRET}@host",
        f"user:{SECRET}@host:4318",
        f"http://user:{SECRET}@:99999999?key={SECRET}",
        f"http://host:port?key={SECRET}",
        f"http://user:a/{SECRET}@host",
        f"http://[::1?key={SECRET}",
    ],
)
@pytest.mark.parametrize("how", ["given", "in the environment"])
def test_an_endpoint_that_is_no_url_is_refused_without_its_secrets(
    endpoint: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from agentool_otel.ground import environment
    from agentool_otel.tracing.export.send.otlp import target_from_environment

    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint)
    if how == "in the environment":
        assert target_from_environment(os.environ) is None
        assert SECRET not in environment.refused()["OTEL_EXPORTER_OTLP_ENDPOINT"]
        return
    with pytest.raises(ConfigurationError) as refused:
        OtlpTarget.at(endpoint, {})
    assert SECRET not in str(refused.value)


hosts = st.from_regex(r"[a-z]{1,8}(\.[a-z]{1,8})?(:[1-9][0-9]{1,3})?", fullmatch=True)
paths = st.from_regex(r"(/[a-z0-9@:]{1,8}){0,3}", fullmatch=True)
secrets = st.from_regex(r"[A-Z!$&@:][A-Z0-9!$&/@:]{6,12}", fullmatch=True)
"""A slash in a password is a mistake, but where all before it is digits, a URL means a port."""


@given(hosts, paths, secrets, secrets)
def test_of_any_url_the_place_is_left_and_nothing_else(
    host: str, path: str, password: str, query: str
) -> None:
    plain = f"https://{host}{path}"
    assert without_credentials(plain) == plain
    assert without_credentials(f"{plain}?key={query}#{query}") == plain
    if "@" not in path:
        assert without_credentials(f"https://u:{password}@{host}{path}?key={query}") == plain


@given(hosts, paths, secrets)
def test_a_path_goes_before_the_query(host: str, path: str, query: str) -> None:
    url = f"https://{host}{path}?key={query}"
    assert with_path(url, "/v1/traces") == f"https://{host}{path}/v1/traces?key={query}"
    assert without_path(with_path(url, "/v1/traces"), "/v1/traces") == url


def test_a_journal_holds_no_secret_of_its_endpoint() -> None:
    leave_for(f"http://user:{SECRET}@127.0.0.1:9/?api_key={SECRET}")
    (file,) = Path(".agentool").glob("*.open")
    assert SECRET.encode() not in file.read_bytes()
    assert json.loads(file.read_bytes().splitlines()[0])["destination"] == "http://127.0.0.1:9"
