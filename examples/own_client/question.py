"""A program that uses Tiny Client, unmodified. Its model is a server on this machine."""

from __future__ import annotations

from tiny_client import Client

from agentool_otel.testing.loopback_model import LoopbackModel

with LoopbackModel() as server:
    client = Client(server.base_url)
    print(client.complete(model="tiny-1", prompt="What is a span?")["text"])
