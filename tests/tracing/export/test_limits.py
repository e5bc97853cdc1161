"""A folder of recordings stays below its limits, and readers see each recording as one."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

import agentool_otel
from agentool_otel.cli.recover import recover
from agentool_otel.errors import ConfigurationError
from agentool_otel.ground.recording_names import own_name
from agentool_otel.loading import load
from agentool_otel.reading.sources.opening import open_source, open_spans
from agentool_otel.semconv import agentool
from agentool_otel.tracing.export.disk.enforcement import Enforcer
from agentool_otel.tracing.export.disk.limits import Limits
from agentool_otel.tracing.export.disk.recording import RecordingExporter
from agentool_otel.tracing.export.disk.removal import recordings_in
from agentool_otel.tracing.export.disk.stored_texts import mentioned_digests
from tests.tracing.export.limited import (
    SERVE,
    SERVER,
    environ,
    python,
    record,
    size_of,
    spans,
)

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork and locks")

WALK = """
def everything():
    for folder, _, names in os.walk(".agentool"):
        yield from (os.path.join(folder, name) for name in names)

"""


def traces(place: Path) -> dict[str, Any]:
    return {trace.trace_id: trace.to_dict() for trace in load(place)}


# ------------------------------------------------------------------------------ one recording


def test_a_recording_in_two_files_is_read_as_one_by_either_name(tmp_path: Path) -> None:
    first, second, third = spans(1)
    paths = record(tmp_path, [[first], [second, third]])
    assert [path.suffixes[-2:] for path in paths][1] == [".2", ".jsonl"]
    for place in (tmp_path, *paths):
        (trace,) = load(place)
        assert sum(step.type == "tool_call" for step in trace.steps) == 2
    both = open_spans([str(path) for path in paths])
    assert len(list(both.spans())) == 3


def test_clean_and_keep_count_a_recording_in_two_files_once(tmp_path: Path) -> None:
    ended_spans = spans(2)
    paths = record(tmp_path, [ended_spans[:2], ended_spans[2:]])
    (recording,) = recordings_in(tmp_path)
    assert recording.files == tuple(paths)
    assert recording.size == sum(path.stat().st_size for path in paths)


@given(st.data())
def test_no_rotation_and_no_removal_changes_the_runs_that_remain(data: st.DataObject) -> None:
    ended_spans = spans(4)
    cuts = sorted(data.draw(st.sets(st.integers(1, len(ended_spans) - 1))))
    bounds = [0, *cuts, len(ended_spans)]
    parts = [ended_spans[start:end] for start, end in pairwise(bounds)]
    removed = data.draw(st.sets(st.sampled_from(range(len(parts))), max_size=len(parts) - 1))
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as split:
        record(Path(one), [ended_spans])
        paths = record(Path(split), parts)
        expected = traces(Path(one))
        for number in data.draw(st.permutations(sorted(removed))):
            paths[number].unlink()
        lost = {
            span.context.trace_id for number in removed for span in parts[number] if span.context
        }
        result = traces(Path(split))
        for trace_id, trace in expected.items():
            if int(trace_id.partition(":")[0], 16) not in lost:
                assert result[trace_id] == trace


# ------------------------------------------------------------------------------------ limits


def test_a_server_stays_below_its_limit(tmp_path: Path) -> None:
    largest = int(python(tmp_path, SERVER, "2MB", "1500"))
    assert 1_000_000 < largest <= 2_000_000
    assert size_of(tmp_path) <= 2_000_000
    (recording,) = recordings_in(tmp_path / ".agentool")
    assert len(recording.files) > 4
    newest = max(load(tmp_path / ".agentool"), key=lambda trace: trace.started_at or "")
    assert newest.input == "1499"


@pytest.mark.thorough
def test_a_server_of_large_texts_stays_below_its_limit(tmp_path: Path) -> None:
    """Each text is stored apart, and is larger than a file of the recording may be."""
    code = SERVER.replace('"x" * 2_000', "os.urandom(700_000).hex()").replace("number % 20", "0")
    code = code.replace('os.scandir(".agentool")', "everything()").replace(
        "def size():", WALK + "def size():"
    )
    largest = int(python(tmp_path, code, "20MB", "40"))
    assert 5_000_000 < largest <= 20_000_000


def test_two_processes_share_one_limit(tmp_path: Path) -> None:
    both = [
        subprocess.Popen(
            [sys.executable, "-c", SERVER, "2MB", "1000"],
            cwd=tmp_path,
            env=environ(),
            stdout=subprocess.PIPE,
        )
        for _ in range(2)
    ]
    largest = [int(process.communicate(timeout=120)[0]) for process in both]
    assert max(largest) <= 2_000_000
    assert size_of(tmp_path) <= 2_000_000
    assert {trace.input for trace in load(tmp_path / ".agentool")} >= {"999"}


def test_without_a_limit_a_recording_is_one_file(tmp_path: Path) -> None:
    code = SERVER.replace("max_size=sys.argv[1]", "")
    python(tmp_path, code, "", "50")
    assert len(list((tmp_path / ".agentool").glob("*.jsonl"))) == 1


def test_files_older_than_the_limit_are_removed(tmp_path: Path) -> None:
    old, new = record(tmp_path, [spans(1)]), record(tmp_path, [spans(1)])
    os.utime(old[0], (0, time.time() - 3 * 86_400))
    code = SERVER.replace("max_size=sys.argv[1]", "").replace('".agentool"', '"."')
    python(tmp_path, code, "", "1", AGENTOOL_DIR=".", AGENTOOL_MAX_AGE="2d")
    assert not old[0].exists()
    assert new[0].exists()


def limited(folder: Path, size: int = 1) -> None:
    assert Enforcer(folder).enforce(Limits(size))


def test_a_recording_that_a_test_names_stays(tmp_path: Path) -> None:
    named, other = record(tmp_path, [spans(1)]), record(tmp_path, [spans(1)])
    mark = named[0].with_suffix(".keep")
    mark.write_text("baseline of test_answers")
    limited(tmp_path)
    assert (named[0].exists(), other[0].exists()) == (True, False)
    mark.unlink()
    limited(tmp_path)
    assert not named[0].exists()


def test_a_recording_that_a_command_reads_stays(tmp_path: Path) -> None:
    read, other = record(tmp_path, [spans(1)]), record(tmp_path, [spans(1)])
    source = open_source(read[0])
    limited(tmp_path)
    assert (read[0].exists(), other[0].exists()) == (True, False)
    assert len(list(source.spans())) == 3
    del source
    limited(tmp_path)
    assert not read[0].exists()


def test_a_folder_that_a_command_reads_stays(tmp_path: Path) -> None:
    (path,) = record(tmp_path, [spans(1)])
    source = open_source(tmp_path)
    assert not Enforcer(tmp_path).enforce(Limits(1))
    assert path.exists()
    del source
    limited(tmp_path)
    assert not path.exists()


COMMANDS = {
    "show": ["show", "--json"],
    "rebuild": ["rebuild"],
    "eval": ["eval", "cases.json", "--fail-on", "never"],
}


@pytest.mark.skipif(not Path("/proc/locks").exists(), reason="needs Linux")
@pytest.mark.parametrize("named", ["folder", "file"])
@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_reads_a_recording_as_a_whole(command: str, named: str, tmp_path: Path) -> None:
    """A limit removes nothing of it once the command has its locks."""
    ended_spans = spans(60)
    folder = tmp_path / ".agentool"
    paths = record(folder, [ended_spans[start : start + 20] for start in range(0, 180, 20)])
    case = {"assertions": [{"type": "latency", "max_ms": 9000}]}
    (tmp_path / "cases.json").write_text(json.dumps(case))
    place = str(folder if named == "folder" else paths[-1])
    process = subprocess.Popen(
        [str(Path(sys.executable).with_name("agentool-otel")), *COMMANDS[command], place],
        cwd=tmp_path,
        env=environ(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    expected = 1 if named == "folder" else len(paths)
    while process.poll() is None and shared_locks(process.pid) < expected:
        time.sleep(0.001)
    removed = 0
    while process.poll() is None:
        Enforcer(folder).enforce(Limits(1))
        removed += 1
    assert removed
    stdout, stderr = process.communicate()
    assert len(stdout.splitlines()) == 60, stderr
    limited(folder)
    assert not list(folder.glob("*.jsonl"))


def shared_locks(pid: int) -> int:
    """Return the number of shared locks that a process has."""
    lines = Path("/proc/locks").read_text().splitlines()
    return sum(f" READ {pid} " in line for line in lines)


@pytest.mark.parametrize(
    "suffix", [".spool", ".refused", ".logs.spool", ".logs.refused", ".open", ".open.damaged"]
)
def test_what_waits_is_never_removed_by_a_limit(suffix: str, tmp_path: Path) -> None:
    (path,) = record(tmp_path, [spans(1)])
    name = own_name(path.name)
    assert name is not None
    waiting = tmp_path / (name.stem + suffix)
    waiting.write_bytes(b"waits")
    limited(tmp_path)
    assert waiting.exists()


OPEN_RUN = """
import agentool_otel
from agentool_otel.tracing.export.disk.limits import Limits

