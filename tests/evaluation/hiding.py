"""Runs, assertions on them, and ways of hiding parts of a run that leave evidence.

`python -m tests.evaluation.hiding` writes `hiding_shares.json`: the share of verdicts that survive,
for each way and assertion type.
"""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from agentool_otel import ReasoningTrace, evaluate
from agentool_otel.content.fitting.fitter import Sizes
from agentool_otel.content.policy import Policy
from agentool_otel.evaluation import diff
from agentool_otel.loading import rebuild
from agentool_otel.model.spans import SpanRecord
from agentool_otel.reading.rebuild.trace import Rebuilt
from agentool_otel.semconv import agentool
from agentool_otel.semconv.redaction import MARKERS
from agentool_otel.semconv.table import CONTENT
from tests.evaluation.test_spans import spans_of

__all__ = ["SHARES", "WAYS", "Way", "assertions_on", "broken", "run_of", "shares"]

Object = dict[str, Any]
Way = Callable[[Object, random.Random], "list[ReasoningTrace | Rebuilt]"]
"""Hides something of a run; returns the runs that are left of it."""
SHARES = Path(__file__).with_name("hiding_shares.json")
_RUNS = 30
"""Runs of the table."""

_TOOLS = ("search", "read", "pay")
_WORDS = ("red", "green", "blue card 7", 'say "hi"', "zebra")


# -------------------------------------------------------------------------------------- runs


def run_of(chance: random.Random) -> Object:
    """Return a run of which everything is in the store."""
    steps: list[Object] = []
    for n in range(chance.choice([0, 1, 1, 2, 3, 6])):
        tool = chance.choice(_TOOLS[: chance.choice([1, 3])])
        arguments = {name: _value(chance) for name in ("id", "q") if chance.random() < 0.8}
        call = {"id": f"c{n}", "name": tool, "arguments": arguments}
        result: Object = {"call_id": f"c{n}"}
        if chance.random() < 0.2:
            result["error"] = chance.choice(_WORDS)
        else:
            result["output"] = _value(chance)
            if chance.random() < 0.1:
                result["output"] = {"error": _text(chance)}
        steps.append({"type": "tool_call", "tool_call": call})
        steps.append({"type": "tool_result", "tool_result": result})
    for n in range(chance.choice([0, 0, 1, 2, 4])):
        steps += _work_on_code(f"w{n}", chance)
    if chance.random() < 0.3:
        steps.append({"type": "handoff", "to_agent": chance.choice(["writer", "clerk"])})
    for n, step in enumerate(steps, 1):
        step["step_id"] = f"step_{n:03}"
    failed = chance.random() < 0.2
    run: Object = {
        "trace_id": f"tr_{chance.randrange(10**6)}",
        "agent_id": "bot",
        "input": _text(chance),
        "status": "error" if failed else "success",
        "steps": steps,
        "metrics": {
            "total_tokens": chance.choice([10, 1000]),
            "total_cost_usd": chance.choice([0.01, 1.0]),
            "total_duration_ms": chance.choice([5, 5000]),
            "tool_call_count": sum("tool_call" in step for step in steps),
            "step_count": len(steps),
        },
    }
    if failed:
        metadata: Object = {"error": {"type": "ValueError", "message": "broken"}}
        if chance.random() < 0.5:
            metadata["unfinished"] = [{"end": "broken_off", "span_id": "ab" * 8}]
        run["metadata"] = metadata
    else:
        run["output"] = {"a": _text(chance), "n": 7} if chance.random() < 0.3 else _text(chance)
    return run


