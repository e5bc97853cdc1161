"""Data that a Collector has acknowledged survives its death and a next hop that is down."""

from __future__ import annotations

import json
import re
import socket
import urllib.error
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.backends.runs import rebuilt
from tests.backends.servers import (
    CONFIGS,
    Collector,
    collector,
    prometheus,
    wait_for,
)
from tests.tracing.export.receiver import GrpcReceiver, HttpReceiver, spans_in

pytestmark = pytest.mark.backends
FILES = ["local.yaml", "metrics.yaml", "redact.yaml", "tail-sampling.yaml"]
NETWORK_EXPORTERS = ("otlp_http", "otlp_grpc")
CONTENT = "what the user asked"
RUNS, SPANS = 50, 20
KEEP_ALL = {"DECISION_WAIT": "1s", "SHARE_PERCENT": "100"}


def span(run: int, number: int, padding: int = 0) -> dict[str, Any]:
    """Return a span in OTLP's JSON.

    Args:
        run: number of its trace.
        number: 0 is the agent, others are tool executions.
        padding: bytes of an attribute that is not content.
    """
    values = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "look",
        "gen_ai.tool.call.arguments": CONTENT,
        "gen_ai.tool.call.id": f"c{number}",
    }
    if number == 0:
        values = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "bot"}
    values["padding"] = "x" * padding
    start = 1_800_000_000_000_000_000 + number
    return {
        "traceId": f"{run + 1:032x}",
        "spanId": f"{(run + 1) * 1000 + number:016x}",
        "parentSpanId": f"{(run + 1) * 1000:016x}" if number else "",
        "name": "invoke_agent bot" if number == 0 else "execute_tool look",
        "kind": 1,
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + 1000),
        "attributes": [{"key": k, "value": {"stringValue": v}} for k, v in values.items()],
    }


def status_of(running: Collector, *spans: dict[str, Any]) -> int:
    """Send spans and return the status of the answer."""
    body = json.dumps({"resourceSpans": [{"scopeSpans": [{"spans": [*spans]}]}]}).encode()
    headers = {"content-type": "application/json"}
    request = urllib.request.Request(f"{running.http}/v1/traces", body, headers)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


def own(running: Collector, name: str) -> float:
    """Return the sum of one of the Collector's own metrics over its series."""
    with urllib.request.urlopen(running.own_metrics, timeout=5) as answer:
        series = re.findall(rf"^{name}(?:{{.*}})? (\S+)$", answer.read().decode(), re.MULTILINE)
    return sum(map(float, series))


class Refusing:
    """A port that refuses connections and that no other program gets, until it is closed."""

    def __init__(self) -> None:
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self.close = self._socket.close


@pytest.fixture
def down() -> Iterator[Refusing]:
    """A next hop that is down."""
    port = Refusing()
    yield port
    port.close()


@contextmanager
def next_hop(file: str, down: Refusing) -> Generator[Callable[[], list[bytes]]]:
    """Run the next hop that was down, and yield a function that returns its requests."""
    port = down.port
    down.close()
    if file == "local.yaml":
        with GrpcReceiver(port=port, limit=64 << 20) as store:
            yield lambda: store.requests
    else:
        with HttpReceiver(port=port, limit=64 << 20) as receiver:
            yield lambda: receiver.bodies.get("/v1/traces", [])


def ids(requests: list[bytes]) -> Counter[str]:
    return Counter(item.span_id.hex() for request in requests for item in spans_in(request))


def to(down: Refusing, **environ: str) -> dict[str, str]:
    """Return the variables that make a next hop of a port."""
    return {
        "NEXT_ENDPOINT": f"http://127.0.0.1:{down.port}",
        "STORE_ENDPOINT": f"127.0.0.1:{down.port}",
        **environ,
    }


@pytest.mark.parametrize("file", FILES)
def test_what_was_acknowledged_arrives_after_a_kill(
    file: str, tmp_path: Path, down: Refusing
) -> None:
    sent = [[span(run, number) for number in range(SPANS)] for run in range(RUNS)]
    with collector(file, tmp_path, **to(down, **KEEP_ALL)) as running:
        assert {status_of(running, *spans) for spans in sent} == {200}
        if file == "tail-sampling.yaml":  # an undecided run is not kept, as its header states
            assert wait_for(lambda: decided(running) == RUNS)
        running.process.kill()
        running.process.wait()

    assert (CONTENT.encode() in queued(tmp_path)) is (file != "redact.yaml")

    with (
        next_hop(file, down) as requests,
        collector(file, tmp_path, **to(down, **KEEP_ALL)) as running,
    ):
        expected = {item["spanId"] for spans in sent for item in spans}
        wait_for(lambda: ids(requests()).keys() >= expected, 60)
        assert ids(requests()).keys() == expected
        arrived = list(requests())

    assert (CONTENT.encode() in b"".join(arrived)) is (file != "redact.yaml")
    folder = tmp_path / "arrived"
    folder.mkdir()
    for n, request in enumerate([*arrived, *arrived]):  # a batch may come twice
        (folder / f"{n}.pb").write_bytes(request)
    assert_every_call_once(folder)
    if file == "local.yaml":
        assert_every_call_once(tmp_path / "archive")


