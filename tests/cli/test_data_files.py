"""Output files of commands: never the input, and each one complete or unchanged."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Invoke, agentool
from tests.users import NOBODY, as_nobody, needs_root, needs_users

OLD = b"what was there before\n"
DOCUMENT = b'{"trace_id":"t1","steps":[{"type":"reasoning","content":"hm"}]}\n'
needs_unix = pytest.mark.skipif(sys.platform == "win32", reason="signals, links and devices")


def only(folder: Path) -> Path:
    """The one file of a folder: nothing is left beside it."""
    (file,) = folder.iterdir()
    return file


# ---------------------------------------------------------------- an output is never an input


def itself(file: Path) -> Path:
    return file


def relative(file: Path) -> Path:
    return Path(os.path.relpath(file))


def symbolic(file: Path) -> Path:
    (link := file.with_name("link")).symlink_to(file)
    return link


def hard(file: Path) -> Path:
    (link := file.with_name("hard")).hardlink_to(file)
    return link


@pytest.mark.parametrize("path", [itself, relative, symbolic, hard])
@pytest.mark.parametrize("option", ["--output", "--fidelity"])
def test_rebuild_refuses_to_write_what_it_reads(
    invoke: Invoke, recording: Path, recorded: bytes, path: Callable[[Path], Path], option: str
) -> None:
    result = invoke("rebuild", recording, option, path(recording))
    assert result.exit_code == 2
    assert f"is also read: {recording} is the same file" in result.stderr
    assert f"hint: name another file with {option}" in result.stderr
    assert recording.read_bytes() == recorded


@pytest.mark.parametrize("path", [itself, relative, symbolic, hard])
def test_export_refuses_to_write_what_it_reads(
    invoke: Invoke, tmp_path: Path, path: Callable[[Path], Path]
) -> None:
    (documents := tmp_path / "traces.jsonl").write_bytes(DOCUMENT)
    result = invoke("export", documents, "-o", path(documents))
    assert result.exit_code == 2
    assert "is the same file" in result.stderr
    assert documents.read_bytes() == DOCUMENT


@pytest.mark.parametrize("source", [".", "*.jsonl", "spans.jsonl other.jsonl"])
def test_a_file_in_an_input_folder_or_pattern_is_an_input(
    invoke: Invoke, recording: Path, recorded: bytes, source: str
) -> None:
    (name := recording.with_name("other.jsonl")).write_bytes(recorded)
    assert invoke("rebuild", *source.split(), "-o", name).exit_code == 2
    assert name.read_bytes() == recorded


def test_the_default_folder_is_read(invoke: Invoke, recorded: bytes) -> None:
    (Path(".agentool")).mkdir()
    (file := Path(".agentool/traces.jsonl")).write_bytes(recorded)
    assert invoke("rebuild", "-o", file).exit_code == 2
    assert file.read_bytes() == recorded


@pytest.mark.parametrize("command", ["rebuild", "export"])
def test_a_file_on_standard_input_is_an_input(recording: Path, command: str) -> None:
    recording.write_bytes(DOCUMENT)
    with recording.open() as stream:
        result = agentool(command, "-", "-o", recording, stdin=stream)
    assert result.returncode == 2
    assert "standard input is the same file" in result.stderr
    assert recording.read_bytes() == DOCUMENT


def test_standard_output_must_not_append_to_an_input(recording: Path, recorded: bytes) -> None:
    command = [sys.executable, "-m", "agentool_otel", "rebuild", str(recording)]
    with recording.open("ab") as stream:
        result = subprocess.run(command, stdout=stream, stderr=subprocess.PIPE, check=False)
    assert result.returncode == 2
    assert b"standard output is also read" in result.stderr
    assert recording.read_bytes() == recorded


def test_no_file_is_written_into_the_input_folder(invoke: Invoke, recording: Path) -> None:
    result = invoke("rebuild", ".", "-o", "traces.jsonl", "--fidelity", "fidelity.jsonl")
    assert result.exit_code == 2
    assert "traces.jsonl is in ., of which all recordings are read" in result.stderr
    assert os.listdir() == ["spans.jsonl"]


@pytest.mark.parametrize("written", ["new.jsonl", "old.jsonl", "-"])
def test_two_outputs_cannot_be_the_same_file(invoke: Invoke, recording: Path, written: str) -> None:
    Path("old.jsonl").write_bytes(OLD)
    same = written if written == "-" else f"../{Path.cwd().name}/{written}"
    result = invoke("rebuild", recording, "-o", written, "--fidelity", same)
    assert result.exit_code == 2
    assert "--output and --fidelity both name" in result.stderr
    assert Path("old.jsonl").read_bytes() == OLD
    assert not Path("new.jsonl").exists()


# ------------------------------------------------------------------------ whole, or as before


def test_an_error_leaves_the_old_files_as_they_were(invoke: Invoke, tmp_path: Path) -> None:
    (folder := tmp_path / "out").mkdir()
    (folder / "t.jsonl").write_bytes(OLD)
    Path("broken.jsonl").write_bytes(b"no spans at all\n")
    result = invoke(
        "rebuild", "broken.jsonl", "-o", folder / "t.jsonl", "--fidelity", folder / "f.jsonl"
    )
    assert result.exit_code == 3
    assert only(folder).read_bytes() == OLD


def test_the_readable_part_of_damaged_input_replaces_the_old_file(
    invoke: Invoke, recording: Path, tmp_path: Path
) -> None:
    (folder := tmp_path / "out").mkdir()
    (folder / "t.jsonl").write_bytes(OLD)
    recording.write_bytes(recording.read_bytes()[:-300])
    assert invoke("rebuild", recording, "-o", folder / "t.jsonl").exit_code == 1
    assert b'"add"' in only(folder).read_bytes()


@pytest.fixture(params=["rebuild", "export"])
def working(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A command in the midst of writing out/t.jsonl, which exists, and its report."""
    (folder := tmp_path / "out").mkdir()
    (folder / "t.jsonl").write_bytes(OLD)
    command = [sys.executable, "-m", "agentool_otel", request.param, "-", "-o", "out/t.jsonl"]
    if request.param == "rebuild":
        command += ["--fidelity", "out/f.jsonl"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        process.stdin.write(DOCUMENT * 3000)
        process.stdin.flush()
        until = time.monotonic() + 60
        while time.monotonic() < until:
            if any(file.stat().st_size for file in folder.glob(".t.jsonl.*-unfinished")):
                break
            time.sleep(0.01)
        else:
            raise AssertionError("nothing is written")
        yield process
        process.kill()


@pytest.mark.thorough
@needs_unix
@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_an_interrupted_command_leaves_the_old_file_unchanged(
    working: subprocess.Popen[bytes], tmp_path: Path, name: str
) -> None:
    number = getattr(signal, name)
    working.send_signal(number)
    _, text = working.communicate(timeout=60)
    assert working.returncode == 128 + number
    assert b"Traceback" not in text
    assert only(tmp_path / "out").read_bytes() == OLD


@pytest.mark.thorough
@needs_unix
def test_a_killed_commands_leftover_is_recognizable_and_not_read(
    working: subprocess.Popen[bytes], tmp_path: Path, invoke: Invoke
) -> None:
    working.kill()
    working.wait()
    out = tmp_path / "out"
    assert (out / "t.jsonl").read_bytes() == OLD
    left = [file.name for file in out.iterdir() if file.name != "t.jsonl"]
    assert left
    assert all(name.startswith(".") and name.endswith(".agentool-unfinished") for name in left)
    (out / "t.jsonl").write_bytes(DOCUMENT)
    assert len(invoke("rebuild", out).stdout.splitlines()) == 1
    assert len(invoke("export", out).stdout.splitlines()) == 1


@needs_unix
def test_a_signal_that_was_ignored_stays_ignored(recording: Path) -> None:
    script = f"trap '' HUP; exec {sys.executable} -m agentool_otel rebuild - -o out.jsonl"
    with subprocess.Popen(["sh", "-c", script], stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        until = time.monotonic() + 60
        while not list(Path().glob(".out.jsonl.*")) and time.monotonic() < until:
            time.sleep(0.01)
        process.send_signal(signal.SIGHUP)
        process.stdin.write(recording.read_bytes())
        process.stdin.close()
        assert process.wait(timeout=60) == 0
    assert json.loads(Path("out.jsonl").read_text())["agent_id"] == "adder"


@needs_unix
@pytest.mark.parametrize("old", [None, OLD])
def test_a_full_disk_costs_nothing_but_the_new_file(
    recording: Path, tmp_path: Path, old: bytes | None
) -> None:
    """A limit on the size of files fails as a full disk does, after some of it has been written."""
    (folder := tmp_path / "out").mkdir()
    if old is not None:
        (folder / "t.jsonl").write_bytes(old)
    script = f"ulimit -f 1; exec {sys.executable} -m agentool_otel rebuild - -o out/t.jsonl"
    result = subprocess.run(
        ["sh", "-c", script], input=DOCUMENT * 300, capture_output=True, check=False
    )
    assert result.returncode == 1
    assert result.stderr == (
        b"error: out/t.jsonl: File too large\n hint: make room, or name a file on another disk\n"
    )
    assert [file.read_bytes() for file in folder.iterdir()] == ([] if old is None else [old])


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_a_full_disk_is_reported_with_a_hint(invoke: Invoke, recording: Path) -> None:
    result = invoke("rebuild", recording, "-o", "/dev/full")
    assert result.exit_code == 1
    assert result.stderr == (
        "error: /dev/full: No space left on device\n"
        " hint: make room, or name a file on another disk\n"
    )


def test_traces_and_reports_are_renamed_into_place_together(
    recording: Path, tmp_path: Path
) -> None:
    """The traces are whole, but there is no room for the reports."""
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    (traces := tmp_path / "t.jsonl").write_bytes(OLD)
    result = agentool("rebuild", recording, "-o", traces, "--fidelity", "/dev/full")
    assert result.returncode == 1
    assert traces.read_bytes() == OLD


# ------------------------------------------------------------------- what the new file is like


@needs_unix
def test_a_link_stays_a_link(invoke: Invoke, recording: Path, tmp_path: Path) -> None:
    (folder := tmp_path / "elsewhere").mkdir()
    (folder / "t.jsonl").write_bytes(OLD)
    (link := tmp_path / "link.jsonl").symlink_to("elsewhere/t.jsonl")
    assert invoke("rebuild", recording, "-o", link).exit_code == 0
    assert link.is_symlink()
    assert json.loads(only(folder).read_bytes())["agent_id"] == "adder"


@needs_unix
def test_a_dangling_link_is_followed(invoke: Invoke, recording: Path, tmp_path: Path) -> None:
    (link := tmp_path / "link.jsonl").symlink_to("new/t.jsonl")
    assert invoke("rebuild", recording, "-o", link).exit_code == 0
    assert link.is_symlink()
    assert json.loads(only(tmp_path / "new").read_bytes())["agent_id"] == "adder"


@needs_unix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_permissions_are_preserved(invoke: Invoke, recording: Path, mode: int) -> None:
    (out := Path("t.jsonl")).write_bytes(OLD)
    out.chmod(mode)
    assert invoke("rebuild", recording, "-o", out).exit_code == 0
    assert stat.S_IMODE(out.stat().st_mode) == mode


@needs_unix
def test_a_new_file_has_the_permissions_of_other_new_files(invoke: Invoke, recording: Path) -> None:
    invoke("rebuild", recording, "-o", "t.jsonl")
    Path("other").touch()
    assert Path("t.jsonl").stat().st_mode == Path("other").stat().st_mode


@needs_users
@needs_root
def test_the_owner_is_preserved(invoke: Invoke, recording: Path) -> None:
    (out := Path("t.jsonl")).write_bytes(OLD)
    os.chown(out, NOBODY, NOBODY)
    assert invoke("rebuild", recording, "-o", out).exit_code == 0
    assert (out.stat().st_uid, out.stat().st_gid) == (NOBODY, NOBODY)


@pytest.mark.parametrize("name", ["x" * 255, "ü" * 127])
def test_the_longest_name_can_be_written(invoke: Invoke, recording: Path, name: str) -> None:
    assert invoke("rebuild", recording, "-o", name).exit_code == 0
    assert Path(name).exists()


def test_a_folder_is_refused(invoke: Invoke, recording: Path, tmp_path: Path) -> None:
    result = invoke("rebuild", recording, "-o", tmp_path)
    assert result.exit_code == 2
    assert "is a directory" in result.stderr


@needs_unix
def test_a_link_to_itself_is_refused(invoke: Invoke, recording: Path) -> None:
    Path("loop").symlink_to("loop")
    result = invoke("rebuild", recording, "-o", "loop")
    assert result.exit_code == 2
    assert "loop cannot be written: Too many levels of symbolic links" in result.stderr


def test_a_path_below_a_file_is_refused(invoke: Invoke, recording: Path) -> None:
    Path("file").write_bytes(OLD)
    result = invoke("rebuild", recording, "-o", "file/t.jsonl")
    assert result.exit_code == 2
    assert "file/t.jsonl cannot be written" in result.stderr
    assert Path("file").read_bytes() == OLD


# ------------------------------------------------------------------------------ an ordinary user


@pytest.fixture
def shared() -> Iterator[Path]:
    """A folder that every user may look into."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@needs_users
@pytest.mark.parametrize("exists", [False, True])
def test_a_write_protected_folder_is_refused(
    invoke: Invoke, shared: Path, recorded: bytes, exists: bool
) -> None:
    (recording := shared / "spans.jsonl").write_bytes(recorded)
    (folder := shared / "out").mkdir()
    if exists:
        (folder / "t.jsonl").write_bytes(OLD)
        (folder / "t.jsonl").chmod(0o666)
    folder.chmod(0o555)
    with as_nobody():
        result = invoke("rebuild", recording, "-o", folder / "t.jsonl")
    folder.chmod(0o755)
    assert result.exit_code == 2
    assert f"{folder}/t.jsonl cannot be written: Permission denied\n hint: " in result.stderr
    assert [file.read_bytes() for file in folder.iterdir()] == ([OLD] if exists else [])


@needs_users
def test_a_write_protected_file_is_not_replaced(
    invoke: Invoke, shared: Path, recorded: bytes
) -> None:
    (recording := shared / "spans.jsonl").write_bytes(recorded)
    (folder := shared / "out").mkdir()
    (folder / "t.jsonl").write_bytes(OLD)
    (folder / "t.jsonl").chmod(0o444)
    folder.chmod(0o777)
    with as_nobody():
        result = invoke("rebuild", recording, "-o", folder / "t.jsonl")
    assert result.exit_code == 2
    assert "t.jsonl cannot be written: it is write-protected" in result.stderr
    assert only(folder).read_bytes() == OLD


@needs_users
@needs_root
def test_another_group_gets_no_access_it_did_not_have(
    invoke: Invoke, shared: Path, recorded: bytes
) -> None:
    (recording := shared / "spans.jsonl").write_bytes(recorded)
    (folder := shared / "out").mkdir()
    (folder / "t.jsonl").write_bytes(OLD)
    (folder / "t.jsonl").chmod(0o666)
    folder.chmod(0o777)
    os.chown(folder / "t.jsonl", 0, 12345)
    with as_nobody():
        assert invoke("rebuild", recording, "-o", folder / "t.jsonl").exit_code == 0
    assert stat.S_IMODE((folder / "t.jsonl").stat().st_mode) == 0o606


# ------------------------------------------------------------------- what is no file, directly


@needs_unix
@pytest.mark.parametrize("place", ["/dev/stdout", "/dev/fd/1", "-"])
def test_standard_output_is_written_directly(recording: Path, place: str) -> None:
    command = f"echo before; {sys.executable} -m agentool_otel rebuild {recording} -o {place}"
    for redirection in ("> all", "| cat > all"):
        subprocess.run(["sh", "-c", f"{{ {command}; echo after; }} {redirection}"], check=True)
        before, trace, after = Path("all").read_text().splitlines()
        assert (before, after, json.loads(trace)["agent_id"]) == ("before", "after", "adder")


def test_standard_output_stays_open(recording: Path) -> None:
    code = (
        "import sys; from agentool_otel.cli import main\n"
        "try: main(sys.argv[1:])\nexcept SystemExit: pass\nprint('still open', flush=True)"
    )
    command = [sys.executable, "-c", code, "rebuild", str(recording)]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    assert result.stdout.splitlines()[-1] == "still open"


@needs_unix
def test_a_device_is_written_to_and_not_replaced(invoke: Invoke, recording: Path) -> None:
    result = invoke("rebuild", recording, "-o", "/dev/null", "--fidelity", "/dev/null")
    assert result.exit_code == 0
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


@needs_unix
def test_a_pipe_without_a_reader_is_waited_for_with_a_message(recording: Path) -> None:
    os.mkfifo("pipe")
    program = [sys.executable, "-m", "agentool_otel", "rebuild", str(recording), "-o", "pipe"]
    with subprocess.Popen(program, stderr=subprocess.PIPE) as writer:
        assert writer.stderr is not None
        line = writer.stderr.readline()
        assert line == b"pipe is a pipe that no program reads: waiting for one\n"
        assert b'"trace_id"' in Path("pipe").read_bytes()
        writer.stderr.read()
    assert writer.returncode == 0


@needs_unix
def test_a_named_pipe_is_written_to_and_not_replaced(recording: Path) -> None:
    os.mkfifo("pipe")
    with subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE) as reader:
        assert agentool("rebuild", recording, "-o", "pipe").returncode == 0
        out, _ = reader.communicate(timeout=60)
    assert json.loads(out)["agent_id"] == "adder"
    assert stat.S_ISFIFO(Path("pipe").stat().st_mode)


@pytest.mark.parametrize("option", ["--output", "--fidelity"])
@pytest.mark.parametrize("url", ["https://u:secret@127.0.0.1/x.jsonl", "s3://bucket/x.jsonl"])
def test_an_output_is_no_url(
    invoke: Invoke, recording: Path, tmp_path: Path, option: str, url: str
) -> None:
    before = sorted(tmp_path.rglob("*"))
    result = invoke("rebuild", recording, option, url)
    assert result.exit_code == 2
    assert f"{option} names a URL" in result.stderr
    assert "secret" not in result.stderr
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("name", ["out.jsonl", "deeper/out.jsonl", "out.json", "../rec/out.jsonl"])
def test_a_file_that_would_be_read_the_next_time_is_refused(
    recording: Path, tmp_path: Path, name: str
) -> None:
    (tmp_path / "rec").mkdir()
    recording.rename(tmp_path / "rec" / "spans.jsonl")
    result = agentool("rebuild", "rec", "-o", f"rec/{name}")
    assert result.returncode == 2
    assert f"rec/{name} is in rec, of which all recordings are read" in result.stderr
    assert sorted(path.name for path in (tmp_path / "rec").iterdir()) == ["spans.jsonl"]


@pytest.mark.parametrize("name", ["rec/out.txt", "out.jsonl", "recorded/out.jsonl"])
def test_a_file_that_is_not_read_is_written_each_time(
    recording: Path, tmp_path: Path, name: str
) -> None:
    (tmp_path / "rec").mkdir()
    recording.rename(tmp_path / "rec" / "spans.jsonl")
    for _ in range(2):
        result = agentool("rebuild", "rec", "-o", name)
        assert (result.returncode, result.stderr.split(", ")[0]) == (0, "1 trace")
