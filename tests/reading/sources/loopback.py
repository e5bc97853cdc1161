"""Servers on this machine that answer as Tempo and Jaeger do."""

from __future__ import annotations

import gzip
import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from urllib.parse import parse_qs, urlsplit

from agentool_otel.model.spans import SpanRecord
from agentool_otel.model.times import to_ns
from tests.reading.sources.encoders.otlp import otlp, proto, varint
from tests.reading.sources.encoders.stores import jaeger

SECOND_NS = 1_000_000_000
Reply = tuple[int, Mapping[str, str], bytes]
"""Status, headers and body."""

NO_PATH: Reply = (404, {}, b"404 page not found\n")


class Request(NamedTuple):
    path: str
    query: dict[str, str]
    headers: dict[str, str]


class Loopback:
    """A server whose answers a function makes; a context manager.

    Args:
        reply: makes the answer to a request. A header `content-length` of its own is sent as it is.
    """

    def __init__(self, reply: Callable[[Request], Reply]):
        self.requests: list[Request] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # an answer in one write: the second one would wait for a receipt

            def do_GET(self) -> None:
                url = urlsplit(self.path)
                query = {key: values[-1] for key, values in parse_qs(url.query).items()}
                headers = {key.lower(): value for key, value in self.headers.items()}
                request = Request(url.path, query, headers)
                server.requests.append(request)
                status, text, body = reply(request)
                self.send_response(status)
                for name, value in {"content-length": str(len(body)), **text}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body)
                self.close_connection = "content-length" in text

            def log_message(self, format: str, *args: Any) -> None:
                return None

        class Server(ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request: Any, client_address: Any) -> None:
                return None  # whoever asked has gone

        self._server = Server(("127.0.0.1", 0), Handler)
        self.place = f"127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def __enter__(self) -> Loopback:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def asked(self, path: str) -> list[dict[str, str]]:
        """Return the parameters of the requests for a path."""
        return [request.query for request in self.requests if request.path == path]


def as_json(value: object, status: int = 200) -> Reply:
    return status, {"content-type": "application/json"}, json.dumps(value).encode()


def gzipped(reply: Reply) -> Reply:
    return reply[0], {**reply[1], "content-encoding": "gzip"}, gzip.compress(reply[2])


class FakeTempo:
    """Answers as Tempo 3 does: a search that is capped and hides the newest, and traces by id.

    Args:
        traces: spans by trace id.
        cap: the largest limit that a search takes.
        hidden_since_ns: from when on a search shows nothing.
    """

    def __init__(
        self,
        traces: Mapping[str, Sequence[SpanRecord]],
        cap: int = 262_144,
        hidden_since_ns: int = 1 << 63,
    ):
        self.traces = traces
        self.cap = cap
        self.hidden_since_ns = hidden_since_ns

    def __call__(self, request: Request) -> Reply:
        if request.path == "/api/search":
            return self.search(request.query)
        if request.path == "/api/v2/search/tag/resource.service.name/values":
            return self.services(request.query)
        trace_id = request.path.removeprefix("/api/v2/traces/")
        if trace_id not in self.traces:
            return 200, {}, b"\n\x00\x12\x00" if trace_id != request.path else b""
        trace = proto(self.traces[trace_id])
        return 200, {"content-type": "application/protobuf"}, b"\n" + varint(len(trace)) + trace

    def search(self, query: Mapping[str, str]) -> Reply:
        limit, since, until = (int(query[name]) for name in ("limit", "start", "end"))
        if limit > self.cap:
            return 400, {}, b"limit must be less than or equal to max limit"
        results: list[str] = []
        for trace_id, spans in self.traces.items():
            start = min(span.start_ns or 0 for span in spans)
            end = max(span.end_ns or 0 for span in spans)
            if (
                _has_service(spans, query["q"])
                and start < self.hidden_since_ns
                and start < until * SECOND_NS
                and end >= since * SECOND_NS
            ):
                results.append(trace_id.lstrip("0"))
        return as_json({"traces": [{"traceID": item} for item in results[:limit]], "metrics": {}})

    def services(self, query: Mapping[str, str]) -> Reply:
        since, until = (int(query[name]) * SECOND_NS for name in ("start", "end"))
        names = {
            str(span.resource["service.name"])
            for spans in self.traces.values()
            for span in spans
            if "service.name" in span.resource and since <= (span.start_ns or 0) < until
        }
        return as_json({"tagValues": [{"type": "string", "value": name} for name in sorted(names)]})


