"""The programs, run as a person runs them, and their requests over the network."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.tracing.export.receiver import HttpReceiver, spans_in

__all__ = ["MODES", "PROGRAMS", "SenderFailed", "Sent", "measure", "send"]

PROGRAMS = ("decorated", "graph", "client")
MODES: dict[str, dict[str, str]] = {"without": {}, "beside": {"AGENTOOL_ALSO": "openinference"}}
"""Name to variables: without the option, and with OpenInference's names beside ours."""

_ROOT = Path(__file__).resolve().parent.parent.parent
_SETTINGS = ("OTEL_", "AGENTOOL_", "LANGSMITH_", "LANGCHAIN_", "OPENAI_")
_OWN = "agentool."


class SenderFailed(Exception):
    """A program failed; the message is its output."""


@dataclass(frozen=True)
class Sent:
    """Requests of one run of a program."""

    spans: int
    bytes: int
    """Of the bodies of its requests, without compression."""
    attributes: int
    """On spans; those of events, resources and scopes are not counted."""
    own: Counter[str]
    """Number of each of our own names among them."""

    @property
    def bytes_per_span(self) -> float:
        return self.bytes / self.spans if self.spans else 0.0


def send(
    program: str,
    endpoint: str,
    variables: Mapping[str, str],
    headers: Mapping[str, str] | None = None,
) -> None:
    """Run a program, recorded and with content, to its end.

    Args:
        program: one of `PROGRAMS`.
        endpoint: where its spans go.
        variables: where its model is, and the mode.
        headers: of its requests.

    Raises:
        SenderFailed: it failed, or not everything was delivered.
    """
    path = Path(__file__).parent / "programs" / f"{program}.py"
    command = [sys.executable, "-m", "agentool_otel", "run", "--content", "--endpoint", endpoint]
    clean = {name: value for name, value in os.environ.items() if not name.startswith(_SETTINGS)}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [*command, "--", sys.executable, str(path)],
            cwd=folder,
            env={
                **clean,
                "PYTHONPATH": str(_ROOT),
                "AGENTOOL_DIR": os.path.join(folder, ".agentool"),
                "OTEL_EXPORTER_OTLP_HEADERS": ",".join(
                    f"{name}={value}" for name, value in (headers or {}).items()
                ),
                **variables,
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            check=False,
            timeout=300,
        )
    if done.returncode or "could not be delivered" in done.stderr:
        raise SenderFailed(f"{program} exited {done.returncode}: {done.stderr.strip()[-2000:]}")


def measure(program: str, variables: Mapping[str, str]) -> Sent:
    """Run a program against a receiver that counts."""
    with HttpReceiver() as receiver:
        send(program, receiver.endpoint, variables)
    bodies = receiver.bodies.get("/v1/traces", [])
    spans = [span for body in bodies for span in spans_in(body)]
    names = [attribute.key for span in spans for attribute in span.attributes]
    return Sent(
        spans=len(spans),
        bytes=sum(map(len, bodies)),
        attributes=len(names),
        own=Counter(name for name in names if name.startswith(_OWN)),
    )
