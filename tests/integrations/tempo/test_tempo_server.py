"""`tempo://`: complete traces of a Tempo, each once, and notes on missing data.

The recorded answers are in `fixtures/tempo`.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentool_otel import load
from agentool_otel.errors import SourceDenied, SourceError, SourceUnreachable
from agentool_otel.loading import rebuild
from agentool_otel.model.spans import SpanRecord
from agentool_otel.model.times import from_ns
from agentool_otel.reading.sources.grouping.by_trace import by_trace
from agentool_otel.reading.sources.opening import open_source
from tests.reading.sources.loopback import (
    NO_PATH,
    SECOND_NS,
    FakeTempo,
    Loopback,
    Reply,
    Request,
    as_json,
)

FIXTURES = Path(__file__).parents[2] / "fixtures" / "tempo"
RECORDED = sorted(FIXTURES.glob("*/*.v1.pb"))
CUT = "1e50dfa4b04451a681956db3621a1a28"
PAST_NS = 1_767_225_600 * SECOND_NS
DAY_NS = 86_400 * SECOND_NS
PAST = "since=2026-01-01T00:00:00Z&until=2026-01-01T02:00:00Z"


def a_trace(number: int, start_ns: int, end_ns: int | None = None) -> tuple[str, list[SpanRecord]]:
    trace_id = f"{number:032x}"
    end_ns = start_ns if end_ns is None else end_ns
    return trace_id, [SpanRecord(trace_id, "6b" * 8, name="s", start_ns=start_ns, end_ns=end_ns)]


def read(url: str) -> tuple[list[SpanRecord], list[str]]:
    source = open_source(url)
    return list(source.spans()), [str(problem) for problem in source.problems]


def recorded(request: Request, version: str, suffix: str, folder: str) -> Reply:
    path = "/api/v2/traces/" if version == "v2" else "/api/traces/"
    if not request.path.startswith(path):
        return NO_PATH
    file = FIXTURES / folder / f"{request.path.removeprefix(path)}.{version}.{suffix}"
    return 200, {}, file.read_bytes()


# ------------------------------------------------------------------------------ recorded answers


@pytest.mark.parametrize("version", ["v1", "v2"])
@pytest.mark.parametrize("suffix", ["json", "pb"])
@pytest.mark.parametrize("folder", ["defaults", "raised"])
def test_every_form_of_a_recorded_trace_gives_the_same_spans(
    version: str, suffix: str, folder: str
) -> None:
    ids = sorted(file.name[:32] for file in (FIXTURES / folder).glob("*.v1.pb"))
    with Loopback(lambda request: recorded(request, version, suffix, folder)) as server:
        spans, problems = read(f"tempo://{server.place}?" + "&".join(f"trace={id_}" for id_ in ids))
    expected = [
        span for id_ in ids for span in open_source(FIXTURES / folder / f"{id_}.v2.json").spans()
    ]
    for span in (*spans, *expected):
        span.damaged = ()  # that a cut ends within a character is seen in protobuf alone
    assert (list(map(repr, spans)), problems) == (list(map(repr, expected)), [])


def test_with_raised_limits_what_was_sent_comes_back() -> None:
    ids = {file.name[:32] for file in (FIXTURES / "raised").glob("*.v2.pb")}
    sent = open_source(FIXTURES / "raised" / "sent.otlp.pb").spans()
    with Loopback(lambda request: recorded(request, "v2", "pb", "raised")) as server:
        url = f"tempo://{server.place}?" + "&".join(f"trace={id_}" for id_ in ids)
        results = [rebuilt.to_bytes() for rebuilt in rebuild(open_source(url).spans())]
    assert results == [
        item.to_bytes() for item in rebuild(span for span in sent if span.trace_id in ids)
    ]


@pytest.mark.parametrize("suffix", ["json", "pb"])
def test_a_truncated_value_is_marked_as_such(suffix: str) -> None:
    with Loopback(lambda request: recorded(request, "v2", suffix, "defaults")) as server:
        (result,) = rebuild(open_source(f"tempo://{server.place}?trace={CUT}").spans())
    cut = {note.attribute for note in result.fidelity.notes if note.outcome == "truncated"}
    assert "gen_ai.tool.call.result" in cut


def test_losses_are_declared_and_truncated_texts_counted() -> None:
    span = SpanRecord("6a" * 16, "6b" * 8, attributes={"a": "é" * 1024, "b": "x" * 2047})
    with Loopback(FakeTempo({"6a" * 16: [span]})) as server:
        source = open_source(f"tempo://{server.place}?trace={'6a' * 16}")
        assert list(source.spans()) == [span]
    assert "attributes are cut at 2,048 bytes" in source.loses[0]
    assert source.loses[-1] == "texts of exactly 2,048 bytes, which may be cut: 1"


def test_ids_from_a_recorded_search_are_requested_with_leading_zeros() -> None:
    trace = json.loads((FIXTURES / "search.json").read_bytes())["traces"]

    def reply(request: Request) -> Reply:
        if request.path == "/api/search":
            return as_json({"traces": trace})
        spans = dict([a_trace(int(request.path.removeprefix("/api/v2/traces/"), 16), PAST_NS)])
        return FakeTempo(spans)(request)

    with Loopback(reply) as server:
        spans, problems = read(f"tempo://{server.place}?{PAST}")
    assert "9684d3c9f97386c591c37c87db94186" in [item["traceID"] for item in trace]
    assert [span.trace_id for span in spans] == [item["traceID"].zfill(32) for item in trace]
    assert problems == []


# ------------------------------------------------------------------------------------- searching


@pytest.mark.thorough
@settings(max_examples=15)
@given(
    starts=st.lists(
        st.integers(0, 7200 * SECOND_NS - 1) | st.integers(0, 4 * SECOND_NS), max_size=8
    ),
    lasts=st.integers(0, 3 * SECOND_NS),
    cap=st.integers(1, 6),
)
def test_every_trace_is_read_once_or_its_second_is_named(
    starts: list[int], lasts: int, cap: int
) -> None:
    traces = dict(
        a_trace(n + 1, PAST_NS + start, PAST_NS + start + lasts) for n, start in enumerate(starts)
    )
    with Loopback(FakeTempo(traces, cap)) as server:
        spans, problems = read(f"tempo://{server.place}?{PAST}")
    ids = [span.trace_id for span in spans]
    assert len(ids) == len(set(ids))
    assert all("more traces in this second than" in problem for problem in problems)
    for missing in traces.keys() - set(ids):
        second = from_ns((traces[missing][0].start_ns or 0) // SECOND_NS * SECOND_NS)
        assert any(f" {second} to " in problem for problem in problems)


def test_a_busy_second_is_read_as_far_as_the_server_lets_it() -> None:
    results = [{"traceID": f"{n + 1:x}"} for n in range(1500)]

    def reply(request: Request) -> Reply:
        if request.path == "/api/search":
            return as_json({"traces": results[: int(request.query["limit"])]})
        spans = dict([a_trace(int(request.path.removeprefix("/api/v2/traces/"), 16), PAST_NS)])
        return FakeTempo(spans)(request)

    with Loopback(reply) as server:
        second = "since=2026-01-01T00:00:00Z&until=2026-01-01T00:00:01Z"
        spans, problems = read(f"tempo://{server.place}?{second}")
    assert (len(spans), problems) == (1500, [])


def test_hidden_newest_traces_are_reported(caplog: pytest.LogCaptureFixture) -> None:
    now = time.time_ns()
    traces = dict(a_trace(n + 1, now - ago * SECOND_NS) for n, ago in enumerate((600, 0)))
    with Loopback(FakeTempo(traces, hidden_since_ns=now - 30 * SECOND_NS)) as server:
        hidden = "Tempo's search does not show the newest 30 s; hint: try again in 30 s"
        spans, (problem,) = read(f"tempo://{server.place}?since=1h&until=now")
        assert hidden in problem
        assert caplog.text == ""
        assert read(f"tempo://{server.place}?since=1h") == (spans, [])
        assert hidden in caplog.text
        assert read(f"tempo://{server.place}?since=1h&until=1m") == (spans, [])
    assert [span.trace_id for span in spans] == ["0" * 31 + "1"]


def test_an_unknown_service_is_an_error_with_the_known_ones() -> None:
    traces = dict(a_trace(n + 1, PAST_NS - n * DAY_NS) for n in range(3))
    for trace, name in zip(traces.values(), ("bot", "quiet-bot", "tools"), strict=True):
        trace[0].resource = {"service.name": name}
    with Loopback(FakeTempo(traces)) as server:
        with pytest.raises(SourceError) as raised:
            read(f"tempo://{server.place}?{PAST}&service=bots")
        assert read(f"tempo://{server.place}?{PAST}&service=quiet-bot") == ([], [])
        spans, problems = read(f"tempo://{server.place}?{PAST}&service=bots&service=bot")
    assert str(raised.value) == (
        f"tempo://{server.place} has no service 'bots', it has 'bot', 'quiet-bot', 'tools'; "
        "hint: service=bot"
    )
    assert (len(spans), problems) == (1, [])


def test_a_service_is_not_checked_where_the_server_does_not_list_any() -> None:
    tempo = FakeTempo(dict([a_trace(1, PAST_NS)]))

    def reply(request: Request) -> Reply:
        return NO_PATH if request.path.endswith("/values") else tempo(request)

    with Loopback(reply) as server:
        assert read(f"tempo://{server.place}?{PAST}&service=bot") == ([], [])


def test_a_path_that_is_the_name_of_a_service_is_explained() -> None:
    with Loopback(lambda _: NO_PATH) as server, pytest.raises(SourceError) as raised:
        read(f"tempo://{server.place}/bot?{PAST}")
    assert str(raised.value).endswith(
        "hint: is it the address of the server's API? (/bot is a base path; ?service=bot names a "
        "service)"
    )


def test_query_values_are_escaped() -> None:
    with Loopback(FakeTempo({})) as server:
        read(
            f"tempo://{server.place}?{PAST}&service=bot&service=a%22b"
            "&attribute=gen_ai.usage.input_tokens=41&attribute=a key=\\ }"
        )
    assert server.asked("/api/search")[0] == {
        "q": '{ (resource.service.name = "bot" || resource.service.name = "a\\"b") && '
        '(.gen_ai.usage.input_tokens = "41" || .gen_ai.usage.input_tokens = 41) && '
        '."a key" = "\\\\ }" }',
        "start": "1767225600",
        "end": "1767232800",
        "limit": "1000",
        "spss": "1",
    }


def test_the_last_hour_is_read_by_default_and_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with Loopback(FakeTempo({})) as server:
        read(f"tempo://{server.place}")
    assert "reading the last hour, " in caplog.text
    (request,) = server.asked("/api/search")
    assert int(request["end"]) - int(request["start"]) in (3600, 3601)


def test_a_base_path_leads_through_a_proxy() -> None:
    tempo = FakeTempo(dict([a_trace(1, PAST_NS)]))
    base = "/api/datasources/proxy/uid/abc"
    with Loopback(
        lambda request: tempo(request._replace(path=request.path.removeprefix(base)))
    ) as server:
        assert len(read(f"tempo://{server.place}{base}?{PAST}")[0]) == 1
    assert {request.path.startswith(base) for request in server.requests} == {True}


def test_the_tenant_and_the_token_go_with_every_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENTOOL_TEMPO_TOKEN", "t0ken")
    monkeypatch.setenv("AGENTOOL_TEMPO_TENANT", "team-a")
    with Loopback(FakeTempo(dict([a_trace(1, PAST_NS)]))) as server:
        read(f"tempo://{server.place}?{PAST}")
    assert len(server.requests) == 2
    for request in server.requests:
        assert request.headers["authorization"] == "Bearer t0ken"
        assert request.headers["x-scope-orgid"] == "team-a"


# ---------------------------------------------------------------------------- what is not there


@pytest.mark.parametrize(
    "reply",
    [
        (404, {}, b""),
        (200, {}, b""),
        (200, {}, b"\n\x00\x12\x04\x08\x92\x8c\x02"),
        (200, {}, (FIXTURES / "missing.v2.json").read_bytes()),
        as_json({"batches": []}),
    ],
)
def test_an_unknown_trace_is_refused(reply: Reply) -> None:
    with (
        Loopback(lambda _: reply) as server,
        pytest.raises(SourceError, match=r"trace 0+1 is not there: its id is unknown, or"),
    ):
        read(f"tempo://{server.place}?trace=1")


def test_a_trace_without_spans_is_reported_as_existing() -> None:
    empty = as_json({"trace": {"resourceSpans": [{"scopeSpans": [{"spans": []}]}]}})
    with Loopback(lambda _: empty) as server:
        spans, (problem,) = read(f"tempo://{server.place}?trace=1")
    assert spans == []
    assert problem.endswith("it is there, and has no spans")


def test_an_unknown_trace_does_not_affect_the_others() -> None:
    with Loopback(FakeTempo(dict([a_trace(1, PAST_NS)]))) as server:
        spans, (problem,) = read(f"tempo://{server.place}?trace=2&trace=1")
    assert len(spans) == 1
    assert "trace 00000000000000000000000000000002: is not there" in problem


def test_a_trace_dropped_after_the_search_is_a_problem() -> None:
    tempo = FakeTempo(dict([a_trace(1, PAST_NS), a_trace(2, PAST_NS)]))

    def reply(request: Request) -> Reply:
        return (200, {}, b"\n\x00") if request.path.endswith("1") else tempo(request)

    with Loopback(reply) as server:
        spans, (problem,) = read(f"tempo://{server.place}?{PAST}")
    assert (len(spans), "larger than it takes" in problem) == (1, True)


def test_an_address_without_the_api_is_reported() -> None:
    with (
        Loopback(lambda _: NO_PATH) as server,
        pytest.raises(SourceUnreachable, match="has no API of Tempo; hint: it listens at"),
    ):
        read(f"tempo://{server.place}?trace=1")


def test_the_error_for_a_missing_tenant_names_its_variable() -> None:
    with (
        Loopback(lambda _: (401, {}, b"no org id")) as server,
        pytest.raises(SourceDenied, match=r"refuses, 401 \(no org id\).*AGENTOOL_TEMPO_TENANT"),
    ):
        read(f"tempo://{server.place}?{PAST}")


def test_a_server_that_fails_midway_loses_only_what_was_to_come() -> None:
    tempo = FakeTempo(dict(a_trace(n, PAST_NS) for n in (1, 2, 3)))

    def reply(request: Request) -> Reply:
        return (403, {}, b"enough") if request.path.endswith("2") else tempo(request)

    with Loopback(reply) as server:
        spans, (problem,) = read(f"tempo://{server.place}?{PAST}")
    assert [span.trace_id[-1] for span in spans] == ["1"]
    assert "reading stopped here, and the rest is missing: " in problem
    assert "(enough)" in problem


def test_one_failing_trace_does_not_affect_the_others() -> None:
    tempo = FakeTempo(dict(a_trace(n, PAST_NS) for n in (1, 2, 3)))

    def reply(request: Request) -> Reply:
        return (500, {}, b"too \x1b[1mlarge") if request.path.endswith("2") else tempo(request)

    with Loopback(reply) as server:
        spans, (problem,) = read(f"tempo://{server.place}?{PAST}")
    assert [span.trace_id[-1] for span in spans] == ["1", "3"]
    assert "answers 500 (too  [1mlarge)" in problem


def test_partial_traces_and_partial_searches_are_reported() -> None:
    tempo = FakeTempo(dict([a_trace(1, PAST_NS)]))

    def reply(request: Request) -> Reply:
        status, headers, body = tempo(request)
        if request.path == "/api/search":
            return as_json({**json.loads(body), "status": "PARTIAL", "message": "a block"})
        return status, headers, body + b"\x18\x01\x22\x05large"

    with Loopback(reply) as server:
        spans, problems = read(f"tempo://{server.place}?{PAST}")
    assert len(spans) == 1
    assert "only a part was searched: a block" in problems[0]
    assert "Tempo returned only a part of the trace: large" in problems[1]


def test_it_can_be_read_again_and_loaded() -> None:
    with Loopback(lambda request: recorded(request, "v2", "pb", "raised")) as server:
        trace_id = next(item for item in RECORDED if item.parent.name == "raised").name[:32]
        source = open_source(f"tempo://{server.place}?trace={trace_id}")
        assert list(source.spans()) == list(source.spans())
        assert source.bytes_read > 1000
        assert len(list(by_trace(source.spans()))) == 1
        assert len(list(load(f"tempo://{server.place}?trace={trace_id}"))) == 1
