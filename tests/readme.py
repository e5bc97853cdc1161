"""Write the tables of README.md and the pages of docs/ from the registries and the docstrings.

    python -m tests.readme        and the names that hold content, see `content_names`

A table stands between `<!-- table: NAME -->` and `<!-- end -->`; NAME is a function here.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

from agentool_otel.evaluation.judge_check import JudgeCheck
from agentool_otel.ground import environment, otlp_settings
from agentool_otel.ground.integrations import integrations
from agentool_otel.ground.unsupported_variables import UNSUPPORTED
from agentool_otel.reading.sources.stores.shapes import containers
from agentool_otel.semconv import agent_tool, agentool
from agentool_otel.semconv.table import ATTRIBUTES
from agentool_otel.tables.columns import DESCRIPTION
from tests import content_names, versions
from tests.coding_agents.missing import CHANNEL_TITLES, MISSING
from tests.coding_agents.recordings import FOLDER
from tests.coding_agents.stories import CHANNELS
from tests.docs import assertion_examples, convention_tables, decisions
from tests.situations.task import Row, rows

__all__ = ["DOCUMENTS", "TABLES", "filled"]

ROOT = Path(__file__).parent.parent
ARROW_TABLES = ("spans", "trajectories", "runs", "results")
_REGION = re.compile(r"(<!-- table: (\w+) -->\n).*?(<!-- end -->)", re.S)
DOCUMENTS = [
    page
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if _REGION.search(page.read_text(encoding="utf-8"))
]


def filled(text: str) -> str:
    """Return a document with its tables as they should be."""
    return _REGION.sub(lambda region: f"{region[1]}{TABLES[region[2]]()}{region[3]}", text)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines
    )


def _plugins(group: str) -> list[EntryPoint]:
    """Return our own plug-ins of a group, by name."""
    points = entry_points(group=f"agentool_otel.{group}")
    ours = (point for point in points if point.value.startswith("agentool_otel."))
    return sorted(ours, key=lambda point: point.name)


def _paragraph(docstring: str | None) -> str:
    assert docstring, "everything that is listed has a docstring"
    text = " ".join(docstring.partition("\n\n")[0].split())
    return text.partition(" Spec: ")[0].removesuffix(".")


def _module(point: EntryPoint) -> str:
    """Return the first paragraph of the module that a plug-in is in."""
    return _paragraph(sys.modules[point.load().__module__].__doc__)


def _frameworks() -> str:
    """Of each instrumentor, what its tests have seen (`tests/situations/rows.json`)."""
    observation = rows()
    points = entry_points(group="opentelemetry_instrumentor")
    ours = (point for point in points if point.value.startswith("agentool_otel."))
    return _table(
        (
            "framework",
            "supported",
            "tested",
            "runs",
            "handoffs",
            "async",
            "streams",
            "what, and how",
        ),
        (
            (
                _with_page(point.name.removeprefix("agentool-")),
                ", ".join(point.load().supports),
                *_seen(observation[point.name.removeprefix("agentool-").replace("-", "_")]),
                _paragraph(point.load().__doc__),
            )
            for point in sorted(ours, key=lambda point: point.name)
        ),
    )


def _task() -> str:
    """Of each framework, what a rebuild knows of the same task (`tests/situations/rows.json`)."""
    return _table(
        ("framework", "agent", "steps", "tokens", "output", "session", "two agents"),
        (
            (
                f"`{name.replace('_', '-')}`",
                ", ".join(run for run in row["plain"]["runs"] if run),
                "call with arguments, result" if row["plain"]["results"] else "",
                str(row["plain"]["tokens"]),
                "yes" if row["plain"]["output"] else "",
                "yes" if row["plain"]["session"] else "",
                _two_agents(row.get("two_agents")),
            )
            for name, row in sorted(rows().items())
        ),
    )


def _two_agents(task: dict[str, Any] | None) -> str:
    if task is None:
        return ""
    return f"to {' and '.join(dict.fromkeys(task['handoffs']))}, {task['tokens']} tokens"


def _with_page(name: str) -> str:
    """Return the name of a framework, as a link where it has a page."""
    page = ROOT / "docs" / "guides" / "frameworks" / f"{name}.md"
    return f"[`{name}`](frameworks/{name}.md)" if page.exists() else f"`{name}`"


def _seen(row: Row) -> Iterator[str]:
    older = rows().get(f"{row['framework']}_1", {"versions": {}})  # its first major version
    versions = [*row["versions"].items(), *older["versions"].items()]
    yield ", ".join(f"{name} {version}" for name, version in versions)
    yield "yes" if any(row["plain"]["runs"]) else ""
    yield "yes" if row.get("two_agents", {}).get("handoffs") else ""
    for situation in ("asynchronous", "stream"):
        yield "yes" if situation in row["possible"] else ""


def _dialects() -> str:
    return _table(
        ("name", "spans read", "written"),
        (
            (f"`{point.name}`", _module(point), "yes" if hasattr(point.load(), "write") else "")
            for point in _plugins("dialects")
        ),
    )


def _containers() -> str:
    return _table(
        ("what", "shape", "what a span loses there"),
        (
            (
                f"{container.name[0].upper()}{container.name[1:]}",
                f"`{container.shape}`",
                "; ".join(container.loses),
            )
            for container in containers()
            if container.inside is None
        ),
    )


def _servers() -> str:
    return _table(
        ("scheme", "what", "variables"),
        (
            (
                f"`{point.name}://`",
                _module(point),
                f"`{environment.token_variable(point.name)}`, "
                f"`{environment.tenant_variable(point.name)}`",
            )
            for point in _sources("server")
        ),
    )


def _sources(role: str) -> list[EntryPoint]:
    """Return our sources that are in modules of a role."""
    return [point for point in _plugins("sources") if f".{role}:" in point.value]


def _sessions() -> str:
    return _table(
        ("scheme", "what", "files"),
        (
            (f"`{point.name}://`", _module(point), f"`{point.load().place}`")
            for point in _sources("sessions")
        ),
    )


def _channels() -> str:
    """Of each coding agent, what its channels cannot have (`tests/coding_agents/missing.py`)."""
    return _table(
        ("agent", "channel", "does not have", "if content is off", "besides"),
        (
            (_title(agent), CHANNEL_TITLES[channel], *(", ".join(sorted(part)) for part in parts))
            for agent, missing in MISSING.items()
            for channel, file in CHANNELS.items()
            if any(FOLDER.glob(f"{agent}/*/{file}"))
            if (parts := missing.of_channel(channel))
        ),
    )


def _title(agent: str) -> str:
    return integrations()[agent.replace("-", "_")].title


def _formats() -> str:
    return _table(
        ("format", "what is written"),
        ((f"`{point.name}`", _module(point)) for point in _plugins("formats")),
    )


def _arrow_columns(module: str) -> str:
    """Return the columns of a table of `agentool_otel.tables`."""
    schema: Any = import_module(f"agentool_otel.tables.{module}").SCHEMA
    return _table(
        ("column", "type", "contents"),
        (
            (f"`{field.name}`", str(field.type), field.metadata[DESCRIPTION].decode())
            for field in schema
        ),
    )


def _converters() -> str:
    return _table(
        ("format", "documents", "keeps what others say"),
        (
            (f"`{point.name}`", _module(point), "yes" if point.load().lossless else "")
            for point in _plugins("converters")
        ),
    )


def _assertions() -> str:
    return _table(
        ("type", "holds if", "needs a judge"),
        (
            (
                f"[`{point.name}`](#{point.name})",
                _paragraph(point.load().__doc__),
                "yes" if issubclass(point.load(), JudgeCheck) else "",
            )
            for point in _plugins("assertions")
        ),
    )


def _variables() -> str:
    return _table(
        ("variable", "meaning", "default", "source"),
        (
            (", ".join(f"`{name}`" for name in names), *_described(text))
            for names, text in [*_constants(), *_families()]
        ),
    )


def _unsupported() -> str:
    """Return the variables of OpenTelemetry that are refused by name, those alike in one line."""
    names: dict[str, list[str]] = {}
    for name, why in UNSUPPORTED.items():
        names.setdefault(why, []).append(f"`{name}`")
    return _table(("variable", "why"), ((", ".join(name), why) for why, name in names.items()))


def _constants() -> Iterator[tuple[list[str], str]]:
    """Yield the variables that are constants of the module, with their docstrings."""
    body = ast.parse(Path(environment.__file__).read_text(encoding="utf-8")).body
    for node, after in pairwise(body):
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            assert isinstance(after, ast.Expr)
            assert isinstance(after.value, ast.Constant)
            value = getattr(environment, node.target.id)
            names = value.values() if isinstance(value, dict) else value
            yield [value] if isinstance(value, str) else [*names], str(after.value.value)


def _families() -> Iterator[tuple[list[str], str]]:
    """Yield the variables that functions name, with their docstrings."""
    signals = get_args(environment.Signal)
    names = [environment.exporter_variable(signal) for signal in signals]
    yield names, _of_function(environment.exporter_variable)
    for variable in (environment.token_variable, environment.tenant_variable):
        yield [variable(point.name) for point in _sources("server")], _of_function(variable)
    # `getdoc` removes the indentation; from Python 3.13 on `__doc__` has none.
    settings = str(inspect.getdoc(otlp_settings.variable)).partition("Each setting:\n")[2]
    for setting, text in re.findall(r"^ {4}([A-Z_, ]+): (.+(?:\n {5,}.+)*)$", settings, re.M):
        yield [otlp_settings.variable(part) for part in setting.split(", ")], text


def _of_function(function: Callable[..., str]) -> str:
    meaning = str(function.__doc__).partition(" variable ")[2].removeprefix("with ")
    meaning = re.sub(", such as `.*?`", "", meaning)
    return f"{meaning[0].upper()}{meaning[1:]}"


def _described(text: str) -> tuple[str, str, str]:
    """Return the parts of a docstring: the meaning, the default and the specification."""
    text = " ".join(text.split())
    meaning, _, remainder = text.partition("Default: ")
    default = re.split(r"\.(?: |$)", remainder, maxsplit=1)[0]
    source = re.search(r"(?:Spec|Source): (.*?)\.?$", remainder)
    return meaning.strip().removesuffix("."), default, source[1] if source else ""


def _names() -> str:
    """Of each name of ours: whether spans have it as an attribute or it is one of an event."""
    return _table(
        ("name", "type", "what"),
        (
            (
                f"`{name}`",
                convention_tables.TYPES[ATTRIBUTES[name].type] if name in ATTRIBUTES else "",
                meaning,
            )
            for vocabulary in (agentool.MEANING, agent_tool.MEANING)
            for name, meaning in vocabulary.items()
        ),
    )


def _collector() -> str:
    """Of each variable of the Collector's files: its default, and the files that read it."""
    defaults: dict[tuple[str, str], list[str]] = {}
    for file in sorted((ROOT / "collector-config").glob("*.yaml")):
        matches = re.findall(r"\$\{env:(\w+):-([^}]*)\}", file.read_text(encoding="utf-8"))
        for variable in dict.fromkeys(matches):
            defaults.setdefault(variable, []).append(file.stem)
    return _table(
        ("variable", "default", "read by"),
        (
            (f"`{name}`", f"`{default}`", ", ".join(f"`{file}`" for file in files))
            for (name, default), files in sorted(defaults.items())
        ),
    )


def _versions() -> str:
    return _table(("what", "on", "with", "tests", "result"), versions.lines())


TABLES: dict[str, Callable[[], str]] = {
    "frameworks": _frameworks,
    "task": _task,
    "assertions": _assertions,
    "assertion_types": assertion_examples.sections,
    "collector": _collector,
    "decisions": decisions.index,
    "containers": _containers,
    "convention_attributes": convention_tables.attributes,
    "convention_metrics": convention_tables.metrics,
    "convention_spans": convention_tables.spans,
    "converters": _converters,
    "dialects": _dialects,
    "formats": _formats,
    **{f"{name}_table": partial(_arrow_columns, name) for name in ARROW_TABLES},
    "generations": convention_tables.generations,
    "names": _names,
    "servers": _servers,
    "sessions": _sessions,
    "channels": _channels,
    "unsupported": _unsupported,
    "variables": _variables,
    "versions": _versions,
}


def main() -> None:
    content_names.main()
    versions.write_classifiers()
    for document in DOCUMENTS:
        document.write_text(filled(document.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
