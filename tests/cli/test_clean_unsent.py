"""`clean --unsent ENDPOINT`: what dead programs could not send is removed, and nothing else is."""

from __future__ import annotations

import pytest

from agentool_otel.tracing.export.disk.leftovers import RecoveryReport
from agentool_otel.tracing.export.disk.recovery import destinations
from tests.cli.conftest import Invoke
from tests.cli.test_clean import DEAD, FOLDER, KILL, STOPS, ended, files, recordings, running

ENDPOINT = "http://127.0.0.1:9"
LOGGED = """
import agentool_otel
from opentelemetry import _logs
agentool_otel.instrument(endpoint='http://127.0.0.1:9')

@agentool_otel.tool
def work():
    _logs.get_logger("test").emit(_logs.LogRecord(body="at work"))

work()
"""


@pytest.mark.parametrize(("end", "number"), [("pass", "2 spans"), (KILL, "2 spans")])
def test_spans_that_wait_for_the_endpoint_are_removed(
    invoke: Invoke, end: str, number: str
) -> None:
    ended(STOPS.format(options=DEAD, end=end))
    result = invoke("clean", "--unsent", ENDPOINT, "--yes")
    assert (result.exit_code, result.stderr) == (0, f"{number} removed from .agentool\n")
    assert not FOLDER.exists()


def test_log_records_are_counted_too(invoke: Invoke) -> None:
    ended(LOGGED)
    result = invoke("clean", "--unsent", ENDPOINT, "--yes")
    assert result.stderr == "1 span and 1 log record removed from .agentool\n"
    assert not FOLDER.exists()


def test_recordings_and_spans_for_other_endpoints_stay(invoke: Invoke) -> None:
    ended()
    ended(STOPS.format(options="endpoint='http://127.0.0.1:10'", end="pass"))
    before = files()
    result = invoke("clean", "--unsent", ENDPOINT, "--yes")
    assert result.stderr == (
        "0 spans removed from .agentool\n hint: spans wait there for http://127.0.0.1:10\n"
    )
    assert files() == before
    invoke("clean", "--unsent", "http://127.0.0.1:10/", "--yes")
    assert sorted(files()) == [".gitignore", *recordings()]


def test_spans_of_a_running_program_stay(invoke: Invoke) -> None:
    with running(DEAD):
        before = files()
        result = invoke("clean", "--unsent", ENDPOINT, "--yes")
        assert result.stderr.startswith("0 spans removed")
        assert files().keys() == before.keys()


def test_a_dry_run_lists_the_files_and_removes_none(invoke: Invoke) -> None:
    ended(STOPS.format(options=DEAD, end="pass"))
    before = files()
    result = invoke("clean", "--unsent", ENDPOINT, "--dry-run")
    assert sorted(result.stdout.split()) == sorted(
        str(FOLDER / name) for name in before if name != ".gitignore"
    )
    assert result.stderr == "2 spans would be removed from .agentool\n"
    assert files() == before


def test_without_a_terminal_it_needs_yes(invoke: Invoke) -> None:
    ended(STOPS.format(options=DEAD, end="pass"))
    before = files()
    result = invoke("clean", "--unsent", ENDPOINT)
    assert result.exit_code == 2
    assert "nothing removed: without a terminal, removing 2 spans needs --yes" in result.stderr
    assert files() == before


def test_options_for_recordings_do_not_go_with_it(invoke: Invoke) -> None:
    FOLDER.mkdir()
    assert invoke("clean", "--unsent", ENDPOINT, "--keep", "1").exit_code == 2
    assert "is not a URL" in invoke("clean", "--unsent", "localhost").stderr


def test_a_removal_that_is_interrupted_leaves_no_open_span(
    invoke: Invoke, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended(STOPS.format(options=DEAD, end=KILL))
    (journal,) = FOLDER.glob("*.open")
    assert len(journal.read_bytes().splitlines()) > 1
    with monkeypatch.context() as patched:
        patched.setattr("pathlib.Path.unlink", _fails)
        assert invoke("clean", "--unsent", ENDPOINT, "--yes").exit_code == 1
    assert len(journal.read_bytes().splitlines()) == 1
    assert list(FOLDER.glob("*.spool"))
    assert [item.address for item in destinations(FOLDER, RecoveryReport(FOLDER))] == [ENDPOINT]


def _fails(*_: object, **__: object) -> None:
    raise PermissionError(1, "not now")
