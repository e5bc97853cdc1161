"""Phoenix: its own server, and its pages' contents, by the GraphQL API they read.

Source: arize-phoenix 20.26.1, server/api/types/Span.py and config.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.pages._server import NotReady, Server, ask, free_port
from tests.pages.shown import Kind, Run, Shown, Span

__all__ = ["Phoenix"]

_KINDS: dict[str, Kind] = {
    "agent": "agent",
    "tool": "tool",
    "llm": "model",
    "retriever": "retriever",
    "unknown": "",
}
_QUERY = """query ($name: String!) { getProjectByName(name: $name) {
  id
  spans(first: 1000) { edges { node {
    name spanKind statusCode statusMessage parentId userId attributes tokenCountTotal
    tokenPromptDetails { cacheRead } costSummary { total { cost } }
    input { value } output { value } trace { traceId session { sessionId } }
  } } } } }"""


class Phoenix:
    """A server of its own; programs are kept apart by projects."""

    name = "Phoenix"
    packages = ("arize-phoenix>=20",)

    def __init__(self, python: Path, folder: Path):
        self.url = f"http://127.0.0.1:{free_port()}"
        variables = {
            "PHOENIX_WORKING_DIR": str(folder),
            "PHOENIX_HOST": "127.0.0.1",
            "PHOENIX_PORT": self.url.rpartition(":")[2],
            "PHOENIX_GRPC_PORT": str(free_port()),
            "PHOENIX_TELEMETRY_ENABLED": "false",
            "PHOENIX_ALLOW_EXTERNAL_RESOURCES": "false",
            "PHOENIX_DISABLE_AGENT_ASSISTANT": "true",
        }
        command = [str(python), "-m", "phoenix.server.main", "serve"]
        self.server = Server(command, folder, f"{self.url}/healthz", variables)

    def place(self, name: str) -> dict[str, str]:
        """Return the headers by which spans get into a project; it is made by the first of them."""
        return {"x-project-name": name}

    def pages(self, name: str) -> dict[str, str]:
        """Return the addresses of the list of runs and of the newest run, by kind."""
        project = self._project(name)
        runs = f"{self.url}/projects/{project['id']}/traces"
        trace = next(span["trace"]["traceId"] for span in _nodes(project) if not span["parentId"])
        return {"list": runs, "run": f"{runs}/{trace}"}

    def count(self, name: str) -> int:
        """Return how many spans have arrived whose price, if they have one, is known too."""
        return sum(
            bool(span["costSummary"]) or not span["tokenCountTotal"]
            for span in _nodes(self._project(name))
        )

    def shown(self, places: dict[str, str]) -> Shown:
        """Read the displayed data of programs, by the names of their projects."""
        return Shown(
            {program: _runs(_nodes(self._project(name))) for program, name in places.items()}
        )

    def _project(self, name: str) -> dict[str, Any]:
        answer = ask(f"{self.url}/graphql", {"query": _QUERY, "variables": {"name": name}})
        if "errors" in answer:
            raise NotReady(f"Phoenix' API has changed: {answer['errors'][0]['message']}")
        return answer["data"]["getProjectByName"] or {}


def _nodes(project: dict[str, Any]) -> list[dict[str, Any]]:
    edges = project.get("spans", {}).get("edges", [])
    return [edge["node"] for edge in edges]


def _runs(nodes: Iterable[dict[str, Any]]) -> tuple[Run, ...]:
    traces: dict[str, list[dict[str, Any]]] = {}
    for node in nodes:
        traces.setdefault(node["trace"]["traceId"], []).append(node)
    return tuple(map(_run, traces.values()))


def _run(nodes: list[dict[str, Any]]) -> Run:
    (root,) = [node for node in nodes if not node["parentId"]]
    return Run(
        listed_input=_value(root, "input"),
        session=(root["trace"]["session"] or {}).get("sessionId", ""),
        user=root["userId"] or "",
        spans=tuple(map(_span, nodes)),
    )


def _span(node: dict[str, Any]) -> Span:
    attributes = json.loads(node["attributes"])
    llm = attributes.get("llm", {})
    tool = attributes.get("tool", {}).get("parameters")  # the arguments, in a panel of their own
    documents = attributes.get("retrieval", {}).get("documents", [])
    completion = llm.get("token_count", {}).get("completion_details", {})
    return Span(
        name=node["name"],
        kind=_KINDS.get(node["spanKind"], "other"),
        input=_value(node, "input") or ("" if tool is None else json.dumps(tool)),
        output=_value(node, "output"),
        asked=_texts(llm.get("input_messages", [])),
        answered=_texts(llm.get("output_messages", [])),
        documents=tuple(str(document["document"].get("content", "")) for document in documents),
        model=llm.get("model_name", ""),
        tokens=node["tokenCountTotal"],
        cached_tokens=node["tokenPromptDetails"]["cacheRead"],
        reasoning_tokens=completion.get("reasoning"),
        cost_usd=node["costSummary"] and node["costSummary"]["total"]["cost"],
        first_token_s=None,  # its spans have no such field
        error=node["statusMessage"] if node["statusCode"] == "ERROR" else "",
    )


def _value(node: dict[str, Any], name: str) -> str:
    return str((node[name] or {}).get("value", ""))


def _texts(messages: list[dict[str, Any]]) -> tuple[str, ...]:
    return tuple(str(message["message"].get("content", "")) for message in messages)
