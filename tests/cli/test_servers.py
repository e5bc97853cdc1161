"""Commands that read a server: they show the place, name what is missing, and hide credentials."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest

from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.servers import http
from tests.cli.conftest import Invoke
from tests.reading.sources.loopback import FakeJaeger, Loopback, Reply, Request

STORED = Path(__file__).parent.parent / "fixtures" / "tempo" / "defaults"
CUT = "1e50dfa4b04451a681956db3621a1a28"


def stored(request: Request) -> Reply:
    trace_id = request.path.rpartition("/")[2]
    return 200, {}, (STORED / f"{trace_id}.v2.pb").read_bytes() if trace_id == CUT else b""


def test_rebuild_reads_a_server_and_reports_what_its_store_loses(invoke: Invoke) -> None:
    with Loopback(stored) as server:
        result = invoke("rebuild", f"tempo://{server.place}?trace={CUT}", "--fidelity", "f.jsonl")
    assert (result.exit_code, len(result.stdout.splitlines())) == (0, 1)
    assert "1 trace, 2 spans, no problems" in result.stderr
    report = json.loads(Path("f.jsonl").read_text())
    assert report["summary"]["truncated"] > 0
    assert "attributes are cut at 2,048 bytes" in report["store_loses"][0]


def test_show_reads_a_server_and_beside_it_a_file(invoke: Invoke, recording: Path) -> None:
    with Loopback(stored) as server:
        place = f"tempo://{server.place}?trace={CUT}"
        assert "medium" in invoke("show", place).stdout
        assert "2 traces" in invoke("rebuild", place, recording).stderr


def test_missing_input_is_a_problem_and_sets_the_exit_code(invoke: Invoke) -> None:
    with Loopback(stored) as server:
        some = invoke("rebuild", f"tempo://{server.place}?trace={CUT}&trace=2")
        none = invoke("rebuild", f"tempo://{server.place}?trace=2")
    assert (some.exit_code, none.exit_code) == (1, 3)
    for result in (some, none):
        assert re.search(r"trace 0{31}2:? is not there", result.stderr)


@pytest.mark.parametrize("flag", [[], ["--debug"]])
def test_no_password_is_shown_whatever_is_wrong(
    invoke: Invoke, recording: Path, monkeypatch: pytest.MonkeyPatch, flag: list[str]
) -> None:
    monkeypatch.setattr(http, "_WAITS_S", ())
    for wrong in ("127.0.0.1:1?trace=1", "127.0.0.1:1?tracee=1", "h:port", "127.0.0.1:1?trace=x"):
        for sources in ([f"tempo://me:s3cret@{wrong}"], [f"tempo://me:s3cret@{wrong}", recording]):
            result = invoke("rebuild", *sources, *flag)
            assert result.exit_code != 0
            assert "s3cret" not in result.output + repr(result.exception)


def test_an_unknown_service_is_an_error(invoke: Invoke) -> None:
    span = SpanRecord("6a" * 16, "6b" * 8, start_ns=time.time_ns(), resource={"service.name": "a"})
    with Loopback(FakeJaeger({span.trace_id: [span]})) as server:
        for command in ("show", "rebuild"):
            result = invoke(command, f"jaeger://{server.place}?service=b&since=1h")
            assert (result.exit_code, result.stdout) == (3, "")
            assert result.stderr == (
                f"error: jaeger://{server.place} has no service 'b', it has 'a'\n"
                " hint: leave out service= for all\n"
            )
