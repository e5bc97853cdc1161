"""A backend's server for the time of a `with` block, on this machine and with no way out of it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

__all__ = ["NotReady", "Server", "ask", "free_port", "warm_up"]

_PATIENCE_S = 240.0
_CLOSING_S = 15.0
_NOWHERE = "http://127.0.0.1:9"
"""A port that nobody listens on, as proxy of everything that is not here."""


class NotReady(Exception):
    """A server did not start, or did not show in time what it was sent; the message has details."""


class Server:
    """One server process and those it starts.

    Args:
        command: what starts it.
        folder: its home, its working folder and where its log is.
        url: what answers 200 once it is ready.
        variables: its own; nothing else of this process' environment reaches it but PATH.
    """

    def __init__(
        self, command: Sequence[str], folder: Path, url: str, variables: Mapping[str, str]
    ):
        self._command = command
        self._folder = folder
        self._url = url
        self._log = folder / "server.log"
        self._variables = {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": str(folder),
            "TMPDIR": str(folder),
            "HTTP_PROXY": _NOWHERE,
            "HTTPS_PROXY": _NOWHERE,
            "NO_PROXY": "127.0.0.1,localhost",
            "DO_NOT_TRACK": "true",
            "PYTHONUNBUFFERED": "1",
            **variables,
        }
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Server:
        self._folder.mkdir(parents=True, exist_ok=True)
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                self._command,
                cwd=self._folder,
                env=self._variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # so that the processes it starts end with it
            )
        return self

    def __exit__(self, *_: object) -> None:
        process = self._process
        assert process is not None
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(process.pid, number)
            except ProcessLookupError:
                break
            try:
                process.wait(_CLOSING_S)
            except subprocess.TimeoutExpired:
                continue

    def wait(self) -> float:
        """Wait until it answers, and return how many seconds that took.

        Raises:
            NotReady: it has ended, or has not answered in four minutes.
        """
        assert self._process is not None
        begun = time.monotonic()
        while (waited := time.monotonic() - begun) < _PATIENCE_S:
            if self._process.poll() is not None:
                raise NotReady(f"it ended with {self._process.returncode}: {self._last_words()}")
            try:
                with urlopen(self._url, timeout=5):
                    return waited
            except (URLError, OSError):
                time.sleep(0.2)
        raise NotReady(f"no answer at {self._url} in {_PATIENCE_S:.0f} s: {self._last_words()}")

    def _last_words(self) -> str:
        lines = self._log.read_text(errors="replace").strip().splitlines()
        return " | ".join(lines[-3:]) or "it said nothing"


def free_port() -> int:
    """Return a port of the loopback interface that nobody listens on now."""
    with socket.socket() as result:
        result.bind(("127.0.0.1", 0))
        return int(result.getsockname()[1])


def ask(url: str, body: Any = None) -> Any:
    """Return an API's answer, as JSON; with a body the request is a POST.

    Raises:
        NotReady: the answer is an error; its text is in the message.
    """
    data = None if body is None else json.dumps(body).encode()
    try:
        with urlopen(
            Request(url, data, {"content-type": "application/json"}), timeout=60
        ) as answer:
            return json.load(answer)
    except HTTPError as error:
        text = error.read(500).decode(errors="replace")
        raise NotReady(f"{url} answered {error.code}: {text}") from error


def warm_up(endpoint: str, headers: Mapping[str, str]) -> None:
    """Send a model call, patiently: the first one makes some servers load their price table, and
    programs do not wait as long.

    Raises:
        NotReady: it was not taken.
    """
    request = ExportTraceServiceRequest()
    span = request.resource_spans.add().scope_spans.add().spans.add()
    span.name, span.trace_id, span.span_id = "chat gpt-5", b"\1" * 16, b"\1" * 8
    span.start_time_unix_nano = time.time_ns()
    span.end_time_unix_nano = span.start_time_unix_nano + 1
    texts = {"operation.name": "chat", "request.model": "gpt-5", "provider.name": "openai"}
    for name, text in texts.items():
        span.attributes.add(key=f"gen_ai.{name}").value.string_value = text
    for name in ("gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"):
        span.attributes.add(key=name).value.int_value = 1
    sent = {"content-type": "application/x-protobuf", **headers}
    try:
        with urlopen(
            Request(f"{endpoint}/v1/traces", request.SerializeToString(), sent), timeout=120
        ):
            return
    except (URLError, OSError) as error:
        raise NotReady(f"{endpoint} takes no spans: {error}") from error
