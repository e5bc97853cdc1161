"""A moment by which an attempt is over, whatever the other side does until then.

The timeout of a socket is that of one step: a receiver that sends a byte now and then is never too
late for it. So each step gets what is left of the time for all of them.
"""

from __future__ import annotations

import http.client
import io
import socket
import time
from functools import partial
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ["Deadline", "TimedConnection", "TimedTlsConnection"]


class Deadline:
    """A moment, by the monotonic clock."""

    def __init__(self, seconds: float):
        self._at = time.monotonic() + seconds

    def left(self) -> float:
        """Return the seconds until then.

        Raises:
            TimeoutError: it has passed.
        """
        seconds = self._at - time.monotonic()
        if seconds <= 0:
            raise TimeoutError("no time is left")
        return seconds


class TimedConnection(http.client.HTTPConnection):
    """An HTTP connection on which all is over by a deadline, which every request sets anew.

    Only the system's look-up of a host name keeps to timeouts of its own.
    """

    deadline = Deadline(0.0)

    def __init__(self, *args: Any, **options: Any):
        super().__init__(*args, **options)
        self.response_class = cast("type[http.client.HTTPResponse]", self._response)
        # Source: CPython 3.10 to 3.14, http/client.py: what `connect` opens its socket with.
        self._create_connection = self._open

    def connect(self) -> None:
        super().connect()
        self._hurry()

    def send(self, data: Any) -> None:
        self._hurry()
        super().send(data)

    def _hurry(self) -> None:
        """Limit the next step on the socket to the remaining time; a send of it is one step."""
        if self.sock is not None:
            self.sock.settimeout(self.deadline.left())

    def _open(self, address: tuple[str, int], *_: object) -> socket.socket:
        """Connect to the first address of a host that answers; each gets its share of the time."""
        addresses = socket.getaddrinfo(*address, 0, socket.SOCK_STREAM)
        failed = OSError(f"{address[0]} has no address")
        for tried, (*_kind, where) in enumerate(addresses):
            share = self.deadline.left() / (len(addresses) - tried)
            try:
                return socket.create_connection((str(where[0]), address[1]), share)
            except OSError as error:
                failed = error
        raise failed

    def _response(self, of: socket.socket, *args: Any, **options: Any) -> http.client.HTTPResponse:
        source = cast("socket.socket", _Source(of, self.deadline))
        return http.client.HTTPResponse(source, *args, **options)


class TimedTlsConnection(http.client.HTTPSConnection, TimedConnection):
    """The same over TLS. A handshake is one step for the socket."""


class _Source:
    """The part of a socket that a response needs: it opens it as a file, no more."""

    def __init__(self, of: socket.socket, deadline: Deadline):
        self.makefile = partial(_file, of, deadline)


def _file(of: socket.socket, deadline: Deadline, *_: object) -> io.BufferedReader:
    return io.BufferedReader(_TimedReader(of, deadline))


class _TimedReader(io.RawIOBase):
    """Reads a socket; each read may take the remaining time."""

    def __init__(self, of: socket.socket, deadline: Deadline):
        self._socket = of
        self._deadline = deadline
        self._file = of.makefile("rb", buffering=0)  # keeps the socket open until it is closed

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int | None:
        self._socket.settimeout(self._deadline.left())
        return self._file.readinto(buffer)

    def close(self) -> None:
        self._file.close()
        super().close()
