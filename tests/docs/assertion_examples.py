"""The sections of docs/reference/assertions.md: each type, its parameters and examples.

The examples are in docs/reference/assertions.yaml, and their runs in trip.json, coding.json,
answer.json and session.jsonl beside it.
"""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import yaml

import agentool_otel
from agentool_otel.evaluation.cases.schema import shipped_schema as cases_schema

__all__ = ["EXAMPLES", "TYPES", "Example", "evaluated", "sections"]

_FOLDER = Path(__file__).parents[2] / "docs" / "reference"
EXAMPLES: dict[str, list[dict[str, Any]]] = yaml.safe_load(
    (_FOLDER / "assertions.yaml").read_text(encoding="utf-8")
)
_RUN = "trip.json"
_NOT_PARAMETERS = ("judge", "run")
TYPES = {
    point.name: point.load()
    for point in sorted(
        entry_points(group="agentool_otel.assertions"), key=lambda entry_point: entry_point.name
    )
    if point.value.startswith("agentool_otel.")
}
_WORDS = {True: "passed", False: "failed", None: "not evaluated"}


class Example(NamedTuple):
    """An assertion, and the verdict on the run of the examples."""

    check: dict[str, Any]
    run: str | None
    """The file of the run, unless it is that of most examples."""
    judge: dict[str, Any] | None
    """The answer of the judge, of a type that needs one."""
    verdict: str
    reason: str


def evaluated(name: str) -> Iterator[Example]:
    """Yield the examples of an assertion type with their verdicts."""
    for entry in EXAMPLES[name]:
        check = {"type": name, **{key: entry[key] for key in entry if key not in _NOT_PARAMETERS}}
        answer = entry.get("judge")
        checks = [agentool_otel.Assertion.from_dict(check)]
        runs = agentool_otel.load(_FOLDER / entry.get("run", _RUN))
        (result,) = agentool_otel.evaluate(checks, runs, judge=_judge(answer), scope="session")
        (outcome,) = result.to_dict()["assertion_results"]
        yield Example(check, entry.get("run"), answer, _WORDS[outcome["passed"]], outcome["reason"])


def _judge(answer: Any) -> Callable[[Any], Any]:
    return lambda question: answer


def sections() -> str:
    """Return the Markdown of all sections."""
    return "\n".join(_section(name) for name in TYPES)


def _section(name: str) -> str:
    lines = [f"## {name}", "", *_docstring(TYPES[name])]
    rows = list(_parameters(name))
    if rows:
        lines += ["| parameter | default | meaning |", "| --- | --- | --- |", *rows, ""]
    lines.append("```yaml")
    for example in evaluated(name):
        if example.judge is not None:
            lines += _comment(f"the judge answers {_flow(example.judge)}")
        where = f" on {example.run}" if example.run else ""
        lines += _comment(f"{example.verdict}{where}: {example.reason}")
        members = [f"{key}: {_flow(value)}" for key, value in example.check.items()]
        lines += [f"- {members[0]}", *(f"  {member}" for member in members[1:])]
    return "\n".join([*lines, "```", ""])


def _comment(text: str) -> list[str]:
    return textwrap.wrap(text, 90, initial_indent="# ", subsequent_indent="#   ")


def _docstring(kind: type) -> Iterator[str]:
    for paragraph in str(kind.__doc__).split("\n\n"):
        yield " ".join(paragraph.split())
        yield ""


def _parameters(name: str) -> Iterator[str]:
    described = cases_schema()["$defs"][name]["properties"]
    for field in msgspec.structs.fields(TYPES[name]):
        meaning = described[field.encode_name]["description"].replace("|", "\\|")
        yield f"| `{field.encode_name}` | {_default(field)} | {meaning} |"


def _default(field: msgspec.structs.FieldInfo) -> str:
    default = field.default
    if field.default_factory is not msgspec.NODEFAULT:
        default = field.default_factory()
    return "required" if default is msgspec.NODEFAULT else f"`{json.dumps(default)}`"


def _flow(value: Any) -> str:
    """Return a value as YAML on one line."""
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, width=10**6)
    return text.removesuffix("\n").removesuffix("\n...")
