"""A name found in a folder is not ours because it ends like ours, and recovery is a favour.

A cloned repository, an unpacked archive and other users of a folder may put anything under the
names that our processes use. Whatever stands there, the program that starts in the folder runs, its
files stay as they were, and what is ours is recovered.
"""

from __future__ import annotations

import json
import logging
import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from opentelemetry.sdk.trace import TracerProvider

from agentool_otel.cli.recover import recover
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.tracing.export.disk.leftovers import RecoveryReport
from agentool_otel.tracing.export.pipeline import Pipeline
from agentool_otel.tracing.export.send.otlp import OtlpTarget
from tests.security.children import folder, in_child, needs_fork, users
from tests.tracing.export.receiver import HttpReceiver
from tests.users import NOBODY, needs_root

__all__ = ["folder"]

pytestmark = needs_fork
HERE = Path(".agentool")
SPAN = {
    "traceId": "0af7651916cd43dd8448eb211c80319c",
    "spanId": "b7ad6b7169203331",
    "name": "forged",
    "startTimeUnixNano": "1700000000000000000",
}
HOSTILE = b"echo $(touch PWNED)"


def line(**span: Any) -> bytes:
    document = {"resourceSpans": [{"scopeSpans": [{"spans": [{**SPAN, **span}]}]}]}
    return json.dumps(document).encode() + b"\n"


def journal(path: Path, *lines: bytes, **first: Any) -> None:
    """Write a journal as one of our processes does, with its own inode unless another is given."""
    path.parent.mkdir(mode=0o700, exist_ok=True)
    path.touch(0o600)
    own: dict[str, Any] = {
        "journal": 1, "inode": path.stat().st_ino, "destination": "recording", "from": 0
    }  # fmt: skip
    with path.open("r+b") as file:
        file.write(json.dumps({**own, **first}).encode() + b"\n" + b"".join(lines))


def record() -> None:
    """Start in the folder as a program does that records, and end one span."""
    pipeline = Pipeline()
    pipeline.record(HERE)
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(pipeline)
    provider.get_tracer("app").start_span("mine").end()
    assert pipeline.counts()["exported"] == 1
    provider.shutdown()


def send() -> None:
    """The same of a program that sends, where nobody answers."""
    pipeline = Pipeline()
    pipeline.send(OtlpTarget.at("http://127.0.0.1:9", {}), HERE)
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(pipeline)
    provider.get_tracer("app").start_span("mine").end()
    pipeline.force_flush(2000)
    provider.shutdown()
    assert pipeline.counts()["spooled"] == 1


def command() -> None:
    recover(HERE)


def command_elsewhere() -> None:
    with HttpReceiver(status=400) as receiver:
        recover(HERE, OtlpTarget.at(receiver.endpoint, {}))


starts = pytest.mark.parametrize("start", [record, send, command, command_elsewhere])


def to_victim(name: str) -> None:
    (HERE / name).symlink_to("../victim")


def in_recording() -> None:
    journal(HERE / "a.open", line())
    to_victim("a.jsonl")


def in_empty_journal() -> None:
    (HERE / "a.open").touch()
    to_victim("a.jsonl")


def in_journal() -> None:
    to_victim("a.open")


def in_temporary_name() -> None:
    journal(HERE / "a.open", line(), destination="http://127.0.0.1:9", protocol="http/protobuf")
    to_victim("a.open~")


def in_spool() -> None:
    journal(HERE / "a.open", line(), destination="http://127.0.0.1:9", protocol="http/protobuf")
    to_victim("a.spool")


def in_refused() -> None:
    journal(HERE / "a.open", line(), destination="http://127.0.0.1:9", protocol="http/protobuf")
    to_victim("a.refused")


def in_log_spool() -> None:
    journal(HERE / "a.open", line(), destination="http://127.0.0.1:9", protocol="http/protobuf")
    to_victim("a.logs.spool")


def as_second_name() -> None:
    journal(HERE / "a.open", line())
    os.link("victim", HERE / "a.jsonl")


LINKS = [
    in_recording,
    in_empty_journal,
    in_journal,
    in_temporary_name,
    in_spool,
    in_refused,
    in_log_spool,
    as_second_name,
]


