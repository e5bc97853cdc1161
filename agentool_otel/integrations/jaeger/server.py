"""The HTTP API of Jaeger's query service, its third version or the one of its own pages.

    jaeger://localhost:16686?service=bot&attribute=gen_ai.request.model=gpt-5&since=2h
    jaeger+https://jaeger.example/base?trace=0af7651916cd43dd8448eb211c80319c

Spec: jaegertracing/jaeger v2.20, internal/proto-gen/api_v3; v1.76, apiv3/http_gateway.go. A search
wants a service, and answers with whole traces, OTLP/JSON of all of them in one. Older versions
write its parameters with underscores and pass over attributes: those are then looked for here.
Servers without a third version, others that speak Jaeger's language among them, answer in the JSON
of its pages.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from functools import partial
from typing import ClassVar, Literal

from agentool_otel.errors import SourceError, SourceUnreachable
from agentool_otel.ground import json_codec
from agentool_otel.ground.json_codec import Json
from agentool_otel.model.spans import Attributes, SpanRecord
from agentool_otel.model.times import from_ns
from agentool_otel.reading.sources.servers.answer import Answer, AnswerTooLarge
from agentool_otel.reading.sources.servers.query import window_text
from agentool_otel.reading.sources.servers.server import ServerSource
from agentool_otel.reading.sources.servers.windows import Window, search_window

__all__ = ["Jaeger"]

_DEPTH = 100
"""Traces of an answer to a search."""
_MICROSECOND_NS = 1000
_RAW = [("rawTraces", "true"), ("raw_traces", "true")]
"""As they were sent: otherwise Jaeger moves times and attributes about."""

_Spelling = Literal["camelCase", "snake_case", "pages"]


class Jaeger(ServerSource):
    """The traces of a Jaeger."""

    store = "Jaeger"
    port = 16686
    tenant_header = "x-tenant"
    step_ns = _MICROSECOND_NS
    declared: ClassVar[tuple[str, ...]] = (
        "schema URLs of scopes are not kept",
        "in Badger, Cassandra and Elasticsearch, array attributes are JSON text, times are rounded "
        "to microseconds, and flags are 0",
        "in Badger, spans with a value above 65,000 bytes are dropped",
    )

    def __init__(self, where: str):
        super().__init__(where)
        self._spelling: _Spelling = "camelCase"

    def read(self) -> Iterator[SpanRecord]:
        """Yield the spans of the requested traces."""
        self._spelling = "camelCase"
        if self.query.traces:
            for trace_id in self.query.traces:
                yield from self._trace(trace_id)
            return
        for service in self.query.services or self._first_services():
            search = partial(self._search, service)
            found_any = False
            for span in search_window(
                self.window, self.step_ns, search, partial(self._not_whole, service)
            ):
                found_any = True
                yield span
            if not found_any and self.query.services:
                self._check(service)

    def _trace(self, trace_id: str) -> Iterator[SpanRecord]:
        where = f"{self.name} trace {trace_id}"
        spans = 0
        try:
            answer = self._first_answer(f"traces/{trace_id}", f"trace {trace_id}")
            if answer.status == 404 or (answer.status == 200 and answer.holds_nothing()):
                raise self.not_there(answer)
            for span in self.decode(answer):
                spans += 1
                yield span
            if not spans:
                self.report(where, "it is there, and has no spans")
        except SourceError as error:
            self.note_failure(where, error)

    def _first_services(self) -> Iterator[str]:
        """Yield the names of all services.

        Raises:
            ReadingLimit: there are more than one reading takes; raised after the last of these.
        """
        names, most = self._services(), self.query.limits.max_services
        yield from names[:most]
        if len(names) > most:
            raise self.http.reading.too_many_services(len(names))

    def _check(self, service: str) -> None:
        """Note that the server has no service of this name."""
        try:
            services = self._services()
        except SourceError:
            return  # the search was answered, which is enough
        self.check_service(service, services)

    def _services(self) -> list[str]:
        """Return the names of all services.

        Raises:
            SourceError: the server does not say them.
        """
        answer = self._first_answer("services", "services")
        body = answer.json() if answer.status == 200 else None
        names = (body.get("services") or body.get("data") or []) if isinstance(body, dict) else None
        if not isinstance(names, list):
            raise self.http.refusal(answer)
        answer.close()
        return list(dict.fromkeys(name for name in names if isinstance(name, str)))

    def _first_answer(self, path: str, more: str) -> Answer:
        """Return the answer of the third version, or where that is missing, of the pages'.

        Raises:
            SourceUnreachable: neither is there.
        """
        if self._spelling != "pages":
            answer = self.http.get(f"/api/v3/{path}", _RAW, more=more)
            if not _is_missing(answer):
                return answer
            answer.close()
        answer = self.http.get(f"/api/{path}", [("raw", "true")], more=more)
        if answer.is_page():
            raise self.http.refusal(answer)
        if _is_missing(answer):
            raise self._no_api(answer)
        self._spelling = "pages"
        return answer

    def _no_api(self, answer: Answer) -> SourceUnreachable:
        answer.close()
        return SourceUnreachable(
            f"{self.name} has no API of Jaeger; hint: its query service listens at port "
            f"{self.port}, and may have a base path{self.http.path_note()}"
        )

    # ------------------------------------------------------------------------------- searching

    def _search(self, service: str, window: Window) -> Generator[SpanRecord, None, bool]:
        """Yield the spans of new traces in a window, and return whether there may be more."""
        more = f"service {service!r} {window_text(*window)}"
        trace_ids: set[str] = set()
        new: set[str] = set()
        try:
            answer = self._search_answer(service, window, more)
            for span in self._select(answer, trace_ids) if answer is not None else ():
                if span.trace_id in new or self.is_new(span.trace_id):
                    new.add(span.trace_id)
                    yield span
        except AnswerTooLarge as error:
            if len(window.halves(self.step_ns)) > 1:
                return True
            self.note_failure(f"{self.name} {more}", error)
        except SourceError as error:
            self.note_failure(f"{self.name} {more}", error)
        return len(trace_ids) >= _DEPTH

    def _search_answer(self, service: str, window: Window, more: str) -> Answer | None:
        """Return the result of a search, None for nothing, in the spelling that the server
        knows.
        """
        if self._spelling == "camelCase":
            query = [(_camel(key), value) for key, value in self._query(service, window)]
            answer = self.http.get("/api/v3/traces", query, more=more)
            if answer.status == 400 and b"start_time_min" in answer.head():
                self._spelling = "snake_case"
            elif _is_missing(answer):
                self._spelling = "pages"
            else:
                return _or_none(answer)
            answer.close()
        if self._spelling == "snake_case":
            return _or_none(
                self.http.get("/api/v3/traces", self._query(service, window), more=more)
            )
        answer = self.http.get("/api/traces", self._old_query(service, window), more=more)
        if _is_missing(answer) and not answer.is_page():
            raise self._no_api(answer)
        return _or_none(answer)

    def _query(self, service: str, window: Window) -> list[tuple[str, str]]:
        query = [
            ("query.service_name", service),
            ("query.start_time_min", from_ns(window.since_ns)),
            ("query.start_time_max", from_ns(window.until_ns)),
            ("query.search_depth", str(_DEPTH)),
            ("query.num_traces", str(_DEPTH)),  # as the oldest call it
            ("query.raw_traces", "true"),
        ]
        if self.query.attributes:
            query.append(("query.attributes", json_codec.dumps(dict(self.query.attributes))))
        return query

    def _old_query(self, service: str, window: Window) -> list[tuple[str, str]]:
        query = [
            ("service", service),
            ("start", str(window.since_ns // _MICROSECOND_NS)),
            ("end", str(window.until_ns // _MICROSECOND_NS)),
            ("limit", str(_DEPTH)),
            ("raw", "true"),
        ]
        if self.query.attributes:
            query.append(("tags", json_codec.dumps(dict(self.query.attributes))))
        return query

    def _select(self, answer: Answer, trace_ids: set[str]) -> Iterator[SpanRecord]:
        """Yield the spans of traces that have the attributes, and note the ids of all."""
        if not self.query.attributes or self._spelling != "snake_case":
            for span in self.decode(answer):
                trace_ids.add(span.trace_id)
                yield span
            return
        traces: dict[str, list[SpanRecord]] = {}
        for span in self.decode(answer):
            traces.setdefault(span.trace_id, []).append(span)
        trace_ids.update(traces)
        for spans in traces.values():
            if any(map(self._is_wanted, spans)):
                yield from spans

    def _is_wanted(self, span: SpanRecord) -> bool:
        """Return whether a span has all of the attributes, itself, on its events or on its
        resource.
        """
        has = [span.attributes, span.resource, *(event.attributes for event in span.events)]
        return all(
            any(_says(item, key, value) for item in has) for key, value in self.query.attributes
        )

    def _not_whole(self, service: str, window: Window) -> None:
        self.report(
            f"{self.name} service {service!r} {window_text(*window)}",
            f"there are more traces in this microsecond than the {_DEPTH} that a search returns; "
            f"the others are missing; hint: use one attribute= at a time",
        )


def _camel(name: str) -> str:
    return re.sub(r"_([a-z])", lambda match: match[1].upper(), name)


def _is_missing(answer: Answer) -> bool:
    """Return whether the server has no such path: the API itself answers a missing trace
    in JSON.
    """
    if answer.is_page():
        return True
    return answer.status in (400, 404) and not isinstance(answer.json(), dict)


def _or_none(answer: Answer) -> Answer | None:
    """Return the answer to a search; None for an error which means that nothing was found."""
    nothing = answer.holds_nothing() if answer.status == 200 else answer.status == 404
    if not nothing or answer.is_page():
        return answer
    answer.close()
    return None


def _says(attributes: Attributes, key: str, value: str) -> bool:
    """Return whether an attribute has a value, whatever its type."""
    if key not in attributes:
        return False
    has: Json = attributes[key]
    return value == has if isinstance(has, str) else value in (json_codec.dumps(has), str(has))
