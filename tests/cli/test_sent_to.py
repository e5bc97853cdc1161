"""The last lines after spans were sent: the page of the server, and how to read them back."""

from __future__ import annotations

import sys
from pathlib import Path
from threading import Event

import pytest

from agentool_otel.cli import _sent_to
from agentool_otel.cli._sent_to import next_steps
from agentool_otel.ground.integrations import Integration, integrations
from tests.cli.conftest import AGENT, Invoke, agentool
from tests.reading.sources.loopback import FakeJaeger, Loopback, Reply, Request, as_json
from tests.tracing.export.receiver import HttpReceiver

HELP = ["agentool-otel help source    which servers spans are read back from"]
RECEIVER = "http://127.0.0.1:4318 (http/protobuf)"
"""The usual port, at which nobody is asked."""


def port_of(server: Loopback) -> int:
    return int(server.place.partition(":")[2])


@pytest.fixture(autouse=True)
def no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep servers of this machine out."""
    for name in integrations():
        at(monkeypatch, name, 9)


def at(monkeypatch: pytest.MonkeyPatch, name: str, port: int) -> None:
    """Have the page of a product at a port by default."""
    declared: dict[str, Integration] = getattr(_sent_to, "integrations")()  # noqa: B009 # as changed
    if (page := declared[name].page) is None:
        return
    moved = declared[name]._replace(page=page._replace(port=port))
    changed = {**declared, name: moved}
    monkeypatch.setattr(_sent_to, "integrations", lambda: changed)


def html(title: str) -> Reply:
    return 200, {}, f"<html>\n <title>{title}</title>".encode()


def test_a_jaeger_beside_the_endpoint_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with Loopback(FakeJaeger({}, "pages")) as server:
        at(monkeypatch, "jaeger", port_of(server))
        one = next_steps(RECEIVER, {"my bot"})
        many = next_steps("http://127.0.0.1:4317 (grpc)", {"a", "b", "c", "d"})
        assert next_steps("http://collector.example:4318 (grpc)", {"a"}) == HELP
    place = server.place
    assert one == [
        f"http://{place}/search?service=my%20bot    Jaeger shows them",
        f"agentool-otel show 'jaeger://{place}?service=my%20bot&since=1h'",
    ]
    assert many == [
        f"http://{place}    Jaeger shows them",
        f"agentool-otel show 'jaeger://{place}?since=1h'",
    ]
    assert len(server.requests) == 2


@pytest.mark.parametrize("title", ["Phoenix", "MLflow"])
def test_a_server_with_a_page_of_its_own_is_named(title: str) -> None:
    with Loopback(lambda _: html(title)) as server:
        steps = next_steps(f"http://{server.place}/v1/traces (http/protobuf)", {"bot"})
    assert steps == [f"http://{server.place}    {title} shows them"]
    assert len(server.requests) == 1


def test_the_endpoint_itself_comes_before_others(monkeypatch: pytest.MonkeyPatch) -> None:
    with Loopback(FakeJaeger({}, "pages")) as jaeger, Loopback(lambda _: html("Phoenix")) as own:
        at(monkeypatch, "jaeger", port_of(jaeger))
        [step] = next_steps(f"http://{own.place} (http/protobuf)")
    assert step.endswith("Phoenix shows them")


def test_grafana_is_named_beside_a_receiver(monkeypatch: pytest.MonkeyPatch) -> None:
    with Loopback(lambda _: as_json({"database": "ok", "version": "13"})) as server:
        at(monkeypatch, "tempo", port_of(server))
        assert next_steps(RECEIVER) == [f"http://{server.place}    Grafana shows them"]


@pytest.mark.parametrize(
    ("destination", "step"),
    [
        (
            "https://cloud.langfuse.com/api/public/otel (http/protobuf)",
            "https://cloud.langfuse.com    Langfuse shows them",
        ),
        (
            "http://127.0.0.1:3000/lf/api/public/otel/v1/traces (http/protobuf)",
            "http://127.0.0.1:3000/lf    Langfuse shows them",
        ),
        ("http://phoenix.example:6006 (http/protobuf)", "http://phoenix.example:6006"),
    ],
)
def test_some_endpoints_tell_what_they_are(
    monkeypatch: pytest.MonkeyPatch, destination: str, step: str
) -> None:
    at(monkeypatch, "phoenix", 6006)
    assert next_steps(destination)[0].startswith(step)


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"data": null}'])
def test_another_server_is_none_of_them(monkeypatch: pytest.MonkeyPatch, body: bytes) -> None:
    def reply(request: Request) -> Reply:
        return 200, {}, body

    with Loopback(reply) as server:
        at(monkeypatch, "jaeger", port_of(server))
        assert next_steps(RECEIVER) == HELP
        assert next_steps(f"http://{server.place} (http/protobuf)") == HELP
    assert next_steps(RECEIVER) == HELP  # nobody answers


@pytest.mark.parametrize("destination", ["", "x", "http://", "http://[", "http://a:b", "file"])
def test_no_destination_is_an_error(destination: str) -> None:
    assert next_steps(destination) == HELP


def test_a_server_that_never_ends_its_answer_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ended = Event()

    def reply(request: Request) -> Reply:
        ended.wait(60)
        return as_json({"data": []})

    monkeypatch.setattr(_sent_to, "_TIMEOUT_S", 0.05)
    with Loopback(reply) as server:
        at(monkeypatch, "jaeger", port_of(server))
        assert next_steps(RECEIVER) == HELP
        ended.set()


def test_a_list_of_services_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    with Loopback(lambda _: as_json({"data": ["a"]})) as server:
        at(monkeypatch, "jaeger", port_of(server))
        assert "jaeger://" in next_steps(RECEIVER)[1]


def test_export_names_the_page(
    invoke: Invoke, recording: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with HttpReceiver() as receiver, Loopback(FakeJaeger({}, "pages")) as server:
        at(monkeypatch, "jaeger", port_of(server))
        sent = invoke("export", recording, "--endpoint", receiver.endpoint)
    assert f"{server.place}/search?service=unknown_service" in sent.stderr
    assert f"jaeger://{server.place}?service=unknown_service" in sent.stderr


@pytest.mark.parametrize("named", [True, False])
def test_recover_asks_only_an_endpoint_that_somebody_has_named(named: bool) -> None:
    """The endpoint in a file of the folder may be anybody's."""
    Path("app.py").write_text(AGENT)
    with HttpReceiver() as receiver:
        endpoint = receiver.endpoint
    agentool("run", "-q", "--endpoint", endpoint, "--", sys.executable, "app.py")
    with HttpReceiver(port=int(endpoint.rpartition(":")[2])):
        done = agentool("recover", *(["--endpoint", endpoint] if named else []))
    assert f"3 spans sent to {endpoint}" in done.stderr
    assert ("help source" in done.stderr or " shows them" in done.stderr) is named


