"""Grafana Tempo's HTTP API, at its own address or behind Grafana's proxy of data sources.

    tempo://localhost:3200?service=bot&since=2h
    tempo+https://grafana.example/api/datasources/proxy/uid/abc?trace=450ff51339dc68851fa6b4a4c0798b5

Spec: grafana/tempo v3.0, docs/sources/tempo/api_docs; TraceQL as of the same. A search gives ids,
without their leading zeros, of traces that lie in a window of whole seconds or reach into it; each
is then asked for by its id, as protobuf, from the second API, or the first where that is all there
is.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator
from typing import ClassVar

from agentool_otel.errors import SourceError, SourceUnreachable
from agentool_otel.ground import json_codec
from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.untrusted_text import logger
from agentool_otel.model.spans import SpanRecord
from agentool_otel.model.times import from_ns
from agentool_otel.reading.sources.servers.answer import Answer
from agentool_otel.reading.sources.servers.query import SECOND_NS, Attribute, window_text
from agentool_otel.reading.sources.servers.server import ServerSource
from agentool_otel.reading.sources.servers.windows import Window, search_window

__all__ = ["Tempo"]

_log = logger(__name__)
_PATHS = ("/api/v2/traces/", "/api/traces/")
"""Paths of traces, the better one first."""
_SERVICES = "/api/v2/search/tag/resource.service.name/values"
_PROTOBUF = "application/protobuf"
_LIMIT = 1000
"""Traces of an answer to a search,"""
_MOST = 64_000
"""and of one second."""
_LONGEST_WINDOW_NS = 168 * 3600 * SECOND_NS
"""Of a search, by default: `query_frontend.search.max_duration`."""
_HIDDEN_NS = 30 * SECOND_NS
"""Of the newest spans, which a search leaves out: `query_frontend.search.query_end_cutoff`."""
_CUT_AT = 2048
"""Bytes at which attributes are cut by default: `distributor.max_attribute_bytes`."""
_NO_PATH = b"404 page not found"
_PLAIN_KEY = re.compile(r"[A-Za-z_][\w.\-/]*", re.ASCII)
_NUMBER = re.compile(r"-?\d{1,18}(\.\d{1,18})?", re.ASCII)
_ID = re.compile(r"[0-9a-fA-F]{1,32}")


class Tempo(ServerSource):
    """The traces of a Tempo."""

    store = "Tempo"
    port = 3200
    tenant_header = "x-scope-orgid"
    step_ns = SECOND_NS
    declared: ClassVar[tuple[str, ...]] = (
        "attributes are cut at 2,048 bytes, unless distributor.max_attribute_bytes is larger",
        "of a trace larger than max_bytes_per_trace (5 MB by default) a part or all is dropped",
        "schema URLs and the flags of spans are not kept",
    )

    def __init__(self, where: str):
        super().__init__(where)
        self._limit = _LIMIT
        self._paths = list(_PATHS)
        """Of `_PATHS`, those that are not known to be missing."""
        self._of_full_length = 0

    @property
    def loses(self) -> tuple[str, ...]:
        """Return the data that the store loses, and the number of texts that look truncated."""
        if not self._of_full_length:
            return super().loses
        count = f"texts of exactly {_CUT_AT:,} bytes, which may be cut: {self._of_full_length:,}"
        return (*super().loses, count)

    def read(self) -> Iterator[SpanRecord]:
        """Yield the spans of the requested traces."""
        self._limit, self._paths, self._of_full_length = _LIMIT, list(_PATHS), 0
        for trace_id in self.query.traces or self._trace_ids():
            if self.is_new(trace_id):
                yield from self._trace(trace_id)

    def _trace(self, trace_id: str) -> Iterator[SpanRecord]:
        where = f"{self.name} trace {trace_id}"
        spans = 0
        try:
            for span in self.decode(self._answer(trace_id)):
                spans += 1
                self._of_full_length += _of_full_length(span)
                yield span
            if not spans:
                self.report(where, "it is there, and has no spans")
        except SourceError as error:
            self.note_failure(where, error)

    def _answer(self, trace_id: str) -> Answer:
        """Return the trace as the first API that is there gives it.

        Raises:
            SourceUnreachable: there is none.
            SourceError: it has no such trace.
        """
        for path in self._paths[:]:
            answer = self.http.get(path + trace_id, accept=_PROTOBUF, more=f"trace {trace_id}")
            if answer.status == 404 and answer.head(20).startswith(_NO_PATH):
                answer.close()
                self._paths.remove(path)
            elif answer.status == 404 or (answer.status == 200 and answer.holds_nothing()):
                raise self.not_there(answer)
            else:
                return answer
        raise SourceUnreachable(
            f"{self.name} has no API of Tempo; hint: it listens at port {self.port}, or behind "
            f"Grafana at /api/datasources/proxy/uid/UID{self.http.path_note()}"
        )

    # ------------------------------------------------------------------------------- searching

    def _trace_ids(self) -> Iterator[str]:
        yield from search_window(
            self.window, self.step_ns, self._search, self._not_whole, _LONGEST_WINDOW_NS
        )
        if not self.seen and self.query.services:
            services = self._services()
            for service in self.query.services:
                self.check_service(service, services)
        hidden = time.time_ns() - _HIDDEN_NS
        if self.query.until_ns > hidden:
            message = (
                f"traces since {from_ns(hidden // SECOND_NS * SECOND_NS)} are missing: Tempo's "
                "search does not show the newest 30 s; hint: try again in 30 s, use trace=ID, or "
                "leave them out with until=30s"
            )
            if self.query.until_now:  # whoever asks for all there is gets all that can be had
                _log.warning("%s: %s", self.name, message)
            else:
                self.report(self.name, message)

    def _services(self) -> list[str]:
        """Return the names of the services in the longest window that a search may have; none where
        the server does not list them."""
        end = self.window.until_ns
        query = [
            ("start", str(max(end - _LONGEST_WINDOW_NS, 0) // SECOND_NS)),
            ("end", str(end // SECOND_NS)),
        ]
        try:
            answer = self.http.get(_SERVICES, query, more="services")
            body = answer.json() if answer.status == 200 else None
            answer.close()
        except SourceError:
            return []  # the search was answered, which is enough
        values = body.get("tagValues") if isinstance(body, dict) else None
        if not isinstance(values, list):
            return []
        names = [value.get("value") for value in values if isinstance(value, dict)]
        return [name for name in names if isinstance(name, str)]

    def _search(self, window: Window) -> Generator[str, None, bool]:
        """Yield the ids of traces in a window, and return whether there may be more."""
        where = window_text(*window)
        try:
            trace_ids, full = self._all_ids(window, where)
        except SourceError as error:
            self.note_failure(f"{self.name} {where}", error)
            return False
        for trace_id in trace_ids:
            if isinstance(trace_id, str) and _ID.fullmatch(trace_id):
                yield trace_id.lower().zfill(32)
            else:
                self.report(
                    f"{self.name} {where}", f"a trace was found under no id: {trace_id!r:.80}"
                )
        return full

    def _all_ids(self, window: Window, where: str) -> tuple[list[object], bool]:
        """Return the ids in a window, and whether there may be more; of one that cannot be halved
        as many as the server gives."""
        while (trace_ids := self._ids(window, where, self._limit)) is None:
            self._limit = max(self._limit // 4, 1)
        limit = self._limit
        while len(trace_ids) >= limit and limit < _MOST and len(window.halves(self.step_ns)) == 1:
            more = self._ids(window, where, 4 * limit)
            if more is None:
                break
            trace_ids, limit = more, 4 * limit
        return trace_ids, len(trace_ids) >= limit

    def _ids(self, window: Window, where: str, limit: int) -> list[object] | None:
        """Return the ids that a search gives; None if it does not take the limit, as set by
        `query_frontend.search.max_result_limit`.

        Raises:
            SourceError: it gives no answer.
        """
        query = [*self._query(window), ("limit", str(limit))]
        answer = self.http.get("/api/search", query, more=where)
        if answer.status == 400 and b"limit" in answer.head() and limit > 1:
            answer.close()
            return None
        body = answer.json() if answer.status == 200 else None
        if not isinstance(body, dict) or not isinstance(traces := body.get("traces", []), list):
            raise self.http.refusal(answer)
        answer.close()
        if body.get("status") == "PARTIAL":
            message = f"only a part was searched: {body.get('message')!s:.200}"
            self.report(f"{self.name} {where}", message)
        return [trace.get("traceID") if isinstance(trace, dict) else trace for trace in traces]

    def _query(self, window: Window) -> list[tuple[str, str]]:
        return [
            ("q", traceql(self.query.services, self.query.attributes)),
            ("start", str(window.since_ns // SECOND_NS)),
            ("end", str(window.until_ns // SECOND_NS)),
            ("spss", "1"),
        ]

    def _not_whole(self, window: Window) -> None:
        self.report(
            f"{self.name} {window_text(*window)}",
            "there are more traces in this second than a search returns; the others are missing; "
            "hint: use one service= or attribute= at a time",
        )


def traceql(services: tuple[str, ...], attributes: tuple[Attribute, ...]) -> str:
    """Return a query for spans of any of the services that have all of the attributes, whether of
    their own or of their resource."""
    conditions = [_any_of([f"resource.service.name = {_text(service)}" for service in services])]
    for key, value in attributes:
        name = f".{key}" if _PLAIN_KEY.fullmatch(key) else f".{_text(key)}"
        forms = [_text(value)]
        if _NUMBER.fullmatch(value) or value in ("true", "false"):
            forms.append(value)  # TraceQL tells 41 from "41"
        conditions.append(_any_of([f"{name} = {form}" for form in forms]))
    return "{ " + " && ".join(filter(None, conditions)) + " }"


def _any_of(conditions: list[str]) -> str:
    joined = " || ".join(conditions)
    return f"({joined})" if len(conditions) > 1 else joined


def _text(value: str) -> str:
    return json_codec.dumps(value)


def _of_full_length(span: SpanRecord) -> int:
    """Return how many texts of a span are as long as Tempo lets them be; fewer characters than a
    quarter of that are never so many bytes."""
    return sum(
        isinstance(attribute, str)
        and _CUT_AT // 4 <= len(attribute) <= _CUT_AT
        and len(attribute.encode()) == _CUT_AT
        for attribute in span.attributes.values()
    )