@starts
@users
@pytest.mark.parametrize("link", LINKS)
def test_what_a_link_leads_to_stays_as_it_is(
    folder: Path, user: str, link: Callable[[], None], start: Callable[[], None]
) -> None:
    def program() -> None:
        logging.disable()
        HERE.mkdir(0o700)
        Path("victim").write_bytes(HOSTILE)
        link()
        start()
        assert Path("victim").read_bytes() == HOSTILE

    in_child(folder, program, user)


def a_pipe() -> None:
    os.mkfifo(HERE / "a.open")


def a_pipe_as_recording() -> None:
    journal(HERE / "a.open", line())
    os.mkfifo(HERE / "a.jsonl")


def a_socket() -> None:
    socket.socket(socket.AF_UNIX).bind(str(HERE / "a.open"))


def a_folder() -> None:
    (HERE / "a.open").mkdir()


def an_endless_device() -> None:
    (HERE / "a.open").symlink_to("/dev/zero")


def nothing_but_zeros() -> None:
    with (HERE / "a.open").open("wb") as file:
        file.truncate(8 << 30)


def zeros_behind_a_first_line() -> None:
    journal(HERE / "a.open")
    os.truncate(HERE / "a.open", 8 << 30)


def zeros_as_recording() -> None:
    journal(HERE / "a.open", line())
    with (HERE / "a.jsonl").open("wb") as file:
        file.truncate(8 << 30)


def a_start_far_behind() -> None:
    journal(HERE / "a.open", line(), **{"from": 2**63})
    (HERE / "a.jsonl").write_bytes(line(spanId="01"))


def a_start_without_bounds() -> None:
    journal(HERE / "a.open", line(), **{"from": 1e300})
    (HERE / "a.jsonl").touch()


def a_start_that_is_no_number() -> None:
    (HERE / "a.open").write_bytes(b'{"journal":1,"inode":0,"destination":"recording","from":NaN}\n')


def ids_that_are_no_hex() -> None:
    journal(
        HERE / "a.open", line(traceId="zz"), line(spanId=7), b"[[[[[\n",
        destination="http://127.0.0.1:9", protocol="http/protobuf",
    )  # fmt: skip


def a_destination_that_is_no_url() -> None:
    journal(HERE / "a.open", line(), destination="http://[::1", protocol="http/protobuf")


def a_destination_with_escapes() -> None:
    journal(HERE / "a.open", line(), destination="\x1b]0;title\x07", protocol="http/protobuf")


def brackets() -> None:
    journal(HERE / "a.open", b"[" * 500_000 + b"\n", line())


ODD = [
    a_pipe,
    a_pipe_as_recording,
    a_socket,
    a_folder,
    an_endless_device,
    nothing_but_zeros,
    zeros_behind_a_first_line,
    zeros_as_recording,
    a_start_far_behind,
    a_start_without_bounds,
    a_start_that_is_no_number,
    ids_that_are_no_hex,
    a_destination_that_is_no_url,
    a_destination_with_escapes,
    brackets,
]


@starts
@pytest.mark.parametrize("odd", ODD)
def test_no_file_makes_a_start_hang_or_raise(
    folder: Path, odd: Callable[[], None], start: Callable[[], None]
) -> None:
    """Nor take the memory of the machine: a gigabyte has to do."""

    def program() -> None:
        import resource

        limit = _address_space() + (4 << 30)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        logging.disable()
        HERE.mkdir(0o700)
        odd()
        start()

    in_child(folder, program)


@pytest.mark.parametrize("odd", ODD)
def test_beside_an_odd_file_what_is_ours_is_recovered(
    folder: Path, odd: Callable[[], None]
) -> None:
    def program() -> None:
        logging.disable()
        HERE.mkdir(0o700)
        odd()
        journal(HERE / "z.open", line(name="ours"))
        record()
        names = [span.name for span in open_source(HERE / "z.jsonl").spans()]
        assert names == ["ours"]

    in_child(folder, program)