def _work_on_code(call_id: str, chance: random.Random) -> list[Object]:
    """Return the two steps of a call that runs a command or changes a file."""
    code, text = chance.choice([0, 0, 1, 12]), _text(chance)
    command, path = chance.choice(_COMMANDS), chance.choice(_PATHS)
    kinds: list[tuple[str, Object, Object]] = [
        ("Bash", {"command": command}, {"error": f"Exit code {code}\n{text}"} if code else {}),
        ("Bash", {"command": command, "run_in_background": True}, {"output": text}),
        ("exec_command", {"cmd": command}, {"output": f"Process exited with code {code}\n{text}"}),
        ("exec_command", {"cmd": command}, {"output": {"metadata": {"exit_code": code}}}),
        ("run_shell_command", {"command": command}, {"output": f"{text}\nExit Code: {code}\n."}),
        ("run_shell_command", {"command": command}, {"output": f"{text}\nProcess Group PGID: 7"}),
        ("bash", {"command": ["bash", "-lc", command]}, {"output": text, "exit_code": code}),
        ("bash", {"command": command}, {"output": f"{text}\n<exited with exit code {code}>"}),
        ("Edit", {"file_path": path, "new_string": text}, {"output": "done"}),
        ("apply_patch", {"input": f"*** Update File: {path}\n+{text}\n"}, {"output": "Done!"}),
        ("str_replace_editor", {"command": chance.choice(["view", "create"]), "path": path}, {}),
    ]
    name, arguments, result = chance.choice(kinds)
    if chance.random() < 0.15:
        result = {"error": chance.choice(["permission_denied", f"permission_denied: {text}", text])}
    call = {"id": call_id, "name": name, "arguments": arguments}
    return [
        {"type": "tool_call", "tool_call": call},
        {"type": "tool_result", "tool_result": {"call_id": call_id, **(result or {"output": "7"})}},
    ]


_COMMANDS = ("pytest -q tests/green", "cd app && npm test", "ls green", "python -m unittest red")
_PATHS = ("src/green/a.py", "/home/red/src/b.py", "docs/zebra.md")


def _value(chance: random.Random) -> Any:
    return chance.choice([7, 8, True, None, _text(chance), {"k": _text(chance)}, [1, "green"]])


def _text(chance: random.Random) -> str:
    return " ".join(chance.choices(_WORDS, k=chance.choice([1, 2, 4])))


def assertions_on(run: Object, chance: random.Random) -> list[Object]:
    """Return assertions of every type, of which some hold for a run and some do not."""
    calls = [step["tool_call"] for step in run["steps"] if "tool_call" in step]
    names = [call["name"] for call in calls]
    tool = chance.choice(_TOOLS)
    arguments = chance.choice([*(call["arguments"] for call in calls), {"id": 7}, {"q": "green"}])
    shown = [{"tool_name": call["name"], "tool_args": call["arguments"]} for call in calls]
    mode = chance.choice(["exact", "in_order", "any_order", "subset", "superset"])
    ways = ["exact", "at_least", "at_most", "ignore"]
    output = run.get("output", "green")
    return [
        {"type": "contains_tool_call", "tool_name": tool},
        {"type": "contains_tool_call", "tool_name": tool, "tool_args": arguments},
        {"type": "contains_tool_call", "tool_name": tool, "succeeded": chance.random() < 0.7},
        {"type": "result_contains", "tool_name": tool, "text": chance.choice(_WORDS)},
        {"type": "result_matches", "tool_name": tool, "pattern": chance.choice(_PATTERNS)},
        {"type": "result_schema", "tool_name": tool, "schema": {"type": ["object", "integer"]}},
        {"type": "finished"},
        {"type": "no_tool_call"},
        {"type": "no_tool_call", "tool_name": tool},
        {"type": "no_tool_call", "tool_name": tool, "tool_args": arguments},
        {"type": "tool_call_count", "min_calls": chance.choice([1, 2])},
        {"type": "tool_call_count", "tool_name": tool, "max_calls": chance.choice([0, 1])},
        {"type": "tool_sequence", "tools": names, "mode": "exact"},
        {
            "type": "tool_sequence",
            "tools": chance.sample(names, len(names)) or [tool],
            "mode": mode,
        },
        {"type": "tool_sequence", "tools": shown or [{"tool_name": "search"}], "mode": mode},
        {
            "type": "args_match",
            "tool_name": tool,
            "tool_args": arguments,
            "mode": chance.choice(ways),
        },
        {"type": "args_match", "tool_name": tool, "arg_schemas": {"id": {"type": "string"}}},
        {"type": "args_match", "tool_name": tool, "arg_patterns": {"q": chance.choice(_PATTERNS)}},
        {"type": "handoff"},
        {"type": "handoff", "to_agent": "writer"},
        {"type": "status", "status": chance.choice(["success", "error"])},
        {"type": "no_loop", "max_repeats": 1},
        {"type": "no_tool_error"},
        {"type": "no_tool_error", "tool_name": tool},
        {"type": "no_tool_error", "in_results": chance.random() < 0.5},
        {"type": "ran_command", "pattern": chance.choice(["pytest", "green", "npm test$"])},
        {"type": "ran_command", "pattern": "test", "exit_code": chance.choice([0, 1, 12])},
        {"type": "changed_file", "path": chance.choice(["src/**/*.py", "*.md", "/home/**"])},
        {"type": "tests_after_last_change"},
        {"type": "tests_after_last_change", "passed": False, "pattern": "green"},
        {"type": "no_denied_tool"},
        {"type": "no_denied_tool", "tool_name": chance.choice([tool, "Bash", "Edit"])},
        {"type": "max_turns", "max_turns": 1},
        {"type": "output_equals", "value": chance.choice([output, "green"])},
        {"type": "output_contains", "text": chance.choice([*_WORDS, "e", "mask", "*"])},
        {"type": "output_contains", "text": ["red", "green"], "ignore_case": True},
        {"type": "output_matches", "pattern": chance.choice(_PATTERNS)},
        {"type": "response_format", "schema": {"type": chance.choice(["object", "string"])}},
        {"type": "response_format", "schema": {"type": "string", "maxLength": 12}},
        {"type": "latency", "max_ms": 100},
        {"type": "context_efficiency", "max_tokens": 100},
        {"type": "max_cost_usd", "max_usd": 0.1},
        {"type": "output_property", "property": "mentions green"},
        {"type": "rubric", "rubric": "mentions green"},
        {"type": "no_hallucination"},
    ]


