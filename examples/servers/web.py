"""A web application. Each worker of gunicorn records its own requests."""

from __future__ import annotations

from collections.abc import Callable

import agentool_otel

agentool_otel.instrument()


@agentool_otel.agent
def answer(question: str) -> str:
    return f"You asked: {question}"


def app(environ: dict[str, str], start_response: Callable[..., object]) -> list[bytes]:
    start_response("200 OK", [("Content-Type", "text/plain; charset=utf-8")])
    return [answer(environ["QUERY_STRING"]).encode()]
