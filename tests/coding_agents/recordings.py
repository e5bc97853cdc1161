"""The files of a recording: small, and without names of the machine or of the run."""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import socket
from collections import Counter
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.coding_agents.agent import Agent, Json
from tests.coding_agents.running import ROOT, Run, play, versions
from tests.coding_agents.situations import SITUATIONS

__all__ = ["FOLDER", "record"]

FOLDER = Path(os.environ.get("CODING_AGENTS") or ROOT / "tests" / "fixtures" / "coding_agents")
"""The recordings: those of the repository, or new ones that are to be compared with the script."""
PROJECT = "/home/user/project"
_LONGEST = 300
_PLUMBING = 2
"""Spans and log records of one name that are kept though nobody needs them."""
_PLUMBING_NAMES = 4
"""Names of spans of which some are kept though nobody needs them."""


def record(agent: Agent, situation: str) -> Path:
    """Play a situation, write its files and return their folder."""
    with play(agent, SITUATIONS[situation]) as run:
        files = dict(_files(agent, run))
        texts = _without_names(files, run)
    folder = FOLDER / agent.name / situation
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def _files(agent: Agent, run: Run) -> Iterator[tuple[str, str]]:
    facts = {
        "agent": agent.name,
        "version": versions()[agent.name].version,
        "exit_codes": run.exit_codes,
        "project": str(run.place.project),
        "requests": run.requests,
        "calls": run.calls,
    }
    yield "facts.json", json.dumps(facts, indent=1, ensure_ascii=False) + "\n"
    for name, exports, kept in (
        ("spans.jsonl", run.spans, _kept_spans(agent, run.spans)),
        ("logs.jsonl", run.logs, _kept_logs(agent, run.logs)),
    ):
        lines = [_line(_with_names(_cut_otlp(agent, item))) for item in _reduced(exports, kept)]
        if lines:
            yield name, "".join(lines)
    for name, text in run.sessions.items():
        yield f"session/{name}", _session(agent, name, text)


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n"


# --------------------------------------------------------------------------- fewer and shorter


def _items(exports: list[Json]) -> Iterator[Json]:
    """Yield the spans or log records of exports."""
    for export in exports:
        for resource in export.get("resourceSpans") or export.get("resourceLogs") or ():
            for scope in resource.get("scopeSpans") or resource.get("scopeLogs") or ():
                yield from scope.get("spans") or scope.get("logRecords") or ()


def _reduced(exports: list[Json], kept: Callable[[Json], bool]) -> Iterator[Json]:
    """Yield the exports with the kept spans and log records, without empty ones."""
    for export in exports:
        for outer, inner, member in (
            ("resourceSpans", "scopeSpans", "spans"),
            ("resourceLogs", "scopeLogs", "logRecords"),
        ):
            for resource in export.get(outer, ()):
                for scope in resource.get(inner, ()):
                    scope[member] = [item for item in scope.get(member, ()) if kept(item)]
                resource[inner] = [scope for scope in resource.get(inner, ()) if scope[member]]
            if outer in export:
                export[outer] = [resource for resource in export[outer] if resource[inner]]
        if any(export.values()):
            yield export


def _kept_spans(agent: Agent, exports: list[Json]) -> Callable[[Json], bool]:
    """Keep the spans that matter with their ancestors, and a few others."""
    names = agent.spans
    if names is None:
        return lambda span: True
    spans = {span["spanId"]: span for span in _items(exports)}
    numbers: Counter[str] = Counter()
    kept: set[str] = set()
    for span_id, span in spans.items():
        name = span["name"]
        if not (name in names or agent.matters(span)):
            numbers[name] += 1
            if numbers[name] > _PLUMBING or len(numbers) > _PLUMBING_NAMES:
                continue
        at = span_id
        while at in spans and at not in kept:
            kept.add(at)
            at = str(spans[at].get("parentSpanId"))
    return lambda span: span["spanId"] in kept