_PATTERNS = (
    "green",
    "^red",
    "(?s)^(?!.*zebra)",
    "card \\d$",
    "[a-z]+ [a-z]+",
    "(?:)",
    "\\bhi\\b",
    "x*",
)


def _judge(question: Any) -> Any:
    """Judge by one word, as a model would from the question alone."""
    if question.assertion_type == "no_hallucination":
        steps = [line for line in question.text.splitlines() if '"step_id"' in line]
        good = any(word in line for line in steps for word in ("green", "zebra", "blue"))
        claim = {"claim": "it is so", "verdict": "supported" if good else "not_supported"}
        return {"claims": [{**claim, "step_ids": list(question.step_ids[-1:])}], "reason": ""}
    return "green" in json.dumps(question.output)


# ---------------------------------------------------------------------------- documents, hidden


def _texts(run: Object) -> Iterator[tuple[Any, Any]]:
    """Yield the holder and the key of every value that can be hidden."""
    for name in ("input", "output"):
        if name in run:
            yield from _inside(run, name)
    for step in run["steps"]:
        if call := step.get("tool_call"):
            yield from _inside(call, "arguments")
            yield call, "name"
        if (result := step.get("tool_result")) and "output" in result:
            yield from _inside(result, "output")
        if "to_agent" in step:
            yield step, "to_agent"


def _inside(holder: Any, key: Any) -> Iterator[tuple[Any, Any]]:
    yield holder, key
    value = holder[key]
    for inner in value if isinstance(value, dict) else range(len(value)) if _is_list(value) else ():
        yield from _inside(value, inner)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _with_marker(marker: str) -> Way:
    """Return a way that puts a marker in the place of values, or of a word in them."""

    def hide(run: Object, chance: random.Random) -> list[ReasoningTrace | Rebuilt]:
        places = list(_texts(run))
        for holder, key in chance.sample(places, min(len(places), chance.choice([1, 1, 3]))):
            value = holder[key]
            word = chance.choice(value.split(" ")) if isinstance(value, str) else ""
            part = word and key not in ("name", "to_agent") and chance.random() < 0.5
            holder[key] = value.replace(word, marker) if part else marker
        return [ReasoningTrace.from_dict(run)]

    return hide