Limits.part_size = lambda self, writers=1: 5_000
agentool_otel.instrument(max_size="100KB", exclude=["threads"])

@agentool_otel.tool
def work(text):
    return text

with agentool_otel.run("long", input="the first"):
    work("inside")
    import threading
    def others():
        for number in range(200):
            with agentool_otel.run("short", input=str(number)):
                work("x" * 300)
    import contextvars
    thread = threading.Thread(target=contextvars.Context().run, args=(others,))
    thread.start()
    thread.join()
"""


def test_the_file_with_spans_of_an_open_run_stays(tmp_path: Path) -> None:
    python(tmp_path, OPEN_RUN)
    runs = {trace.agent_id: trace for trace in load(tmp_path / ".agentool")}
    assert len(runs["long"].steps) >= 1
    assert runs["long"].input == "the first"
    assert sum(trace.agent_id == "short" for trace in load(tmp_path / ".agentool")) < 200


NESTED = f"""{SERVE}
with agentool_otel.run("outer", input="open for days"):
    if "fork" not in sys.argv:
        print(serve("inner", 600))
    elif pid := os.fork():
        os.waitpid(pid, 0)
    else:
        print(serve("inner", 600), flush=True)
        os._exit(0)
"""


@pytest.mark.parametrize("where", ["here", "fork"])
def test_a_run_that_stays_open_has_a_limit(where: str, tmp_path: Path) -> None:
    largest = int(python(tmp_path, NESTED, "1MB", where))
    assert 300_000 < largest <= 1_000_000
    recover(tmp_path / ".agentool")
    (outer,) = [trace for trace in load(tmp_path / ".agentool") if trace.agent_id == "outer"]
    assert outer.input == "open for days"
    recorded = list(open_source(tmp_path / ".agentool").spans())
    assert {span.trace_id for span in recorded} == {outer.trace_id.partition(":")[0]}
    assert len({span.span_id for span in recorded}) == len(recorded)
    assert any("599" in str(dict(span.attributes)) for span in recorded)


def test_texts_go_with_the_files_that_referred_to_them(tmp_path: Path) -> None:
    code = SERVER.replace('work("x" * 2_000)', "work(str(number) * 1_500_000)")
    python(tmp_path, code, "12MB", "12")
    folder = tmp_path / ".agentool"
    assert size_of(folder) <= 12_000_000
    texts = {path.name for path in (folder / "content").iterdir()}
    recorded = b"".join(path.read_bytes() for path in folder.glob("*.jsonl"))
    assert texts
    assert all(text.encode() in recorded for text in texts)


def test_a_text_that_a_kill_has_cut_goes_after_an_hour(tmp_path: Path) -> None:
    texts = tmp_path / "content"
    texts.mkdir()
    new, old, other = (texts / f"{digit * 64}.7.7f00" for digit in "abc")
    other = other.with_suffix(".txt")
    for path in (new, old, other):
        path.write_bytes(b"cut")
    for path in (old, other):
        os.utime(path, (0, time.time() - 3_700))
    recover(tmp_path)
    assert sorted(texts.iterdir()) == sorted([new, other])


def test_a_text_that_a_recording_only_mentions_stays(tmp_path: Path) -> None:
    data = b"of the user"
    digest = hashlib.sha256(data).hexdigest()
    (tmp_path / "content").mkdir()
    (tmp_path / "content" / digest).write_bytes(data)
    note = f'{{"key":"{agentool.CONTENT_SHORTENED}","value":{{"stringValue":"{digest}"}}}}'
    provider = TracerProvider(shutdown_on_exit=False)
    exporter = RecordingExporter(tmp_path)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    provider.get_tracer("test").start_span("chat", attributes={"prompt": note}).end()
    exporter.shutdown()
    limited(tmp_path)
    assert not list(tmp_path.glob("*.jsonl"))
    assert (tmp_path / "content" / digest).read_bytes() == data


# ---------------------------------------------------------------------------------- settings


def test_a_misspelt_limit_is_named_and_ignored(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import agentool_otel\nagentool_otel.instrument()"],
        cwd=tmp_path,
        env=environ(AGENTOOL_MAX_SIZE="lots", AGENTOOL_MAX_AGE="7 tage"),
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert "AGENTOOL_MAX_SIZE=lots is not a number of bytes above 0" in done.stderr
    assert "AGENTOOL_MAX_AGE=7 tage is not an age above 0" in done.stderr


@pytest.mark.parametrize(
    "options",
    [{"max_size": "lots"}, {"max_age": "7"}, {"max_size": True}, {"max_size": "99KB"}],
)
def test_a_wrong_limit_in_code_is_an_error(options: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError, match="max_"):
        agentool_otel.instrument(**options)


def test_a_limit_of_less_than_100_kb_is_named_and_ignored(tmp_path: Path) -> None:
    for value, refused in (("99KB", True), ("100KB", False)):
        done = subprocess.run(
            [sys.executable, "-c", "import agentool_otel\nagentool_otel.instrument()"],
            cwd=tmp_path,
            env=environ(AGENTOOL_MAX_SIZE=value),
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        words = f"AGENTOOL_MAX_SIZE={value} is less than the smallest limit, which is 100KB"
        assert (words in done.stderr) == refused


def test_the_smallest_limit_holds(tmp_path: Path) -> None:
    largest = int(python(tmp_path, SERVER.replace("number % 20", "0"), "100KB", "200"))
    assert 40_000 < largest <= 100_000


_DIGEST = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")


@given(st.lists(st.tuples(st.text('0f"g ', max_size=20), st.sampled_from([1, 63, 64, 65, 200]))))
def test_exactly_the_runs_of_64_digits_are_digests(pieces: list[tuple[str, int]]) -> None:
    data = "".join(text + "a" * digits for text, digits in pieces).encode()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "recording")
        path.write_bytes(data)
        assert list(mentioned_digests(path)) == _DIGEST.findall(data)
