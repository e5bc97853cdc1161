"""A password in a URL that is given to a command is on no stream, whatever the command makes of it.

Nothing listens at these addresses: a command that connects fails, and its message quotes what it
was given.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agentool_otel.cli import main
from agentool_otel.evaluation.judges import endpoint
from agentool_otel.reading.sources.servers import http
from tests.click_runner import CliRunner

PASSWORD = "hunter2CANARY"
PLACES = [
    f"https://user:{PASSWORD}@127.0.0.1:1/c.json",
    f"http://{PASSWORD}@127.0.0.1:1/c.jsonl",
    f"https:/user:{PASSWORD}@127.0.0.1:1/c.json",
    f"HTTPS://user:a%40{PASSWORD}@127.0.0.1:1/c.json",
    f"http://user:{PASSWORD}/x@127.0.0.1:1/c.json",
    f"https://127.0.0.1:1/c.json?sig={PASSWORD}",
    f"jaeger://user:{PASSWORD}@127.0.0.1:1?service=x",
    f"tempo+https://user:{PASSWORD}@127.0.0.1:1",
    f"tempo://user:{PASSWORD}@127.0.0.1:1?servce=x",
    f"s3://user:{PASSWORD}@bucket/c.json",
    f"ftp://user:{PASSWORD}@127.0.0.1:1/c.json",
    f"sftp://user:{PASSWORD}@127.0.0.1:1/c.json",
    f"file://user:{PASSWORD}@127.0.0.1/c.json",
    f"memory://user:{PASSWORD}@h/c.json",
    f"github://user:{PASSWORD}@repo/c.json",
    f"simplecache::https://user:{PASSWORD}@127.0.0.1:1/c.json",
    f"nowhere://user:{PASSWORD}@127.0.0.1/c.json",
    f"https://user:{PASSWORD}@[::1/c.json",
    f"https://user:{PASSWORD}@127.0.0.1:99999999/c.json",
    f"user:{PASSWORD}@127.0.0.1:1",
    f"//user:{PASSWORD}@127.0.0.1/c.json",
    f"https:\\\\user:{PASSWORD}@127.0.0.1\\c.json",
]
URL = "URL"
COMMANDS = [
    ["rebuild", URL],
    ["rebuild", URL, "good.jsonl"],
    ["rebuild", "good.jsonl", "-o", URL],
    ["rebuild", "good.jsonl", "--fidelity", URL],
    ["rebuild", "good.jsonl", "--unpack-limit", URL],
    ["show", URL],
    ["show", URL, "1"],
    ["show", "good.jsonl", URL],
    ["eval", URL, "good.jsonl"],
    ["eval", "checks.json", URL],
    ["eval", "checks.json", "good.jsonl", "-o", URL],
    ["eval", "checks.json", "good.jsonl", "--junit", URL],
    ["eval", "checks.json", "good.jsonl", "--html", URL],
    ["eval", "checks.json", "good.jsonl", "--match", URL],
    ["eval", "rubric.json", "good.jsonl", "--judge-model", "m", "--judge-url", URL],
    ["diff", URL, "good.jsonl"],
    ["diff", "good.jsonl", URL],
    ["diff", "good.jsonl", "good.jsonl", "-o", URL],
    ["compare", URL],
    ["compare", URL, "good.jsonl"],
    ["convert", URL, "--to", "agentool"],
    ["convert", "good.jsonl", "--to", URL],
    ["validate", URL],
    ["validate", URL, "good.jsonl"],
    ["export", URL],
    ["export", "good.jsonl", "-o", URL],
    ["export", "good.jsonl", "--endpoint", URL],
    ["doctor", "--endpoint", URL],
    ["doctor", "--source", URL],
    ["doctor", "--endpoint", "http://127.0.0.1:1", "--source", URL],
    ["recover", URL],
    ["recover", "--endpoint", URL],
    ["clean", URL],
    ["run", "--endpoint", URL],
    ["run", "--endpoint", URL, "--", "nothing-there"],
    [URL],
    ["rebuild", "--nothing", URL],
    ["show", f"--last={URL}"],
]


async def _no_sleep(seconds: float) -> None:
    """Wait for nothing."""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "_WAITS_S", ())
    monkeypatch.setattr(endpoint, "sleep", _no_sleep)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "200")
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.chdir(tmp_path)
    run = {"trace_id": "t", "agent_id": "a", "status": "success", "steps": [], "output": "x"}
    Path("good.jsonl").write_text(json.dumps(run))
    Path("checks.json").write_text('{"type": "status"}')
    Path("rubric.json").write_text('{"type": "rubric", "rubric": "polite"}')


@pytest.mark.parametrize("debug", [False, True], ids=["", "debug"])
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_a_password_in_a_url_is_on_no_stream(command: list[str], debug: bool) -> None:
    leaks: list[str] = []
    for place in PLACES[:5] if debug else PLACES:
        arguments = [item.replace(URL, place) for item in command]
        if debug and command[0] != "run":
            arguments.append("--debug")
        result = CliRunner().invoke(main, arguments)
        shown = result.output + (repr(result.exception) if result.exception else "")
        if PASSWORD in shown:
            at = shown.index(PASSWORD)
            leaks.append(f"{place} -> {shown[max(0, at - 80) : at + 40]!r}")
    assert leaks == []