def _has_service(spans: Sequence[SpanRecord], traceql: str) -> bool:
    names = re.findall(r'resource\.service\.name = "([^"]*)"', traceql)
    return not names or any(span.resource.get("service.name") in names for span in spans)


class FakeJaeger:
    """Answers as Jaeger's query service does.

    Args:
        traces: spans by trace id.
        speaks: how its third version writes parameters; `pages` for one that has none.
        cap: traces that a search gives at most, whatever it is asked for.
    """

    def __init__(
        self,
        traces: Mapping[str, Sequence[SpanRecord]],
        speaks: str = "camelCase",
        cap: int = 1 << 30,
    ):
        self.traces = traces
        self.speaks = speaks
        self.cap = cap

    def __call__(self, request: Request) -> Reply:
        path = request.path
        if path.startswith("/api/v3/"):
            return NO_PATH if self.speaks == "pages" else self._third(path[8:], request.query)
        if self.speaks != "pages":
            return NO_PATH
        return self._pages(path.removeprefix("/api/"), request.query)

    def services(self) -> list[str]:
        spans = (span for trace in self.traces.values() for span in trace)
        return sorted({span.resource["service.name"] for span in spans})

    def _third(self, description: str, query: Mapping[str, str]) -> Reply:
        if description == "services":
            return as_json({"services": self.services()})
        if description != "traces":
            spans = self.traces.get(description.removeprefix("traces/"), ())
            return self._result(list(spans))
        if self.speaks == "snake_case":
            query = {re.sub(r"_(\w)", lambda item: item[1].upper(), k): v for k, v in query.items()
                     if "_" in k}  # fmt: skip
        since, until = (query.get(f"query.startTime{end}", "") for end in ("Min", "Max"))
        if not since:
            words = "query.start_time_min and query.start_time_max are required"
            return as_json({"error": {"httpCode": 400, "message": words}}, 400)
        request = self.speaks == "camelCase" and query.get("query.attributes")
        result = self._found(
            query["query.serviceName"],
            (to_ns(since) or 0, to_ns(until) or 0),
            int(query["query.searchDepth"]),
            json.loads(request) if request else {},
        )
        return self._result([span for trace in result for span in trace])

    def _result(self, spans: list[SpanRecord]) -> Reply:
        if not spans:
            return as_json({"error": {"httpCode": 404, "message": "No traces found"}}, 404)
        return as_json({"result": otlp(spans)})

    def _pages(self, description: str, query: Mapping[str, str]) -> Reply:
        if description == "services":
            return as_json({"data": self.services(), "total": 1})
        if description != "traces":
            spans = self.traces.get(description.removeprefix("traces/"))
            if spans is None:
                return as_json({"data": None, "errors": [{"code": 404, "msg": "not found"}]}, 404)
            return as_json(jaeger(spans))
        window = (int(query["start"]) * 1000, int(query["end"]) * 1000)
        document = json.loads(query.get("tags", "{}"))
        result = self._found(query["service"], window, int(query["limit"]), document)
        return as_json(
            {"data": [item for trace in result for item in jaeger(trace)["data"]], "errors": None}
        )

    def _found(
        self, service: str, window: tuple[int, int], limit: int, attributes: Mapping[str, str]
    ) -> list[Sequence[SpanRecord]]:
        def fits(span: SpanRecord) -> bool:
            start = (span.start_ns or 0) // 1000 * 1000
            return (
                span.resource["service.name"] == service
                and window[0] <= start <= window[1]
                and all(
                    str(span.attributes.get(key)) == attribute
                    for key, attribute in attributes.items()
                )
            )

        traces = [trace for trace in self.traces.values() if any(map(fits, trace))]
        return traces[: min(limit, self.cap)]
