"""The loopback model understands what clients of other languages send."""

from __future__ import annotations

import json
from http.client import HTTPConnection
from urllib.parse import urlsplit

from agentool_otel.testing.loopback_model import LoopbackModel


def test_a_body_in_chunks_is_read() -> None:
    """Java's clients do not say how long a body is."""
    body = json.dumps({"messages": [{"role": "user", "content": "Where?"}]}).encode()
    with LoopbackModel("There.") as model:
        connection = HTTPConnection(urlsplit(model.base_url).netloc)
        connection.request(
            "POST", "/v1/chat/completions", iter([body[:9], body[9:]]), encode_chunked=True
        )
        answer = json.loads(connection.getresponse().read())
        connection.close()
    assert model.requests[0].last_user == "Where?"
    assert answer["choices"][0]["message"]["content"] == "There."