def _kept_logs(agent: Agent, exports: list[Json]) -> Callable[[Json], bool]:
    """Keep the log records of the events that matter, and a few of each other event."""
    names = agent.log_events
    if names is None:
        return lambda record: True
    numbers: Counter[str] = Counter()

    def kept(record: Json) -> bool:
        name = str(_attributes(record).get("event.name"))
        numbers[name] += 1
        return name in names or agent.log_matters(record) or numbers[name] <= _PLUMBING

    return kept


def _attributes(item: Json) -> Json:
    pairs: list[Json] = item.get("attributes") or []
    return {pair["key"]: next(iter(pair["value"].values()), None) for pair in pairs}


def _cut_otlp(agent: Agent, export: Json) -> Json:
    """Cut system prompts and tool definitions in attributes of spans, events and log records."""
    for item in _items([export]):
        for holder in (item, *item.get("events", ())):
            holder["attributes"] = [
                pair
                for pair in holder.get("attributes", ())
                if not pair["key"].startswith(agent.dropped_attributes)
            ]
            for pair in holder["attributes"]:
                is_harness = pair["key"] in agent.harness_attributes
                texts = pair["value"].get("arrayValue", {}).get("values", ())
                if is_harness and texts:
                    pair["value"] = {"arrayValue": {"values": _cut_array(texts)}}
                text = pair["value"].get("stringValue")
                if isinstance(text, str) and len(text) > _LONGEST:
                    pair["value"]["stringValue"] = _cut_text(text, is_harness)
    return export


def _cut_array(values: list[Json]) -> list[Json]:
    """Cut an array of texts, each of which may be JSON."""
    texts = [str(value.get("stringValue")) for value in values[:_PLUMBING]]
    return [{"stringValue": _cut_text(text, is_harness=True)} for text in texts]


def _cut_text(text: str, is_harness: bool) -> str:
    """Cut a text, which may be JSON and stays so."""
    if text.lstrip()[:1] in ("[", "{", '"'):
        try:
            value = json.loads(text)
        except ValueError:
            pass
        else:
            shorter = _cut(value) if is_harness else _cut_harness(value)
            return text if shorter == value else json.dumps(shorter, ensure_ascii=False)
    return text[:_LONGEST] if is_harness else _REMINDER.sub(r"\1\2", text)


_REMINDER = re.compile(rf"(<system-reminder>.{{{_LONGEST}}}).*?(</system-reminder>)", re.DOTALL)
"""Texts of the agent inside a message of the user."""


