"""`jaeger://`: traces of a Jaeger, in either spelling of its third API and in that of its pages."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel.errors import SourceDenied, SourceError, SourceUnreachable
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.sources.opening import open_source
from tests.reading.sources.loopback import NO_PATH, FakeJaeger, Loopback, Reply, Request, as_json

PAST_NS = 1_767_225_600 * 10**9
WINDOW = "since=2026-01-01T00:00:00Z&until=2026-01-01T02:00:00Z"
HOURS_NS = 7200 * 10**9
SPELLINGS = ["camelCase", "snake_case", "pages"]


def a_trace(number: int, start_ns: int, *services: str, **attributes: str) -> list[SpanRecord]:
    return [
        SpanRecord(
            f"{number:032x}",
            f"{n + 1:016x}",
            name=f"span {n}",
            start_ns=start_ns,
            end_ns=start_ns + 1000,
            attributes=dict(attributes) if n == 0 else {},
            resource={"service.name": service},
        )
        for n, service in enumerate(services or ("bot",))
    ]


def stored(*traces: list[SpanRecord]) -> dict[str, list[SpanRecord]]:
    return {trace[0].trace_id: trace for trace in traces}


def read(url: str) -> tuple[list[SpanRecord], list[str]]:
    source = open_source(url)
    return list(source.spans()), [str(problem) for problem in source.problems]


def numbers(spans: list[SpanRecord]) -> list[int]:
    return [int(span.trace_id, 16) for span in spans]


@pytest.mark.parametrize("speaks", SPELLINGS)
def test_a_trace_is_read_by_its_id_in_every_spelling(speaks: str) -> None:
    trace = a_trace(7, PAST_NS, "bot", "tools")
    with Loopback(FakeJaeger(stored(trace), speaks)) as server:
        assert read(f"jaeger://{server.place}?trace=7") == (trace, [])
        with pytest.raises(SourceError, match=r"trace 0+8 is not there"):
            read(f"jaeger://{server.place}?trace=8")


@pytest.mark.parametrize("speaks", SPELLINGS)
def test_a_service_is_searched_in_every_spelling(speaks: str) -> None:
    traces = stored(a_trace(1, PAST_NS), a_trace(2, PAST_NS, "other"), a_trace(3, PAST_NS - 10**9))
    with Loopback(FakeJaeger(traces, speaks)) as server:
        spans, problems = read(f"jaeger://{server.place}?service=bot&{WINDOW}")
    assert (numbers(spans), problems) == ([1], [])


@pytest.mark.parametrize("speaks", SPELLINGS)
def test_without_a_service_all_are_read_and_shared_traces_once(speaks: str) -> None:
    traces = stored(a_trace(1, PAST_NS, "bot", "tools"), a_trace(2, PAST_NS, "tools"))
    with Loopback(FakeJaeger(traces, speaks)) as server:
        spans, problems = read(f"jaeger://{server.place}?{WINDOW}")
    assert (numbers(spans), problems) == ([1, 1, 2], [])


@pytest.mark.parametrize("speaks", SPELLINGS)
def test_attributes_are_searched_even_where_the_server_ignores_them(speaks: str) -> None:
    traces = stored(a_trace(1, PAST_NS, model="a"), a_trace(2, PAST_NS, model="b"))
    with Loopback(FakeJaeger(traces, speaks)) as server:
        spans, _ = read(f"jaeger://{server.place}?service=bot&attribute=model=b&{WINDOW}")
    assert numbers(spans) == [2]


@pytest.mark.parametrize("speaks", SPELLINGS)
@pytest.mark.thorough
@settings(max_examples=4)
@given(
    starts=st.lists(st.integers(0, HOURS_NS) | st.integers(0, 5000), max_size=20),
    at_once=st.integers(0, 120),
)
def test_every_trace_is_read_once_or_its_microsecond_is_named(
    speaks: str, starts: list[int], at_once: int
) -> None:
    times = [*(PAST_NS + start for start in starts), *[PAST_NS + 10**9] * at_once]
    traces = stored(*(a_trace(n + 1, time) for n, time in enumerate(times)))
    with Loopback(FakeJaeger(traces, speaks)) as server:
        spans, problems = read(f"jaeger://{server.place}?service=bot&{WINDOW}")
    assert len(numbers(spans)) == len(set(numbers(spans)))
    assert len(spans) == len(traces) or problems
    assert all("more traces in this microsecond than the 100" in problem for problem in problems)


def test_traces_are_requested_as_they_were_sent() -> None:
    with Loopback(FakeJaeger(stored(a_trace(1, PAST_NS)))) as server:
        read(f"jaeger://{server.place}?service=bot&{WINDOW}")
        read(f"jaeger://{server.place}?trace=1")
    (search,) = server.asked("/api/v3/traces")
    assert search["query.rawTraces"] == "true"
    assert server.asked(f"/api/v3/traces/{1:032x}")[0]["rawTraces"] == "true"


def test_a_service_without_traces_is_no_problem() -> None:
    early = a_trace(2, PAST_NS - 10**9, "other")
    with Loopback(FakeJaeger(stored(a_trace(1, PAST_NS), early))) as server:
        assert read(f"jaeger://{server.place}?service=other&{WINDOW}") == ([], [])
    with Loopback(FakeJaeger({})) as server:
        assert read(f"jaeger://{server.place}?service=other&{WINDOW}") == ([], [])


@pytest.mark.parametrize("speaks", SPELLINGS)
def test_an_unknown_service_is_an_error_with_the_known_ones(speaks: str) -> None:
    names = ["a", "web-bot", "webbot", "weather bot", *(f"x{n}" for n in range(6))]
    traces = stored(*(a_trace(n + 1, PAST_NS, name) for n, name in enumerate(names)))
    with Loopback(FakeJaeger(traces, speaks)) as server:
        with pytest.raises(SourceError) as raised:
            read(f"jaeger://{server.place}?service=weatherbot&{WINDOW}")
        some, problems = read(f"jaeger://{server.place}?service=a&service=nobody&{WINDOW}")
    assert str(raised.value) == (
        f"jaeger://{server.place} has no service 'weatherbot', it has 'weather bot', 'webbot', "
        "'a', 'web-bot', 'x0', 'x1', 'x2', 'x3' and 2 more; hint: service=weather%20bot"
    )
    assert numbers(some) == [1]
    assert [
        problem for problem in problems if "has no service 'nobody', it has 'a', " in problem
    ] == problems
    assert len(problems) == 1


def test_a_service_is_not_checked_where_the_server_does_not_list_any() -> None:
    jaeger = FakeJaeger(stored(a_trace(1, PAST_NS)))

    def reply(request: Request) -> Reply:
        return as_json({}, 500) if request.path.endswith("/services") else jaeger(request)

    with Loopback(reply) as server:
        assert read(f"jaeger://{server.place}?service=other&{WINDOW}") == ([], [])


def test_a_path_that_is_the_name_of_a_service_is_explained() -> None:
    page = (200, {"content-type": "text/html"}, b"<!DOCTYPE html><title>Jaeger UI</title>")
    with Loopback(lambda _: page) as server, pytest.raises(SourceDenied) as raised:
        read(f"jaeger://{server.place}/bot?{WINDOW}")
    assert str(raised.value).endswith(" (/bot is a base path; ?service=bot names a service)")


def test_an_error_in_one_service_loses_only_that_service() -> None:
    jaeger = FakeJaeger(stored(a_trace(1, PAST_NS), a_trace(2, PAST_NS, "tools")))

    def reply(request: Request) -> Reply:
        if request.query.get("query.serviceName") == "bot":
            return as_json({"error": {"httpCode": 500, "message": "disk"}}, 500)
        return jaeger(request)

    with Loopback(reply) as server:
        spans, (problem,) = read(f"jaeger://{server.place}?{WINDOW}")
    assert numbers(spans) == [2]
    assert "service 'bot' 2026-01-01T00:00:00Z to 2026-01-01T02:00:00Z: " in problem


def test_a_login_page_is_not_mistaken_for_traces() -> None:
    page = (200, {"content-type": "text/html"}, b"\n<!DOCTYPE html><title>Log in</title>")
    for query in ("trace=1", f"service=bot&{WINDOW}", WINDOW):
        with (
            Loopback(lambda _: page) as server,
            pytest.raises(SourceDenied, match=r"answers with a web page.*AGENTOOL_JAEGER_TOKEN"),
        ):
            read(f"jaeger://{server.place}?{query}")


@pytest.mark.parametrize("query", ["trace=1", f"service=bot&{WINDOW}", WINDOW])
def test_an_address_without_the_api_is_reported(query: str) -> None:
    with (
        Loopback(lambda _: NO_PATH) as server,
        pytest.raises(SourceUnreachable, match="has no API of Jaeger; hint: its query service"),
    ):
        read(f"jaeger://{server.place}?{query}")


def test_losses_of_the_pages_api_are_declared_once_it_was_read() -> None:
    with Loopback(FakeJaeger(stored(a_trace(1, PAST_NS)), "pages")) as server:
        source = open_source(f"jaeger://{server.place}?trace=1")
        assert "times are rounded to microseconds" not in source.loses
        assert len(list(source.spans())) == 1
    assert "times are rounded to microseconds" in source.loses
    assert source.loses[0] == "schema URLs of scopes are not kept"