def queued(folder: Path) -> bytes:
    """Return all that waits on disk."""
    return b"".join(path.read_bytes() for path in (folder / "queue").iterdir())


def decided(running: Collector) -> float:
    """Return how many runs were decided and have left the memory."""
    if own(running, "otelcol_processor_tail_sampling_sampling_traces_on_memory"):
        return 0
    return own(running, "otelcol_processor_tail_sampling_global_count_traces_sampled")


def assert_every_call_once(folder: Path) -> None:
    documents = rebuilt(folder).values()
    calls = [
        [step["tool_call"]["id"] for step in document["steps"] if step["type"] == "tool_call"]
        for document in documents
    ]
    assert calls == [[f"c{number}" for number in range(1, SPANS)]] * RUNS


def test_redact_status_drops_descriptions_of_errors(tmp_path: Path, down: Refusing) -> None:
    files = "redact.yaml redact-status.yaml"
    failed = {**span(0, 1), "status": {"code": 2, "message": f"cannot read {CONTENT}"}}
    with collector(files, tmp_path, **to(down)) as running:
        assert status_of(running, failed) == 200
        running.process.kill()
        running.process.wait()
    assert CONTENT.encode() not in queued(tmp_path)
    with next_hop(files, down) as requests, collector(files, tmp_path, **to(down)):
        assert wait_for(requests)
        (request,) = requests()
    assert CONTENT.encode() not in request
    (sent,) = spans_in(request)
    assert sent.status.code == 2


def test_tail_sampling_decides_when_it_is_stopped(tmp_path: Path, down: Refusing) -> None:
    environ = to(down, SHARE_PERCENT="100", DECISION_WAIT="1h")
    with collector("tail-sampling.yaml", tmp_path, **environ) as running:
        assert status_of(running, *(span(0, number) for number in range(1, SPANS))) == 200
        in_memory = "otelcol_processor_tail_sampling_sampling_traces_on_memory"
        assert wait_for(lambda: own(running, in_memory) == 1)
    with (
        next_hop("tail-sampling.yaml", down) as requests,
        collector("tail-sampling.yaml", tmp_path, **environ),
    ):
        assert wait_for(lambda: len(ids(requests())) == SPANS - 1)


@pytest.mark.parametrize("file", ["local.yaml", "redact.yaml"])
def test_a_full_queue_refuses_and_keeps_what_it_has(
    file: str, tmp_path: Path, down: Refusing
) -> None:
    environ = to(down, QUEUE_BYTES="1000000")
    spans = [span(run, 1, padding=100_000) for run in range(15)]
    with collector(file, tmp_path, **environ) as running:
        statuses = {item["spanId"]: status_of(running, item) for item in spans}
        assert set(statuses.values()) == {200, 503}
        with next_hop(file, down) as requests:
            acknowledged = {id for id, status in statuses.items() if status == 200}
            wait_for(lambda: ids(requests()).keys() >= acknowledged, 60)
            assert ids(requests()).keys() >= acknowledged
            assert wait_for(lambda: status_of(running, span(99, 1)) == 200)


def test_tail_sampling_waits_while_the_queue_is_full(tmp_path: Path, down: Refusing) -> None:
    environ = to(down, **KEEP_ALL, QUEUE_BYTES="1000000")
    with collector("tail-sampling.yaml", tmp_path, **environ) as running:
        for run in range(15):
            assert status_of(running, span(run, 0, padding=100_000)) == 200
        assert wait_for(lambda: own(running, "otelcol_exporter_queue_size") > 800_000)
        with next_hop("tail-sampling.yaml", down) as requests:
            assert wait_for(lambda: len(ids(requests())) == 15, 60)