def _shortened(run: Object, chance: random.Random) -> list[ReasoningTrace | Rebuilt]:
    places = [text for text in _texts(run) if text[1] not in ("name", "to_agent")]
    holder, key = chance.choice(places)
    value = holder[key]
    if isinstance(value, str):
        result = value[: chance.randrange(len(value) + 1)]
        holder[key] = f"{result}… [truncated: {len(value)} characters]"
    elif isinstance(value, dict):
        kept_members = dict(list(value.items())[: chance.randrange(len(value) + 1)])
        holder[key] = {**kept_members, "$truncated": "bytes"}
    elif isinstance(value, list):
        holder[key] = [*value[: chance.randrange(len(value) + 1)], {"$truncated": "bytes"}]
    return [ReasoningTrace.from_dict(run)]


def _content_off(run: Object, _: random.Random) -> list[ReasoningTrace | Rebuilt]:
    for name in ("input", "output"):
        run.pop(name, None)
    for step in run["steps"]:
        step.get("tool_call", {}).pop("arguments", None)
        step.get("tool_result", {}).pop("output", None)
    return [ReasoningTrace.from_dict(run)]


def _missing_parent(run: Object, chance: random.Random) -> list[ReasoningTrace | Rebuilt]:
    gone = {f"c{n}" for n in range(6) if chance.random() < 0.5}
    run["steps"] = [step for step in run["steps"] if not _is_of(step, gone)]
    run.setdefault("metadata", {})["incomplete"] = True
    for name in ("tool_call_count", "step_count"):
        del run["metrics"][name]
    if chance.random() < 0.5:
        run.pop("output", None)
    if chance.random() < 0.5:
        run["metadata"].pop("error", None)
        run["status"] = "success"
    return [ReasoningTrace.from_dict(run)]


def _is_of(step: Object, calls: set[str]) -> bool:
    return bool(
        {step.get("tool_call", {}).get("id"), step.get("tool_result", {}).get("call_id")} & calls
    )


def _without_call(run: Object, chance: random.Random) -> list[ReasoningTrace | Rebuilt]:
    calls = [step for step in run["steps"] if "tool_call" in step]
    if calls:
        run["steps"].remove(chance.choice(calls))
        del run["metrics"]["tool_call_count"]
    return [ReasoningTrace.from_dict(run)]


# -------------------------------------------------------------------------------- spans, hidden


def _on_spans(hide: Callable[[list[SpanRecord], random.Random], list[SpanRecord]]) -> Way:
    def hidden(run: Object, chance: random.Random) -> list[ReasoningTrace | Rebuilt]:
        return [*rebuild(hide(spans_of(run), chance))]

    return hidden


def _each(change: Callable[[Object, random.Random], None], share: float = 0.5) -> Way:
    """Return a way that changes the attributes of some spans of a run."""

    def hide(spans: list[SpanRecord], chance: random.Random) -> list[SpanRecord]:
        for span in spans:
            if chance.random() < share:
                change(span.attributes, chance)
        return spans

    return _on_spans(hide)


def _redact(attributes: Object, chance: random.Random) -> None:
    hook = chance.choice([_to_x, _to_nothing, _to_mark, _word_to_word])
    Policy(capture=True, redact=hook).clean(attributes)


def _to_x(name: str, text: str) -> str:
    return "x"


def _to_nothing(name: str, text: str) -> None:
    return None


def _to_mark(name: str, text: str) -> str:
    return text.replace("green", "[REDACTED]").replace("7", "8")


def _word_to_word(name: str, text: str) -> str:
    return text.replace("red", "green").replace("zebra", "ox")


def _cut(attributes: Object, chance: random.Random) -> None:
    most = chance.choice([5, 20, 60])
    for key in (CONTENT & attributes.keys()) - {agentool.TOOL_ERROR}:  # a text, cut without a sign
        if isinstance(attributes[key], str):
            attributes[key] = attributes[key][:most]


def _fit(attributes: Object, chance: random.Random) -> None:
    most = chance.choice([20, 40])
    Policy(capture=True, sizes=Sizes(attribute=most, span=most * 8)).fit(attributes)


