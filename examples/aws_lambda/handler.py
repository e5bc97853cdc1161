"""An AWS Lambda function. The process is frozen after each reply, so it sends before the reply."""

from __future__ import annotations

from typing import Any

import agentool_otel

agentool_otel.instrument()


@agentool_otel.agent
def answer(question: str) -> str:
    return f"You asked: {question}"


def handler(event: dict[str, Any], context: object) -> dict[str, Any]:
    try:
        return {"statusCode": 200, "body": answer(event["question"])}
    finally:
        agentool_otel.flush(timeout_s=2)
