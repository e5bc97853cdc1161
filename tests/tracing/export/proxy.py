"""A small HTTP proxy: tunnels with CONNECT, and requests for whole URLs."""

from __future__ import annotations

import http.client
import select
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit


class Proxy:
    """Forwards requests to their targets.

    Args:
        refuses: the status with which it answers everything instead.
    """

    def __init__(self, refuses: int | None = None):
        self.asked: list[str] = []
        self.logins: list[str] = []
        proxy = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_CONNECT(self) -> None:
                if self._refused():
                    return
                host, _, port = self.path.rpartition(":")
                with socket.create_connection((host, int(port))) as connection:
                    self.send_response(200)
                    self.end_headers()
                    _pump(self.connection, connection)
                self.close_connection = True

            def do_POST(self) -> None:
                if self._refused():
                    return
                url = urlsplit(self.path)
                body = self.rfile.read(int(self.headers["content-length"]))
                httpconnection = http.client.HTTPConnection(url.netloc)
                httpconnection.request("POST", url.path, body, dict(self.headers))
                answer = httpconnection.getresponse()
                text = answer.read()
                httpconnection.close()
                self.send_response(answer.status)
                self.send_header("content-length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

            def _refused(self) -> bool:
                proxy.asked.append(f"{self.command} {self.path}")
                if login := self.headers["proxy-authorization"]:
                    proxy.logins.append(login)
                if refuses is not None:
                    self.send_error(refuses)
                return refuses is not None

            def log_message(self, format: str, *args: Any) -> None:
                return None

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Proxy:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def _pump(one: socket.socket, second: socket.socket) -> None:
    """Carry bytes both ways until one side has no more."""
    ways = {one: second, second: one}
    while True:
        for ready in select.select(list(ways), [], [])[0]:
            data = ready.recv(65_536)
            if not data:
                return
            ways[ready].sendall(data)