def test_an_endpoint_that_is_down_is_reported_once() -> None:
    Path("app.py").write_text(AGENT)
    Path("workers.py").write_text(
        "import app, subprocess, sys\n"
        "subprocess.run([sys.executable, 'app.py'])\n"
        "app.adder('1 and 2?')\n"
    )
    options = ("--endpoint", "http://127.0.0.1:9", "--", sys.executable, "workers.py")
    done = agentool("run", *options)
    first, *others = done.stderr.splitlines()
    assert first == (
        "agentool-otel: 6 of 6 spans could not be delivered to http://127.0.0.1:9 (http/protobuf): "
        "Connection refused"
    )
    assert others[0] == "  6 are kept in .agentool"
    assert others[1].endswith("agentool_otel recover")
    assert len(others) == 3
    quiet = agentool("run", "-q", *options)
    assert quiet.stderr.count("spans could not be delivered to http://127.0.0.1:9") == 2


def test_the_demo_reports_an_endpoint_that_is_down_once() -> None:
    done = agentool("demo", "--endpoint", "http://127.0.0.1:9")
    assert done.returncode == 1
    error, hint = done.stderr.splitlines()
    assert error == "error: http://127.0.0.1:9 did not take 1 trace: Connection refused"
    assert "agentool_otel export .agentool/demo-" in hint


def test_run_ends_with_how_to_read_back() -> None:
    Path("app.py").write_text(AGENT)
    with HttpReceiver() as receiver:
        done = agentool("run", "--endpoint", receiver.endpoint, "--", sys.executable, "app.py")
    sent, *_, last = done.stderr.splitlines()
    assert sent.startswith("agentool-otel: 3 spans sent to ")
    assert last.startswith("  ")
    assert "agentool_otel help source" in last or " shows them" in done.stderr
