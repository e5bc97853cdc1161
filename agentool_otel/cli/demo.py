"""`demo`: an agent runs here and now, and everything that is recorded of it is shown."""

from __future__ import annotations

import json
import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from agentool_otel.cli import _spans, _text
from agentool_otel.cli._demo_folders import new_demo_folder
from agentool_otel.cli._exported import Exported
from agentool_otel.cli._output import view
from agentool_otel.cli._program import program
from agentool_otel.cli._verdicts import STYLES
from agentool_otel.cli.export import send
from agentool_otel.cli.show import print_trace
from agentool_otel.content.policy import Policy
from agentool_otel.errors import ConfigurationError
from agentool_otel.evaluation import evaluate
from agentool_otel.evaluation.reports.slices import MARKS
from agentool_otel.ground import environment
from agentool_otel.loading import rebuild
from agentool_otel.reading.rebuild.trace import Rebuilt
from agentool_otel.reading.rebuild.tree import grow
from agentool_otel.reading.sources.grouping.by_trace import by_trace
from agentool_otel.reading.sources.opening import open_source
from agentool_otel.tracing.export.masking.spans import Masking
from agentool_otel.tracing.export.send.otlp import OtlpTarget

__all__ = ["command"]

_QUESTION = "Where should Ada go this weekend?"
_CHECKS: tuple[dict[str, Any], ...] = (
    {"type": "status", "status": "success"},
    {"type": "contains_tool_call", "tool_name": "search_trains", "tool_args": {"night": True}},
    {"type": "handoff", "to_agent": "booking-agent"},
    {"type": "max_cost_usd", "max_usd": 0.01},
    {"type": "no_tool_error"},
    {"type": "rubric", "rubric": "The answer names a train and when it departs."},
)


@click.command()
@click.option("--endpoint", help="Send its spans to this OTLP endpoint as well.")
def command(endpoint: str | None) -> int:
    """Run a small agent and show its recording.

    Its model is a server on this machine with scripted answers: it needs no key and no network. The
    recording is a new folder below .agentool/ (AGENTOOL_DIR).
    """
    target = None if endpoint is None else OtlpTarget.at(endpoint, os.environ)
    base = environment.recordings_folder().absolute()
    try:
        folder = new_demo_folder(base)
    except OSError as error:
        raise ConfigurationError(
            f"nothing can be recorded in {base}: {error.strerror or error}"
            f"; hint: {environment.FOLDER} names the folder; it has to be one you can write to"
        ) from None
    answer = _record(folder)
    console = view()
    console.print(f'An agent was asked "{_QUESTION}"', soft_wrap=True)
    console.print(f'It answered        "{answer}"', soft_wrap=True)

    console.print()
    console.print(Rule("its spans", align="left", style="dim"))
    source = open_source(folder)
    spans = list(source.spans())
    for records in by_trace(spans):
        nodes = grow(records)
        console.print(_spans.forest(f"trace {records[0].trace_id}", _spans.roots_of(nodes)))

    runs = list(rebuild(spans))
    for number, rebuilt in enumerate(runs):
        console.print()
        title = (
            "its steps, rebuilt from the spans" if number == 0 else "the agent it handed over to"
        )
        console.print(Rule(title, align="left", style="dim"))
        print_trace(console, rebuilt.trace)

    console.print()
    console.print(Rule("what holds of it", align="left", style="dim"))
    _print_verdicts(console, runs)

    console.print()
    console.print(Rule("where it is", align="left", style="dim"))
    recording = next(folder.glob("*.jsonl"))
    size = _text.size(recording.stat().st_size)
    console.print(f"{_text.count(len(spans), 'span')}, {size} of OTLP/JSON lines:", soft_wrap=True)
    console.print(f"  {_relative(recording)}", style="bold", soft_wrap=True)
    where = _relative(folder)
    code = 0
    if target is not None:
        masking = Masking(Policy(capture=True))
        usage = environment.agent_usage_wanted()
        exported = Exported([str(folder)], "gen_ai", bar=False, agent_usage=usage)
        hint = f"agentool-otel export {where} --endpoint {target} sends them once it listens"
        code = send(exported, target, masking, hint)
    console.print("Try next:")
    commands = (
        (f"{program()} show {where} 1 --full", "the first run with all its contents"),
        (f"{program()} rebuild {where}", "the runs as ReasoningTrace JSON Lines"),
        (f"{program()} eval checks.json {where}", "checks.json: lines as above"),
        (f"{program()} run -- python your_app.py", "your own agent, unchanged"),
    )
    width = max(len(line) for line, _ in commands)
    for line, comment in commands:
        shown = Text.assemble("  ", (f"{line:<{width}}", "bold"), (f"  {comment}", "dim"))
        console.print(shown, soft_wrap=True)
    return code


def _print_verdicts(console: Console, runs: list[Rebuilt]) -> None:
    (result,) = evaluate(_CHECKS, runs)
    for check, verdict in zip(_CHECKS, result.assertion_results, strict=True):
        mark, style = MARKS[verdict.passed], STYLES[verdict.passed]
        console.print(
            Text.assemble((mark, style), " ", (json.dumps(check), "bold")), soft_wrap=True
        )
        console.print(Text(f"    {_text.line(str(verdict.reason))}"), soft_wrap=True)


def _record(folder: Path) -> str:
    """Run the agent, recorded as a program of its own would be."""
    import agentool_otel

    with _changed_environment({environment.FOLDER: str(folder)}):
        from agentool_otel.cli._demo_agent import answer

        agentool_otel.instrument(service_name="demo", content=True, include=())
        answered = answer(_QUESTION)
        agentool_otel.uninstrument()
    return answered


@contextmanager
def _changed_environment(variables: dict[str, str]) -> Generator[None]:
    """Set variables for a while, and none of OpenTelemetry's: they are not meant for the demo."""
    before = dict(os.environ)
    for name in environment.of_opentelemetry():
        del os.environ[name]
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def _relative(path: Path) -> str:
    shown = os.path.relpath(path)
    return str(path) if shown.startswith("..") else shown
