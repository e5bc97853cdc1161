"""MLflow: its tracking server, and its pages' contents, by the REST API they read.

Source: mlflow 3.17.2, tracing/constant.py and tracing/otel/translation/.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.pages._server import Server, ask, free_port
from tests.pages.shown import Kind, Run, Shown, Span

__all__ = ["MLflow"]

_KINDS: dict[str, Kind] = {
    "AGENT": "agent",
    "TOOL": "tool",
    "CHAT_MODEL": "model",
    "LLM": "model",
    "RETRIEVER": "retriever",
    "UNKNOWN": "",
    "": "",
}


class MLflow:
    """A server of its own; programs are kept apart by experiments."""

    name = "MLflow"
    packages = ("mlflow>=3.17",)

    def __init__(self, python: Path, folder: Path):
        port = str(free_port())
        self.url = f"http://127.0.0.1:{port}"
        self._places: dict[str, str] = {}
        command = [str(python), "-m", "mlflow", "server", "--host", "127.0.0.1", "--port", port]
        command += ["--workers", "1", "--backend-store-uri", f"sqlite:///{folder / 'mlflow.db'}"]
        command += ["--artifacts-destination", str(folder / "artifacts")]
        variables = {
            "MLFLOW_DISABLE_TELEMETRY": "true",
            "MLFLOW_MODEL_CATALOG_URI": "",  # prices from its package, not from the network
            "MLFLOW_SERVER_ENABLE_JOB_EXECUTION": "false",  # four processes that nothing here needs
        }
        self.server = Server(command, folder, f"{self.url}/health", variables)

    def place(self, name: str) -> dict[str, str]:
        """Make an experiment and return the headers by which spans get into it."""
        if name not in self._places:
            result = ask(f"{self.url}/api/2.0/mlflow/experiments/create", {"name": name})
            self._places[name] = result["experiment_id"]
        return {"x-mlflow-experiment-id": self._places[name]}

    def pages(self, name: str) -> dict[str, str]:
        """Return the addresses of the list of runs and of the newest run, by kind."""
        experiment, newest = self._places[name], self._traces(name)[0]["trace_id"]
        # The page for notebooks: the same view of a run, without the tour that covers it at first.
        run = f"{self.url}/static-files/lib/notebook-trace-renderer/index.html"
        return {
            "list": f"{self.url}/#/experiments/{experiment}/traces",
            "run": f"{run}?trace_id={newest}&experiment_id={experiment}",
        }

    def count(self, name: str) -> int:
        """Return how many spans have arrived."""
        return sum(len(run.spans) for run in self._runs(name))

    def shown(self, places: dict[str, str]) -> Shown:
        """Read the displayed data of programs, by the names of their experiments."""
        return Shown({program: self._runs(name) for program, name in places.items()})

    def _traces(self, name: str) -> list[dict[str, Any]]:
        place = {"experiment_id": self._places[name]}
        body = {
            "locations": [{"type": "MLFLOW_EXPERIMENT", "mlflow_experiment": place}],
            "max_results": 100,
        }
        answer: dict[str, list[dict[str, Any]]] = ask(
            f"{self.url}/api/3.0/mlflow/traces/search", body
        )
        return answer.get("traces", [])

    def _runs(self, name: str) -> tuple[Run, ...]:
        return tuple(map(self._run, self._traces(name)))

    def _run(self, listed: dict[str, Any]) -> Run:
        url = f"{self.url}/api/3.0/mlflow/traces/get?trace_id={listed['trace_id']}"
        metadata = listed.get("trace_metadata", {})
        return Run(
            listed_input=_unquoted(listed.get("request_preview", "")),
            session=metadata.get("mlflow.trace.session", ""),
            user=metadata.get("mlflow.trace.user", ""),
            spans=tuple(map(_span, ask(url)["trace"].get("spans", []))),
        )


def _span(span: dict[str, Any]) -> Span:
    attributes = {
        attribute["key"]: _plain(attribute["value"]) for attribute in span.get("attributes", [])
    }
    value, gave = attributes.get("mlflow.spanInputs"), attributes.get("mlflow.spanOutputs")
    kind = _KINDS.get(attributes.get("mlflow.spanType", ""), "other")
    usage = attributes.get("mlflow.chat.tokenUsage", {})
    # The page marks a span by its exception event alone; the status is a word in a panel.
    failed = any(event["name"] == "exception" for event in span.get("events", []))
    return Span(
        name=span["name"],
        kind=kind,
        input=_text(value),
        output=_text(gave),
        asked=_chat(value),
        answered=_chat(gave),
        documents=_documents(gave) if kind == "retriever" else (),
        model=attributes.get("mlflow.llm.model", ""),
        tokens=usage.get("total_tokens"),
        cached_tokens=usage.get("cache_read_input_tokens"),
        reasoning_tokens=None,  # its usage has no such field
        cost_usd=attributes.get("mlflow.llm.cost", {}).get("total_cost"),
        first_token_s=None,  # nor its spans
        error=span.get("status", {}).get("message", "") if failed else "",
    )


def _plain(value: dict[str, Any]) -> Any:
    """Return what a value of OTLP is, in the JSON of protobuf's own writer."""
    if not value:
        return None
    ((kind, inner),) = value.items()
    match kind:
        case "array_value":
            return [_plain(value) for value in inner.get("values", [])]
        case "kvlist_value":
            return {
                value["key"]: _plain(value.get("value", {})) for value in inner.get("values", [])
            }
        case "int_value":
            return int(inner)
        case _:
            return inner


def _unquoted(preview: str) -> str:
    """Return a text without the quotes that the list has around it; JSON that is no text stays."""
    try:
        value = json.loads(preview)
    except ValueError:
        return preview
    return value if isinstance(value, str) else preview


def _text(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _chat(value: Any) -> tuple[str, ...]:
    """Return the texts of what is rendered as a chat: messages, or a provider's request or answer
    around them."""
    if isinstance(value, dict):
        choices = [choice.get("message") for choice in value.get("choices", [])]
        value = value.get("messages") or choices
    messages: list[Any] = value if isinstance(value, list) else []
    return tuple(
        _said(message) for message in messages if isinstance(message, dict) and "role" in message
    )


def _said(message: dict[str, Any]) -> str:
    content = message.get("content", message.get("parts"))
    if not isinstance(content, list):
        return _text(content)
    return "".join(_text(part.get("content", part.get("text"))) for part in content)


def _documents(value: Any) -> tuple[str, ...]:
    """Return the texts of documents, which the page lists by this name alone."""
    results: list[Any] = value if isinstance(value, list) else []
    listed = [item for item in results if isinstance(item, dict) and "page_content" in item]
    return tuple(_text(item["page_content"]) for item in listed)
