"""Traces that were sent to a real Jaeger and read back with `jaeger://` are the same."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from agentool_otel.errors import SourceError
from agentool_otel.reading.sources.opening import open_source
from tests.backends.runs import DOCUMENTS, rebuilt, send
from tests.backends.servers import jaeger, wait_for

pytestmark = pytest.mark.backends

SINCE = "since=1970-01-01T00:00:00Z"
"""Documents without times of their own lie in the first seconds of 1970."""


@pytest.fixture(scope="module", params=["http", "grpc"])
def place(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Generator[str]:
    """A Jaeger with all documents in it, sent by either protocol; the SOURCE it is."""
    folder = tmp_path_factory.mktemp("jaeger")
    with jaeger(folder) as running:
        endpoint = running.http if request.param == "http" else running.grpc
        send(endpoint, *DOCUMENTS.values(), folder=folder)
        source = running.query.replace("http", "jaeger", 1)
        wait_for(lambda: len(rebuilt(f"{source}?{SINCE}")) == len(DOCUMENTS))
        yield source


def test_every_trace_comes_back(place: str) -> None:
    result = rebuilt(f"{place}?{SINCE}")
    assert result == {document["trace_id"]: document for document in DOCUMENTS.values()}


def test_a_trace_comes_back_by_its_id_and_by_an_attribute(place: str) -> None:
    everything = open_source(f"{place}?{SINCE}")
    spans = [span for span in everything.spans() if span.name == "execute_tool look"]
    trace_id = spans[0].trace_id
    ids = {span.trace_id for span in open_source(f"{place}?trace={trace_id}").spans()}
    assert ids == {trace_id}
    url = f"{place}?{SINCE}&attribute=gen_ai.tool.name=look"
    trace_ids = {span.trace_id for span in open_source(url).spans()}
    assert trace_ids == {span.trace_id for span in spans}
    with pytest.raises(SourceError, match="is not there"):
        list(open_source(f"{place}?trace=ff").spans())


def test_nothing_is_a_problem_and_what_is_lost_is_declared(place: str) -> None:
    source = open_source(f"{place}?{SINCE}")
    assert len(list(source.spans())) > len(DOCUMENTS)
    assert source.problems == []
    assert "schema URLs of scopes are not kept" in source.loses