def _off(attributes: Object, _: random.Random) -> None:
    Policy(capture=False).clean(attributes)


def _collected(attributes: Object, chance: random.Random) -> None:
    keys = sorted(CONTENT & attributes.keys())
    for key in keys:
        attributes[key] = "****"
    if keys:
        attributes["redaction.masked.keys"] = ",".join(keys)


def _orphans(spans: list[SpanRecord], chance: random.Random) -> list[SpanRecord]:
    return [span for span in spans if span.parent_id]


_SPANS: dict[str, Way] = {
    "redact hook": _each(_redact),
    "cut by a limit": _each(_cut, 1.0),
    "shortened": _each(_fit),
    "content off": _each(_off, 1.0),
    "masked by a Collector": _each(_collected),
    "root missing": _on_spans(_orphans),
}


def _written(way: Way) -> Way:
    """Return a way whose runs are documents that were rebuilt from spans."""

    def hidden(run: Object, chance: random.Random) -> list[ReasoningTrace | Rebuilt]:
        return [item.trace if isinstance(item, Rebuilt) else item for item in way(run, chance)]

    return hidden


WAYS: dict[str, Way] = {
    **{f"document: {marker.examples[0]}": _with_marker(marker.examples[0]) for marker in MARKERS},
    "document: shortened": _shortened,
    "document: content off": _content_off,
    "document: parent missing": _missing_parent,
    "document: call missing": _without_call,
    **{f"spans: {name}": way for name, way in _SPANS.items()},
    **{f"spans, then documents: {name}": _written(way) for name, way in _SPANS.items()},
}


# ------------------------------------------------------------------------------------- laws

_Verdicts = list[tuple[str, "bool | None", str]]


def _verdicts(assertions: list[Object], source: ReasoningTrace | Rebuilt) -> _Verdicts:
    (result,) = evaluate(assertions, [source], _judge)
    return [
        (assertion_result.assertion_type, assertion_result.passed, str(assertion_result.reason))
        for assertion_result in result.assertion_results
    ]


def broken(
    way: str, chance: random.Random, survived: Counter[tuple[str, bool]] | None = None
) -> list[str]:
    """Return how hiding parts of a run breaks the laws; empty if it does not.

    Args:
        way: of `WAYS`.
        chance: makes the run, the assertions and the choice of what is hidden.
        survived: counts, by assertion type, the verdicts that are decided before, and which of them
            are the same after.
    """
    run = run_of(chance)
    assertions = assertions_on(run, chance)
    on_spans = way.startswith("spans")
    before: ReasoningTrace | Rebuilt = ReasoningTrace.from_dict(run)
    if on_spans:
        (before,) = rebuild(spans_of(run))
    decided = _verdicts(assertions, before)
    wrong: list[str] = []
    for after in WAYS[way](copy.deepcopy(run), chance):
        verdicts = _verdicts(assertions, after)
        for assertion, was, now in zip(assertions, decided, verdicts, strict=True):
            if was[1] is None:
                continue
            if survived is not None:
                survived[was[0], now[1] is not None] += 1
            if now[1] is not None and now[1] is not was[1]:
                wrong.append(f"{way}: {assertion} was {was[1:]}, is {now[1:]}")
        result = diff(before, after)
        wrong += [f"{way}: diff names {change}" for change in (*result.changes, *result.steps)]
    return wrong


def shares() -> dict[str, dict[str, float]]:
    """Return the shares of verdicts that survive, by way and assertion type, for a fixed corpus."""
    table: dict[str, dict[str, float]] = {}
    for way in WAYS:
        survived: Counter[tuple[str, bool]] = Counter()
        for seed in range(_RUNS):
            broken(way, random.Random(f"{way} {seed}"), survived)
        types = sorted({name for name, _ in survived})
        table[way] = {
            name: round(survived[name, True] / (survived[name, True] + survived[name, False]), 2)
            for name in types
        }
    return table


if __name__ == "__main__":
    SHARES.write_text(json.dumps(shares(), indent=1) + "\n")
