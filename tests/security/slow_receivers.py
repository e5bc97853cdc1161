"""Receivers that take their time: each plays a script, a byte at a time."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable
from contextlib import suppress

DRIP_S = 0.05
DRIPS = 400
"""Steps of a script: twenty seconds, if nobody hangs up."""
HEAD = b"HTTP/1.1 200 OK\r\n"
_HELLO = b"\x16\x03\x03\x3f\xff\x02\x00\x3f\xfb\x03\x03"
"""Beginning of a server's part of a TLS handshake of 16 KB."""
_SETTINGS = b"\x00\x3f\xfc\x04\x00\x00\x00\x00\x00"
"""Beginning of HTTP/2 from a server: the head of a settings frame of 16 KB."""

Script = Callable[[socket.socket], bytes]
"""Plays the beginning of a connection, and returns the bytes to send at once; the rest follows
slowly.
"""


def _after_request(data: bytes) -> Script:
    def script(connection: socket.socket) -> bytes:
        connection.recv(65_536)
        return data

    return script


def _half_closed(connection: socket.socket) -> bytes:
    connection.shutdown(socket.SHUT_RD)
    return b""


SCRIPTS: dict[str, tuple[Script, bytes]] = {
    "a status line": (_after_request(b""), b"HTTP/1.1 200 " + b"O" * DRIPS),
    "headers": (_after_request(HEAD), b"x: y\r\n" * DRIPS),
    "a long header": (_after_request(HEAD + b"x: "), b"y" * DRIPS),
    "a body": (_after_request(HEAD + b"content-length: 9999\r\n\r\n"), b"b" * DRIPS),
    "a body until the end": (_after_request(HEAD + b"\r\n"), b"b" * DRIPS),
    "chunks": (
        _after_request(HEAD + b"transfer-encoding: chunked\r\n\r\n"),
        b"1\r\nc\r\n" * DRIPS,
    ),
    "answers to wait for": (_after_request(b""), b"HTTP/1.1 100 Continue\r\n\r\n" * DRIPS),
    "nothing": (_after_request(b""), b""),
    "nothing, half closed": (_half_closed, b""),
    "a failure's body": (
        _after_request(b"HTTP/1.1 503 Later\r\ncontent-length: 9999\r\n\r\n"),
        b"b" * DRIPS,
    ),
}
"""Bytes that are sent at once, and those that follow slowly."""
HANDSHAKE = (_after_request(b""), _HELLO + b"h" * DRIPS)
HTTP2 = (_after_request(b""), _SETTINGS + b"s" * DRIPS)


class SlowReceiver:
    """Plays a script on each connection, and counts its steps until the other side hangs up.

    Args:
        script: what it does.
        tls: speaks TLS as far as the handshake, then plays.
    """

    def __init__(self, script: tuple[Script, bytes], tls: ssl.SSLContext | None = None):
        self._begin, self._drips = script
        self._tls = tls
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._port = self._listening.getsockname()[1]
        self._over = threading.Event()
        self.steps: list[int] = []
        """Of each connection, how many steps it has lasted."""

    @property
    def endpoint(self) -> str:
        return f"127.0.0.1:{self._port}"

    @property
    def longest(self) -> int:
        """Steps of the longest connection."""
        return max(self.steps)

    def __enter__(self) -> SlowReceiver:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._listening.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listening.accept()
                self.steps.append(0)
                which = len(self.steps) - 1
                threading.Thread(target=self._play, args=(connection, which), daemon=True).start()

    def _play(self, connection: socket.socket, which: int) -> None:
        with suppress(OSError):
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
            with connection:
                self._say(connection, which)

    def _say(self, connection: socket.socket, which: int) -> None:
        connection.sendall(self._begin(connection))
        while self.steps[which] < DRIPS and not self._over.is_set():
            self.steps[which] += 1
            drip = self._drips[self.steps[which] - 1 : self.steps[which]]
            connection.sendall(drip)
            if not drip and _gone(connection):
                return
            time.sleep(DRIP_S)


def _gone(connection: socket.socket) -> bool:
    """Return whether the other side has hung up."""
    connection.settimeout(0.0)
    try:
        return connection.recv(65_536) == b""
    except (BlockingIOError, ssl.SSLWantReadError):
        return False
    finally:
        connection.settimeout(None)
