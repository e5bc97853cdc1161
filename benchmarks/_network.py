"""Keeping other packages on this machine: some look for their services as soon as they start."""

from __future__ import annotations

import socket
from typing import Any

__all__ = ["NOWHERE", "close_network"]

NOWHERE = "http://127.0.0.1:9"
"""A port that nobody listens on."""

_LOCAL = ("127.0.0.1", "::1", "localhost", None)


def close_network() -> None:
    """Refuse connections and look-ups that leave this machine, from here on in this process."""
    connect = socket.socket.connect

    def local_only(self: socket.socket, address: Any) -> None:
        if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in _LOCAL:
            raise ConnectionRefusedError(f"the benchmark keeps to this machine, not {address[0]}")
        connect(self, address)

    def lookup(host: Any, *args: Any, **kwargs: Any) -> Any:
        if host not in _LOCAL:
            raise socket.gaierror(f"the benchmark keeps to this machine, not {host}")
        return getaddrinfo(host, *args, **kwargs)

    getaddrinfo = socket.getaddrinfo
    socket.socket.connect = local_only  # type: ignore[method-assign, assignment]
    socket.getaddrinfo = lookup
