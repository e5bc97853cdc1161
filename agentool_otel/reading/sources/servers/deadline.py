"""A deadline of a whole request: connecting, status line, headers and body.

httpx bounds each step on a socket, and a server that sends a byte now and then is never too late
for a step. So at the deadline another thread shuts the sockets down, which ends any wait for them.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

__all__ = ["RequestDeadline", "Sockets"]


class Sockets:
    """The open sockets of an HTTP client, which reports them by its extension `trace`.

    Source: httpcore 1.0, docs/extensions.md: events of a request, and `get_extra_info` of a stream.
    """

    def __init__(self) -> None:
        self._open: list[socket.socket] = []
        self._shut = False

    def on_event(self, event: str, info: dict[str, Any]) -> None:
        """Note the socket of a new connection."""
        if not event.endswith((".connect_tcp.complete", ".start_tls.complete")):
            return
        connected = info["return_value"].get_extra_info("socket")
        if not isinstance(connected, socket.socket):
            return
        self._open = [item for item in self._open if item.fileno() >= 0] + [connected]
        if self._shut:  # the deadline passed while it connected
            _shut_down(connected)

    def shut_down(self) -> None:
        """End all waits for them, from any thread, until `reopen`."""
        self._shut = True
        for item in self._open:
            _shut_down(item)

    def reopen(self) -> None:
        """Let new connections live again."""
        self._shut = False


def _shut_down(connected: socket.socket) -> None:
    with contextlib.suppress(OSError):  # it is closed already
        # Not the method of an SSLSocket, which changes the object that a read is using.
        socket.socket.shutdown(connected, socket.SHUT_RDWR)


class RequestDeadline:
    """A moment at which the sockets of a client are shut down, unless the request is over."""

    def __init__(self, seconds: float, sockets: Sockets):
        self._at = time.monotonic() + seconds
        self._sockets = sockets
        self._changed = threading.Condition()
        self._over = False
        self.passed = False
        """Whether the deadline was reached, so that the answer is incomplete."""

    def postpone(self, seconds: float) -> None:
        """Set the deadline anew, from now on."""
        with self._changed:
            self._at = time.monotonic() + seconds
            self._changed.notify()

    @contextmanager
    def watch(self) -> Generator[None]:
        """Keep the deadline for as long as the context lasts."""
        self._sockets.reopen()
        watcher = threading.Thread(target=self._watch, name="agentool-deadline", daemon=True)
        watcher.start()
        try:
            yield
        finally:
            with self._changed:
                self._over = True
                self.passed = self.passed or time.monotonic() >= self._at
                self._changed.notify()
            watcher.join()

    def _watch(self) -> None:
        with self._changed:
            while not self._over and (left := self._at - time.monotonic()) > 0:
                self._changed.wait(min(left, threading.TIMEOUT_MAX))
            if not self._over:
                self.passed = True
                self._sockets.shut_down()
