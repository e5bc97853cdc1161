"""An OTLP/HTTP receiver on the loopback interface, in a process of its own, that drops everything.

python -m benchmarks._sink
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from benchmarks._child import ROOT, environment

__all__ = ["sink"]


@contextmanager
def sink() -> Generator[str]:
    """Run a receiver and give its base URL."""
    command = [sys.executable, "-m", __name__]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment(), stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.terminate()


class _Drop(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections are kept, as a Collector keeps them
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "application/x-protobuf")
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        return None


def _serve() -> None:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Drop) as server:
        print(server.server_port, flush=True)
        server.serve_forever()


if __name__ == "__main__":
    _serve()
