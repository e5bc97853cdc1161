"""What was sent to a real Jaeger is read from it by `jaeger://`: the same traces."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from agentool_otel.errors import SourceError
from agentool_otel.sources import open_source
from tests.backends.built import built
from tests.backends.runs import DOCUMENTS, rebuilt, send
from tests.backends.servers import answers, free_ports, server

pytestmark = pytest.mark.backends

CONFIG = """
service:
  extensions: [jaeger_storage, jaeger_query]
  pipelines: {{traces: {{receivers: [otlp], exporters: [jaeger_storage_exporter]}}}}
  telemetry: {{metrics: {{level: none}}}}
extensions:
  jaeger_query:
    storage: {{traces: held}}
    http: {{endpoint: "127.0.0.1:{query}"}}
    grpc: {{endpoint: "127.0.0.1:{grpc}"}}
  jaeger_storage: {{backends: {{held: {{memory: {{max_traces: 10000}}}}}}}}
receivers: {{otlp: {{protocols: {{http: {{endpoint: "127.0.0.1:{otlp}"}}}}}}}}
exporters: {{jaeger_storage_exporter: {{trace_storage: held}}}}
"""


@pytest.fixture(scope="module")
def jaeger(tmp_path_factory: pytest.TempPathFactory) -> Generator[str]:
    """A Jaeger with all documents in it; the place of its API."""
    folder = tmp_path_factory.mktemp("jaeger")
    otlp, query, grpc = free_ports(3)
    config = folder / "jaeger.yaml"
    config.write_text(CONFIG.format(otlp=otlp, query=query, grpc=grpc))
    command = [str(built("jaeger")), f"--config={config}"]
    with server(command, folder, answers(f"http://127.0.0.1:{query}/api/v3/services")):
        send(f"http://127.0.0.1:{otlp}", *DOCUMENTS.values(), folder=folder)
        yield f"127.0.0.1:{query}"


def test_every_trace_comes_back(jaeger: str) -> None:
    # Documents without times of their own lie in the first seconds of 1970.
    made = rebuilt(f"jaeger://{jaeger}?since=1970-01-01T00:00:00Z")
    assert made == {document["trace_id"]: document for document in DOCUMENTS.values()}


def test_a_trace_comes_back_by_its_id_and_by_an_attribute(jaeger: str) -> None:
    everything = open_source(f"jaeger://{jaeger}?since=1970-01-01T00:00:00Z")
    spans = [span for span in everything.spans() if span.name == "execute_tool look"]
    trace_id = spans[0].trace_id
    ids = {span.trace_id for span in open_source(f"jaeger://{jaeger}?trace={trace_id}").spans()}
    assert ids == {trace_id}
    url = f"jaeger://{jaeger}?since=1970-01-01T00:00:00Z&attribute=gen_ai.tool.name=look"
    found = {span.trace_id for span in open_source(url).spans()}
    assert found == {span.trace_id for span in spans}
    with pytest.raises(SourceError, match="is not there"):
        list(open_source(f"jaeger://{jaeger}?trace=ff").spans())


def test_nothing_is_a_problem_and_what_is_lost_is_declared(jaeger: str) -> None:
    source = open_source(f"jaeger://{jaeger}?since=1970-01-01T00:00:00Z")
    assert len(list(source.spans())) > len(DOCUMENTS)
    assert source.problems == []
    assert "schema URLs of scopes are not kept" in source.loses