@pytest.mark.parametrize("file", ["local.yaml", "redact.yaml"])
def test_a_span_of_megabytes_goes_on_with_those_beside_it(
    file: str, tmp_path: Path, down: Refusing
) -> None:
    large = span(0, 0, padding=8 << 20)
    with next_hop(file, down) as requests, collector(file, tmp_path, **to(down)) as running:
        for _ in range(2):  # the second one finds a batch that waits
            assert status_of(running, span(1, 1)) == 200
            assert status_of(running, span(0, 1), large, span(0, 2)) == 200
        wait_for(lambda: len(ids(requests())) == 4)
        assert len(ids(requests())) == 4


def test_the_archive_goes_on_in_new_files_and_over_restarts(tmp_path: Path, down: Refusing) -> None:
    environ = to(down, ARCHIVE_FILE_MB="1")
    for half in (range(RUNS // 2), range(RUNS // 2, RUNS)):
        with collector("local.yaml", tmp_path, **environ) as running:
            for run in half:
                spans = [span(run, number, padding=30_000) for number in range(SPANS)]
                assert status_of(running, *spans) == 200
            running.process.kill()
            running.process.wait()
    files = [*(tmp_path / "archive").iterdir()]
    assert len(files) > 10
    assert all(file.stat().st_size <= 1 << 20 for file in files)
    assert_every_call_once(tmp_path / "archive")


def rules() -> dict[str, str]:
    alerts = yaml.safe_load((CONFIGS / "grafana" / "alerts.yaml").read_text())
    (group,) = (group for group in alerts["groups"] if group["name"] == "collector")
    return {rule["alert"]: rule["expr"] for rule in group["rules"]}


def firing(url: str) -> dict[str, list[str]]:
    """Return the exporters or receivers for which a rule of the Collector has a result."""
    results = {}
    for name, expr in rules().items():
        query = urllib.parse.urlencode({"query": expr})
        with urllib.request.urlopen(f"{url}/api/v1/query?{query}", timeout=10) as answer:
            series = [item["metric"] for item in json.load(answer)["data"]["result"]]
        results[name] = [item.get("exporter") or item["receiver"] for item in series]
    return results


QUIET: dict[str, list[str]] = {name: [] for name in rules()}


@pytest.mark.parametrize("file", FILES)
def test_an_alert_fires_when_a_queue_fills(file: str, tmp_path: Path, down: Refusing) -> None:
    environ = to(down, **KEEP_ALL, QUEUE_BYTES="1000000")
    exporter = "otlp_grpc/store" if file == "local.yaml" else "otlp_http/next"
    expected = {**QUIET, "CollectorQueueNearlyFull": [exporter]}
    with (
        collector(file, tmp_path, **environ) as running,
        prometheus(tmp_path / "prometheus", running) as url,
    ):
        assert wait_for(lambda: own_metrics_are_scraped(url))
        assert firing(url) == QUIET
        for n in range(9):
            assert status_of(running, span(n, 1, padding=100_000)) == 200
        assert wait_for(lambda: firing(url) == expected), firing(url)
        if file == "redact.yaml":
            assert status_of(running, span(9, 1, padding=200_000)) == 503
            expected["CollectorRefusesData"] = ["otlp"]
            assert wait_for(lambda: firing(url) == expected), firing(url)


def own_metrics_are_scraped(url: str) -> bool:
    with urllib.request.urlopen(
        f"{url}/api/v1/query?query=otelcol_exporter_queue_capacity"
    ) as item:
        return bool(json.load(item)["data"]["result"])


def test_an_alert_fires_when_the_next_hop_refuses_for_good(tmp_path: Path) -> None:
    with (
        HttpReceiver(status=401) as next_one,
        collector("redact.yaml", tmp_path, NEXT_ENDPOINT=next_one.endpoint) as running,
        prometheus(tmp_path / "prometheus", running) as url,
    ):
        assert wait_for(lambda: own_metrics_are_scraped(url))
        assert status_of(running, span(0, 1)) == 200
        expected = {**QUIET, "CollectorLosesData": ["otlp_http/next"]}
        assert wait_for(lambda: firing(url) == expected), firing(url)


@pytest.mark.parametrize("file", FILES)
def test_network_exporters_queue_on_disk_and_retry_forever(file: str) -> None:
    config = yaml.safe_load((CONFIGS / file).read_text())
    exporters = {name: exporter for name, exporter in config["exporters"].items()
                 if name.partition("/")[0] in NETWORK_EXPORTERS}  # fmt: skip
    assert exporters
    for exporter in exporters.values():
        assert exporter["retry_on_failure"]["max_elapsed_time"] == 0
        assert exporter["sending_queue"]["storage"] == "file_storage"
    assert {"file_storage", "health_check"} <= {*config["service"]["extensions"]}
    assert config["service"]["telemetry"]["metrics"]["readers"]
