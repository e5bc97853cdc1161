"""Clients of Bedrock: against the loopback model, or with answers that botocore checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Any

import pytest

from agentool_otel.testing.loopback_model import LoopbackModel


@pytest.fixture
def instrumented(spans: Any) -> Iterator[None]:
    pytest.importorskip("boto3")
    from agentool_otel.integrations.bedrock.instrumentor.patches import BedrockInstrumentor

    instrumentor = BedrockInstrumentor()
    instrumentor.instrument()
    yield
    instrumentor.uninstrument()


def new_client(service: str, url: str) -> Any:
    config = import_module("botocore.config").Config(retries={"total_max_attempts": 1})
    return import_module("boto3").client(
        service,
        region_name="us-east-1",
        endpoint_url=url,
        aws_access_key_id="none",
        aws_secret_access_key="none",
        config=config,
    )


@pytest.fixture
def client(instrumented: None, model: LoopbackModel) -> Iterator[Any]:
    client = new_client("bedrock-runtime", model.root_url)
    yield client
    client.close()


@pytest.fixture
def answering(instrumented: None) -> Iterator[Callable[..., Any]]:
    """Makes a client of a service that answers one call as told."""
    made: list[Any] = []

    def make(service: str, operation: str, answer: dict[str, Any]) -> Any:
        client = new_client(service, "http://127.0.0.1:9")
        stubber = import_module("botocore.stub").Stubber(client)
        stubber.add_response(operation, answer)
        stubber.activate()
        made.append(client)
        return client

    yield make
    for client in made:
        client.close()
