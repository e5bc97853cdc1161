"""A model server on this machine: no key, no network, deterministic. Standard library only.

It supports the protocols of OpenAI, Anthropic, Google and Bedrock, plain and streaming: chat
completions, responses, embeddings; messages, and their `count_tokens`; generateContent and
batchEmbedContents; Converse, and InvokeModel of Anthropic's models.

    with LoopbackModel() as model:
        client = openai.OpenAI(base_url=model.base_url, api_key="none")
        model.push(call("search", query="otel"), "Found it.")
        ...
        model.requests          # all requests so far

What it answers: scripted turns first (embeddings and `count_tokens` take none), then the first rule
that returns one, else it calls a tool if one is offered, and answers once the tool has. Turns can
fail in every way a server can.

    python -m agentool_otel.testing.loopback_model        # prints the environment, serves until ^C
"""

from __future__ import annotations

import argparse
import base64
import itertools
import json
import socket
import struct
import sys
import threading
import zlib
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from types import TracebackType
from typing import Any, NamedTuple, cast
from urllib.parse import unquote

from agentool_otel.ground import environment
from agentool_otel.testing import _wire as wire
from agentool_otel.testing import _wire_bedrock as bedrock
from agentool_otel.testing import _wire_gemini as gemini
from agentool_otel.testing import _wire_messages as messages
from agentool_otel.testing._request_faults import fault_in, object_in
from agentool_otel.testing.turns import Protocol, Request, ToolCall, Turn, auto_turn, call

__all__ = ["LoopbackModel", "Request", "Rule", "ToolCall", "Turn", "call"]

Json = dict[str, Any]
Rule = Callable[[Request], "Turn | str | None"]
"""Looks at a request; what it returns is the answer, None leaves it to the next."""


class LoopbackModel:
    """The server; it runs inside the `with` block, or between `start` and `stop`."""

    def __init__(self, *turns: Turn | str, port: int = 0):
        self.requests: list[Request] = []
        """The requests so far, in order."""
        self.rules: list[Rule] = []
        self._turns: list[Turn] = []
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._stopping = threading.Event()
        self._server = _Server(("127.0.0.1", port), _Handler)
        self._server.model = self
        self.push(*turns)

    def __enter__(self) -> LoopbackModel:
        return self.start()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def start(self) -> LoopbackModel:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def stop(self) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._server.server_close()

    @property
    def base_url(self) -> str:
        """Return the base URL for OpenAI-compatible clients."""
        return f"{self.root_url}/v1"

    @property
    def root_url(self) -> str:
        """Return the base URL for the clients of Anthropic, Google and AWS."""
        host, port = self._server.server_address[:2]
        return f"http://{host!s}:{port}"

    def env(self) -> dict[str, str]:
        """Return the environment variables that point the usual clients here."""
        url = self.base_url
        return {
            environment.OPENAI_BASE_URL: url,
            environment.OPENAI_API_BASE: url,
            environment.OPENAI_API_KEY: "none",
            environment.ANTHROPIC_BASE_URL: self.root_url,
            environment.ANTHROPIC_API_KEY: "none",
            environment.GOOGLE_GEMINI_BASE_URL: self.root_url,
            environment.GEMINI_API_KEY: "none",
        }

    def push(self, *turns: Turn | str) -> None:
        """Queue answers; a text is short for a turn with that text."""
        with self._lock:
            self._turns += [_turn(turn) for turn in turns]

    def rule(self, rule: Rule) -> Rule:
        """Add a rule; usable as a decorator."""
        self.rules.append(rule)
        return rule

    def answer(self, request: Request) -> Turn:
        """Note a request and decide what to answer."""
        with self._lock:
            self.requests.append(request)
            if self._turns and request.protocol not in ("embeddings", "count_tokens"):
                return self._turns.pop(0)
        for rule in self.rules:
            turn = rule(request)
            if turn is not None:
                return _turn(turn)
        return auto_turn(request)

    def new_id(self, prefix: str) -> str:
        return f"{prefix}{next(self._numbers):06d}"

    def wait(self, seconds: float) -> None:
        """Sleep, but not longer than the server lives."""
        if seconds:
            self._stopping.wait(seconds)


