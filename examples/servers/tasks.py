"""Tasks of celery. Each process of a worker records its own tasks."""

import os

from celery import Celery

import agentool_otel

agentool_otel.instrument()
app = Celery("tasks", broker=os.environ.get("BROKER_URL", "redis://localhost:6379/0"))


@agentool_otel.agent
def answer(question: str) -> str:
    return f"You asked: {question}"


@app.task
def ask(question: str) -> str:
    return answer(question)