def _cut(value: Any, longest: int = _LONGEST) -> Any:
    """Cut all that is long: texts, those in lists even more, lists, and the schemas of tools."""
    match value:
        case str():
            return value[:longest]
        case list():
            return [_cut(item, _LONGEST // 3) for item in value[:_PLUMBING]]
        case dict():
            return {
                key: {} if key in _SCHEMAS else _cut(item, longest) for key, item in value.items()
            }
        case _:
            return value


_SCHEMAS = frozenset(
    {
        "input_schema",
        "inputSchema",
        "schema",
        "parameters",
        "parametersJsonSchema",
        "parameterSchema",
        "outputSchema",
    }
)
_HARNESS = frozenset(
    {"system", "systemInstruction", "system_instruction", "systemPrompt", "system_instructions",
     "tool", "tools", "tool_definitions", "toolDefinitions", "base_instructions",
     "user_instructions", "developer_instructions", "instructions", "dynamic_tools"}
)  # fmt: skip
"""Members that have system prompts or tool definitions."""
_HARNESS_ROLES = ("system", "developer")


def _cut_harness(value: Any) -> Any:
    """Cut the system prompts and tool definitions inside a value."""
    match value:
        case list():
            return [_cut_harness(item) for item in value]
        case {"role": role, **_others} if role in _HARNESS_ROLES:
            return _cut(value)
        case dict():
            return {
                key: _cut(item) if key in _HARNESS and _is_long(item) else _cut_harness(item)
                for key, item in value.items()
            }
        case str() if len(value) > _LONGEST:
            return _cut_text(value, is_harness=False)
        case _:
            return value


def _is_long(value: Any) -> bool:
    return len(json.dumps(value)) > _LONGEST


def _session(agent: Agent, name: str, text: str) -> str:
    """Return a session file with short system prompts and tool definitions."""
    if not name.endswith(".jsonl"):
        document = json.loads(text)
        return json.dumps(_with_names(_cut_harness(document)), indent=1, ensure_ascii=False) + "\n"
    lines: list[str] = []
    numbers: Counter[str] = Counter()
    for line in text.splitlines(keepends=True):
        try:
            value = json.loads(line)
        except ValueError:  # the process died while it wrote
            lines.append(line)
            continue
        kind = str(value.get("type"))
        numbers[kind] += 1
        if kind in agent.plumbing_lines and numbers[kind] > _PLUMBING:
            continue
        shorter = _with_names(_cut(value) if agent.is_harness(value) else _cut_harness(value))
        lines.append(line if shorter == value else _line(shorter))
    return "".join(lines)


# ------------------------------------------------------------------- names of machine and run

_NAMES: dict[str, str | int] = {
    "host.name": "host",
    "host.id": "host-id",
    "host.ip": "127.0.0.1",
    "hostname": "host",
    "user.id": "user-id",
    "user.email": "user@example.org",
    "user.account_uuid": "account-id",
    "user.account_id": "account-id",
    "organization.id": "organisation-id",
    "installation.id": "installation-id",
    "installation_id": "installation-id",
    "installationId": "installation-id",
    "device.id": "device-id",
    "deviceId": "device-id",
    "device_id": "device-id",
    "userID": "user-id",
    "user_id": "user-id",
    "machineId": "machine-id",
    "process.owner": "user",
    "process.pid": 1,
    "process.parent_pid": 1,
    "pid": 1,
    "server.port": 4000,
}
"""What replaces the value of a member or an attribute."""


def _with_names(value: Any) -> Any:
    """Return a value with the names of machine and user replaced, where a member has them."""
    match value:
        case list():
            return [_with_names(item) for item in value]
        case {"key": str() as key, "value": dict()} if key in _NAMES:
            return {"key": key, "value": _otlp(_NAMES[key])}
        case dict():
            return {
                key: _NAMES[key] if key in _NAMES and isinstance(item, (str, int)) and item != ""
                else _with_names(item)
                for key, item in value.items()
            }  # fmt: skip
        case _:
            return value


def _otlp(value: str | int) -> Json:
    return {"stringValue": value} if isinstance(value, str) else {"intValue": str(value)}


def _without_names(files: dict[str, str], run: Run) -> dict[str, str]:
    """Return the files, in their names too, without the run's folders, ports and the machine."""
    replace = _replacing(run)
    return {replace(name): replace(text) for name, text in files.items()}


def _replacing(run: Run) -> Callable[[str], str]:
    base, place = str(run.base), run.place
    dashed = re.sub(r"[^A-Za-z0-9]", "-", base)
    node = shutil.which("node") or "node"
    texts = {
        sha256(str(place.project).encode()).hexdigest(): sha256(PROJECT.encode()).hexdigest(),
        base: "",
        f"{base.strip('/')}/": "",
        quote(base, safe=""): "",
        dashed: "",
        dashed.strip("-"): "",
        str(place.program.parents[2]): "/opt/agent",
        str(ROOT): "/opt/tests",
        str(Path(node).resolve()): "/usr/bin/node",
        node: "/usr/bin/node",
        place.model_url: "http://127.0.0.1:4000",
        place.otlp_url: "http://127.0.0.1:4318",
        platform.release(): "6.0.0",
        platform.version(): "#1 SMP",
    }
    if len(socket.gethostname()) > len("localhost"):  # a shorter one is a part of other words
        texts[socket.gethostname()] = "host"
    for url, port in ((place.model_url, "4000"), (place.otlp_url, "4318")):
        texts[url.partition("//")[2]] = f"127.0.0.1:{port}"

    def replace(text: str) -> str:
        for old, new in texts.items():
            text = text.replace(old, new)
        return re.sub(r"(PGID: |copilot-otel-)\d+", r"\g<1>1", text)

    return replace