def _turn(turn: Turn | str) -> Turn:
    return Turn(text=turn) if isinstance(turn, str) else turn


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    model: LoopbackModel

    def server_bind(self) -> None:
        """Bind without the look-up of the host's name, which may wait for a resolver."""
        TCPServer.server_bind(self)
        host, port = self.server_address[:2]
        self.server_name, self.server_port = str(host), int(port)

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], OSError):  # a client that hangs up is no news
            super().handle_error(request, client_address)


_SECRET = frozenset({"authorization", "api-key", "x-api-key", "cookie"})


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def model(self) -> LoopbackModel:
        assert isinstance(self.server, _Server)
        return self.server.model

    def log_message(self, format: str, *args: Any) -> None:
        """Stay silent."""

    def setup(self) -> None:
        super().setup()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def do_POST(self) -> None:
        body = object_in(self._body())
        if body is None:
            self._refuse("the body has to be a JSON object")
            return
        headers = {name.lower(): text for name, text in self.headers.items()}
        headers = {name: text for name, text in headers.items() if name not in _SECRET}
        path = self.path.partition("?")[0]
        model, _, method = path.rpartition("/")[2].partition(":")
        if method:  # Google's paths name the model, and whether to stream
            body |= {"model": model, "stream": method.startswith("stream")}
        elif path.startswith("/model/"):  # and so do Bedrock's
            body |= {"model": unquote(path.split("/")[2]), "stream": path.endswith("stream")}
        protocol = next(
            (protocol for end, protocol in _PROTOCOLS.items() if path.endswith(end)), None
        )
        if protocol is None:
            self._send(404, {"error": {"message": f"no such path {path}", "type": "not_found"}})
        elif fault := fault_in(body, protocol.name):
            self._refuse(fault)
        else:
            self._answer(Request(protocol.name, body, headers), protocol)

    def _refuse(self, fault: str) -> None:
        self._send(400, {"error": {"message": fault, "type": "invalid_request_error"}})

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        pieces: list[bytes] = []  # Java's clients
        while size := int(self.rfile.readline().partition(b";")[0], 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)

    def _answer(self, request: Request, protocol: _Protocol) -> None:
        model = self.model
        turn = model.answer(request)
        model.wait(turn.delay_s)
        if turn.status != 200:
            self._send(turn.status, protocol.failure(turn), turn)
        elif turn.malformed:
            self._send(200, b'{"this is not": json', turn)
        elif protocol.events is not None and request.stream:
            self._stream(turn, protocol.events(request, turn, model.new_id), protocol)
        elif turn.cut_after is not None:
            self._cut()
        else:
            self._send(200, protocol.body(request, turn, model.new_id), turn)

    def _head(self, status: int, kind: str, turn: Turn | None) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        request_id = self.model.new_id("req_")
        self.send_header("x-request-id", request_id)
        self.send_header("request-id", request_id)
        # A kept connection would be reused by a client whose event loop is gone.
        self.send_header("connection", "close")
        if turn is not None:
            for name, text in turn.headers.items():
                self.send_header(name, text)

    def _send(self, status: int, payload: Json | bytes, turn: Turn | None = None) -> None:
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        self._head(status, "application/json", turn)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, turn: Turn, events: Iterator[wire.Event], protocol: _Protocol) -> None:
        kind = "application/vnd.amazon.eventstream" if protocol.is_binary else _EVENTS
        self._head(200, kind, turn)
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for count, (name, payload) in enumerate(events):
            if count == turn.cut_after:
                return self._cut()
            if count == turn.end_after:
                break
            if count == turn.error_after:
                self._event(protocol, *protocol.failure_event(turn, count))
                break
            self._event(protocol, name, payload)
            self.model.wait(turn.chunk_delay_s)
        self.wfile.write(b"0\r\n\r\n")
        return None

    def _event(self, protocol: _Protocol, name: str | None, payload: Json | str) -> None:
        if protocol.is_binary:
            data = bedrock.binary_event(name, payload)
        else:
            text = payload if isinstance(payload, str) else json.dumps(payload)
            data = ((f"event: {name}\n" if name else "") + f"data: {text}\n\n").encode()
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def _cut(self) -> None:
        """Reset the connection, as a server that dies does."""
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.connection.close()