def test_what_is_damaged_is_set_aside_and_not_tried_again(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    from agentool_otel.tracing.export.disk.recovery import complete_recordings

    place = folder / ".agentool"
    journal(place / "a.open", line(), **{"from": 1 << 40})
    (place / "a.jsonl").write_bytes(line(spanId="01"))
    survey = RecoveryReport(place)
    assert complete_recordings(place, survey) == 0
    (text,) = survey.sentences()
    assert text.startswith(f"{place}/a.open.damaged is damaged and set aside: it begins at byte")
    again = RecoveryReport(place)
    assert complete_recordings(place, again) == 0
    assert list(again.sentences()) == []


def test_a_journal_that_came_by_a_clone_is_never_taken_up(folder: Path) -> None:
    """Everything about it is right but that it lies in another file than the one that was made."""
    result = folder / "made"
    journal(result / "a.open", line())
    (result / "a.jsonl").write_bytes(line(spanId="01"))
    place = folder / ".agentool"
    shutil.copytree(result, place)
    before = {file.name: file.read_bytes() for file in place.iterdir()}
    with HttpReceiver() as receiver:
        done = recover(place, OtlpTarget.at(receiver.endpoint, {}))
        assert receiver.names() == []
    assert not done.incomplete
    assert {file.name: file.read_bytes() for file in place.iterdir()} == before


def test_skipped_programs_are_reported_once(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    place = folder / ".agentool"
    place.mkdir()
    for name in ("a", "b", "c"):
        (place / f"{name}.open").symlink_to("nowhere")
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            pipeline = Pipeline()
            pipeline.record(place)
            pipeline.shutdown()
    assert caplog.messages == [
        f"3 files in {place} are not made here by this user's programs and left alone; "
        "a.open: it is a symbolic link"
    ]


@needs_root
def test_files_of_another_user_are_left_alone(folder: Path) -> None:
    place = folder / ".agentool"
    journal(place / "a.open", line())
    journal(place / "b.open", line(name="ours"))
    os.chown(place / "a.open", NOBODY, NOBODY)
    recover(place)
    assert sorted(path.name for path in place.iterdir()) == ["a.open", "b.jsonl"]


@needs_root
def test_a_recording_of_another_user_is_not_completed(folder: Path) -> None:
    place = folder / ".agentool"
    journal(place / "a.open", line())
    (place / "a.jsonl").write_bytes(line(spanId="01"))
    os.chown(place / "a.jsonl", NOBODY, NOBODY)
    recover(place)
    assert (place / "a.jsonl").read_bytes() == line(spanId="01")


@needs_root
def test_in_a_folder_of_another_user_nothing_is_recovered(folder: Path) -> None:
    place = folder / ".agentool"
    journal(place / "a.open", line())
    os.chown(place, NOBODY, NOBODY)
    recover(place)
    assert [path.name for path in place.iterdir()] == ["a.open"]


@users
@pytest.mark.parametrize(("mode", "recovered"), [(0o777, False), (0o1777, True), (0o770, True)])
def test_a_folder_with_unsafe_permissions_is_not_recovered(
    folder: Path, user: str, mode: int, recovered: bool
) -> None:
    def program() -> None:
        journal(HERE / "a.open", line())
        HERE.chmod(mode)
        recover(HERE)
        assert (HERE / "a.jsonl").exists() is recovered

    in_child(folder, program, user)


@settings(max_examples=60)
@given(st.binary(max_size=200), st.binary(max_size=200), st.binary(max_size=200))
def test_whatever_bytes_stand_in_files_of_ours_recovery_returns(
    first: bytes, second: bytes, spooled: bytes
) -> None:
    import tempfile

    from agentool_otel.tracing.export.disk.recovery import complete_recordings, destinations

    with tempfile.TemporaryDirectory() as name:
        path = Path(name)
        for stem, more in (
            ("a", {}),
            ("b", {"destination": "http://127.0.0.1:9", "protocol": "http/protobuf"}),
        ):
            journal(path / f"{stem}.open", first + b"\n", line(), second, **more)
            (path / f"{stem}.jsonl").write_bytes(second)
            (path / f"{stem}.spool").write_bytes(spooled)
        survey = RecoveryReport(path)
        complete_recordings(path, survey)
        destinations(path, survey)
        recover(path, OtlpTarget.at("http://127.0.0.1:9", {}))


def _address_space() -> int:
    """Return the bytes of address space that this process has, which libraries of other tests
    reserve; 0 where the system does not tell.
    """
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
