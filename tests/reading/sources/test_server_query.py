"""Queries from the URL of a server, and refusals without its credentials."""

from __future__ import annotations

import pytest

from agentool_otel.errors import ConfigurationError, SourceError
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.reading.sources.servers.credentials import Credentials
from agentool_otel.reading.sources.servers.query import ServerQuery, parse_query

NOW_NS = 1_795_339_200 * 10**9  # 2026-11-22T09:20:00Z
HOUR_NS = 3600 * 10**9


def read(url: str) -> ServerQuery:
    return parse_query(url, 3200, lambda: NOW_NS)


@pytest.mark.parametrize(
    ("url", "base"),
    [
        ("tempo://localhost", "http://localhost:3200"),
        ("tempo+http://localhost:80/", "http://localhost:80"),
        ("tempo+https://u:p@grafana/api/uid/abc/?service=x", "https://grafana/api/uid/abc"),
        ("tempo://[::1]:3200", "http://[::1]:3200"),
    ],
)
def test_the_scheme_names_the_transport(url: str, base: str) -> None:
    assert read(url).base == base


@pytest.mark.parametrize(
    ("text", "ago_ns"),
    [
        ("2h", 2 * HOUR_NS),
        ("90m", 3 * HOUR_NS // 2),
        ("1.5d", 36 * HOUR_NS),
        ("2026-11-22T08:20:00Z", HOUR_NS),
        ("2026-11-22T10:20:00+02:00", HOUR_NS),
        ("2026-11-22", 9 * HOUR_NS + HOUR_NS // 3),
    ],
)
def test_since_is_a_duration_or_a_time(text: str, ago_ns: int) -> None:
    item = read(f"tempo://h?since={text}")
    assert (item.since_ns, item.until_ns, item.usual) == (NOW_NS - ago_ns, NOW_NS, False)


def test_without_since_the_last_hour_before_until_is_read() -> None:
    item = read("tempo://h?until=1h")
    assert (item.since_ns, item.until_ns, item.usual) == (
        NOW_NS - 2 * HOUR_NS,
        NOW_NS - HOUR_NS,
        True,
    )


def test_parameters_that_may_be_repeated_are_all_read() -> None:
    item = read("tempo://h?service=a&service=b%26c&attribute=k=v=w&attribute=n=1")
    assert (item.services, item.attributes) == (("a", "b&c"), (("k", "v=w"), ("n", "1")))


def test_a_trace_id_is_padded_with_leading_zeros() -> None:
    assert read("tempo://h?trace=ABC&trace=0abc").traces == ("0" * 29 + "abc",)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("tempo://h?servce=x", r"does not know 'servce='; it takes trace=, service=, attribute="),
        ("tempo://h?since=yesterday", "expected since= to be how long ago, as 2h or 30m, or a"),
        ("tempo://h?since=1h&until=2h", r"since= \(2026-11-22T08:20:00Z\) is not before until="),
        ("tempo://h?trace=xyz", "expected trace= to be an id of 32 hex digits, got 'xyz'"),
        ("tempo://h?trace=0000", "expected trace= to be an id"),
        ("tempo://h?trace=abc&service=x", "service= cannot be asked for beside it"),
        ("tempo://h?attribute=key", "expected attribute=KEY=VALUE, got 'key'"),
        ("tempo://h?since=1h&since=2h", "since= is given twice"),
        ("tempo://h?service=", "service= has no value"),
        ("tempo://h?service=a#b", "# is written as %23"),
        ("tempo://h?timeout=fast", "expected a duration such as 90s as timeout="),
        ("tempo+ftp://h", "goes over http or https, not 'ftp'"),
        ("tempo://", "expected tempo://HOST:PORT/PATH"),
    ],
)
def test_an_invalid_url_is_refused_with_the_parameter(url: str, words: str) -> None:
    with pytest.raises(SourceError, match=words):
        read(url)


@pytest.mark.parametrize("password", ["s3cret", "s3/cret", "s3?cret", "s3#cret", "s3@cret", "%73"])
@pytest.mark.parametrize("remainder", ["h:1?x=1", "h:port", "h/path?trace=?", "[::1"])
def test_no_error_contains_a_password(password: str, remainder: str) -> None:
    with pytest.raises(SourceError) as refused:
        read(f"tempo://user:{password}@{remainder}")
    words = f"{refused.value!r} {refused.value.__cause__!r}"
    if refused.value.__suppress_context__ is False:
        words += repr(refused.value.__context__)
    assert not any(part in words for part in ("user", "s3", "cret", "%73"))


def test_all_four_schemes_are_sources() -> None:
    names = [
        open_source(f"{scheme}://h?trace=1").name
        for scheme in ("tempo", "tempo+https", "jaeger", "jaeger+https")
    ]
    assert names == ["tempo://h", "tempo+https://h", "jaeger://h", "jaeger+https://h"]


def test_credentials_come_from_the_url_or_else_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AGENTOOL_TEMPO_TOKEN", "t0ken\n")
    monkeypatch.setenv("AGENTOOL_TEMPO_TENANT", "team-a")
    assert Credentials("TEMPO", "", "x-scope-orgid").headers == {
        "authorization": "Bearer t0ken",
        "x-scope-orgid": "team-a",
    }
    basic = Credentials("TEMPO", "a%40b:p%3Aw", "x-scope-orgid")
    assert basic.headers["authorization"] == "Basic YUBiOnA6dw=="
    assert basic.hidden_in("wrong: team-a YUBiOnA6dw==") == "wrong: *** ***"
    assert "t0ken" not in repr(basic)


def test_a_token_that_no_header_can_hold_is_refused_without_showing_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("AGENTOOL_JAEGER_TOKEN", "s3cret\nx-admin: 1")
    with pytest.raises(ConfigurationError, match="AGENTOOL_JAEGER_TOKEN holds") as refused:
        open_source("jaeger://h")
    assert "s3cret" not in str(refused.value)