def _embeddings(request: Request, turn: Turn, new_id: wire.NewId) -> Json:
    inputs = request.body.get("input")
    texts = cast("Sequence[Any]", inputs) if isinstance(inputs, list) else [inputs]
    size = int(request.body.get("dimensions") or 16)
    data: list[Json] = []
    for index, text in enumerate(texts):
        seed = zlib.crc32(json.dumps(text).encode())
        vector = [((seed >> (at % 24)) & 0xFF) / 255.0 for at in range(size)]
        value: Any = vector
        if request.body.get("encoding_format") == "base64":
            value = base64.b64encode(struct.pack(f"<{size}f", *vector)).decode()
        data.append({"object": "embedding", "index": index, "embedding": value})
    count = len(texts) if turn.input_tokens is None else turn.input_tokens
    usage = {"prompt_tokens": count, "total_tokens": count}
    return {"object": "list", "data": data, "model": request.model, "usage": usage}


class _Protocol(NamedTuple):
    """Wire format of one API's answers."""

    name: Protocol
    body: Callable[[Request, Turn, wire.NewId], Json]
    events: Callable[[Request, Turn, wire.NewId], Iterator[wire.Event]] | None = None
    failure: Callable[[Turn], Json] = wire.error_body
    failure_event: Callable[[Turn, int], wire.Event] = wire.chat_error
    is_binary: bool = False
    """Whether a stream is of binary messages, and not of server-sent events."""


_EVENTS = "text/event-stream; charset=utf-8"


_PROTOCOLS = {
    "/chat/completions": _Protocol("chat", wire.chat_body, wire.chat_events),
    "/responses": _Protocol(
        "responses",
        wire.responses_body,
        wire.responses_events,
        failure_event=wire.responses_error,
    ),
    "/embeddings": _Protocol("embeddings", _embeddings),
    "/messages": _Protocol(
        "messages", messages.body, messages.events, messages.error_body, messages.error_event
    ),
    "/messages/count_tokens": _Protocol(
        "count_tokens", messages.token_count, failure=messages.error_body
    ),
    ":generateContent": _Protocol("generate_content", gemini.body, failure=gemini.error_body),
    ":streamGenerateContent": _Protocol(
        "generate_content", gemini.body, gemini.events, gemini.error_body, gemini.error_event
    ),
    ":batchEmbedContents": _Protocol("embeddings", gemini.embeddings, failure=gemini.error_body),
    "/converse": _Protocol("converse", bedrock.body, failure=bedrock.error_body),
    "/converse-stream": _Protocol(
        "converse", bedrock.body, bedrock.events, bedrock.error_body, is_binary=True
    ),
    "/invoke": _Protocol("messages", messages.body, failure=bedrock.error_body),
    "/invoke-with-response-stream": _Protocol(
        "messages", messages.body, bedrock.invoke_events, bedrock.error_body, is_binary=True
    ),
}
"""By the end of the path."""


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="loopback_model", description="a model server on this machine"
    )
    parser.add_argument("--port", type=int, default=0, help="by default a free one")
    port = parser.parse_args(argv).port
    try:
        server = LoopbackModel(port=port)
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        print(
            f"error: port {port} cannot be used: {reason}; hint: --port 0 takes a free one",
            file=sys.stderr,
        )
        return 1
    with server as model:
        for name, text in model.env().items():
            print(f"export {name}={text}", flush=True)
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            print("stopped", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
