"""Targets of hostile input, and their laws: they end, raise nothing, and print nothing
invisible.
"""

from __future__ import annotations

import copy
import json
import os
import shutil
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from random import Random

import agentool_otel
from agentool_otel.cli import main
from agentool_otel.errors import AgentoolError
from agentool_otel.otlp.json_encoder import encode_spans
from agentool_otel.otlp.protobuf_encoder import encode_span
from agentool_otel.tracing.export.disk.leftovers import RECORDING, RecoveryReport
from agentool_otel.tracing.export.disk.recovery import complete_recordings
from agentool_otel.tracing.export.disk.resending import send_remains
from agentool_otel.tracing.export.send.attempt import Answer, HttpSender
from agentool_otel.tracing.export.send.otlp import Destination, OtlpTarget, Senders
from tests.click_runner import CliRunner
from tests.security.fuzz.mutation import ODD_VALUES, mutated
from tests.security.test_untrusted_text import assert_clean, recording
from tests.tracing.export.samples import span_with

Target = Callable[[Random, Path], None]

_WHERE = Destination("http://127.0.0.1:9", "http/protobuf")
_ANSWERS = (
    b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n\x0a\x02\x08\x01",
    b"HTTP/1.1 503 Busy\r\nretry-after: 7\r\ncontent-length: 0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\n\x0a\x02\x08\x01\r\n0\r\n\r\n",
    b"HTTP/1.1 307 There\r\nlocation: http://other/\r\ncontent-length: 0\r\n\r\n",
    b"HTTP/1.1 400 Bad\r\nx: y\r\ncontent-length: 3\r\n\r\nbad",
)


def journals(random: Random, folder: Path) -> None:
    """A journal of ours that is damaged, with what belongs to it: recovery raises nothing."""
    for _ in range(random.choice((1, 1, 3))):
        _journal(random, folder, f"traces-h-{random.randrange(10**6)}-1")
    survey = RecoveryReport(folder)
    complete_recordings(folder, survey)
    list(survey.sentences())
    senders = Senders(OtlpTarget.noted(_WHERE))
    for signal in ("traces", "logs"):
        senders[signal] = _Taking(random)
    send_remains(
        folder, _WHERE, senders, 1.0, RecoveryReport(folder), refused=random.random() < 0.5
    )


class _Taking:
    """A receiver that answers anything."""

    limit = 1 << 20

    def __init__(self, random: Random):
        self._random = random

    def send(self, request: bytes, timeout_s: float) -> Answer:
        verdict = self._random.choice(("accepted", "invalid", "too_large", "later"))
        rejected = self._random.choice((0, 0, 1, -1, 10**9))
        return Answer(verdict, "\x1b[2J", rejected=rejected)  # type: ignore[arg-type]

    def close(self) -> None: ...


def _journal(random: Random, folder: Path, name: str) -> None:
    journal = folder / f"{name}.open"
    journal.touch()
    journal.chmod(0o600)
    sent = random.random() < 0.5
    header = {
        "journal": 1, "inode": journal.stat().st_ino, "from": 0,
        "destination": _WHERE.address if sent else RECORDING,
        "protocol": _WHERE.protocol if sent else "", "signal": "traces",
    }  # fmt: skip
    if random.random() < 0.3:
        header[random.choice(list(header))] = copy.deepcopy(random.choice(ODD_VALUES))
    first = json.dumps(header).encode()
    lines = b"".join(encode_spans([span_with({"n": n})]) + b"\n" for n in range(3))
    journal.write_bytes(first + b"\n" + mutated(lines, random))
    extra = {".jsonl": lines, ".spool": _spool(), ".refused": _spool(), ".logs.spool": _spool()}
    for suffix, data in extra.items():
        if random.random() < 0.6:
            path = folder / f"{name}{suffix}"
            path.write_bytes(mutated(data, random))
            path.chmod(0o600)


def _spool() -> bytes:
    from agentool_otel.tracing.export.disk.frames import frame_span

    return b"".join(frame_span(encode_span(span_with({"n": n}))) for n in range(3))


def folders(random: Random, folder: Path) -> None:
    """A folder with anything under our names: commands end, with clean messages."""
    makers = (_file, _file, _link, _pipe, _directory)
    for n in range(random.randrange(1, 6)):
        suffix = random.choice((".open", ".jsonl", ".spool", ".refused", ".open~x", ".json", ""))
        name = f"a{n % 2}{random.choice(('', chr(10) + 'error: FAKE', chr(0x202E)))}{suffix}"
        if not os.path.lexists(folder / name):
            random.choice(makers)(random, folder / name)
    _command("recover", folder)
    _command(random.choice(("show", "validate", "rebuild")), folder)


def _file(random: Random, path: Path) -> None:
    path.write_bytes(mutated(recording("x"), random))


def _link(random: Random, path: Path) -> None:
    path.symlink_to(random.choice(("nowhere", "/dev/null", str(path), "a0.jsonl", "/dev/zero")))


def _pipe(_: Random, path: Path) -> None:
    os.mkfifo(path)


def _directory(_: Random, path: Path) -> None:
    path.mkdir()


def receivers(random: Random, _: Path) -> None:
    """A receiver that answers anything: an attempt ends with an answer, which is one clean line."""
    with _answering(mutated(random.choice(_ANSWERS), random)) as endpoint:
        sender = HttpSender(OtlpTarget.at(endpoint, {}))
        for _again in range(2):
            answer = sender.send(encode_span(span_with({})), 2.0)
            assert_clean(f"x{answer.reason}")
            assert "\n" not in answer.reason
            assert answer.retry_after_s is None or 0 <= answer.retry_after_s <= 3600
        sender.close()


@contextmanager
def _answering(answer: bytes) -> Generator[str]:
    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                with connection, suppress(OSError):
                    connection.recv(65_536)
                    connection.sendall(answer)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)


def traces(random: Random, folder: Path) -> None:
    """A file of spans that is damaged: it is rebuilt as far as it goes, and shown cleanly."""
    place = folder / "a.jsonl"
    text = random.choice(("x", "x", "x\nerror: FAKE\x1b[2J", "\u202e"))
    place.write_bytes(mutated(recording(text), random))
    with suppress(AgentoolError):
        for trace in agentool_otel.load(place):
            trace.to_json()
    _command(
        "show", place, *random.choice(([], ["--full"], ["--explain"], ["--spans"], ["--json"]))
    )
    _command(random.choice(("rebuild", "validate")), place)


def _command(name: str, place: Path, *options: str) -> None:
    done = CliRunner().invoke(main, [name, str(place), *options])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    if name != "rebuild" and "--json" not in options:
        assert_clean(done.output)


TARGETS: dict[str, Target] = {
    "journals": journals,
    "folders": folders,
    "receivers": receivers,
    "traces": traces,
}


def fresh(folder: Path) -> Path:
    """Return the folder, empty."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder
