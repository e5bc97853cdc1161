"""What happened in a session: as the script has it, and as a rebuild has it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentool_otel.loading import rebuild
from agentool_otel.reading.rebuild.trace import Rebuilt
from agentool_otel.reading.sources.opening import open_spans
from tests.coding_agents.situations import (
    FILES,
    MCP_ANSWERS,
    SITUATIONS,
    Delegate,
    Edit,
    Failure,
    Mcp,
    ModelTurn,
    Read,
    Shell,
    Situation,
)

__all__ = ["CHANNELS", "Call", "Story", "differences", "places", "rebuilt", "scripted"]

CHANNELS = {"spans": "spans.jsonl", "logs": "logs.jsonl", "file": "session"}
_OUTPUTS = {"wc -l < notes.txt": "2", "echo released on 2026-01-31": "released on 2026-01-31"}
_DENIED = "permission_denied"


@dataclass
class Call:
    """A tool call; None is not known."""

    id: str | None
    tool: str
    arguments: Any = None
    result: str | None = None
    outcome: str | None = None
    """ok, failed, denied, or open."""


@dataclass
class Story:
    """A run."""

    input: str | None
    output: str | None = None
    status: str = "success"
    tokens: int | None = None
    calls: list[Call] = field(default_factory=list)
    thoughts: list[str] = field(default_factory=list)
    """Texts and reasoning before a tool call or an answer."""
    is_sub_agent: bool = False
    session: str | None = None
    own_tokens: tuple[int, ...] = ()
    """Token counts of the requests that the agent makes for itself, which a channel may have."""


def places(folder: Path, channels: Sequence[str]) -> list[str]:
    """Return the files of some channels of a recording."""
    return [str(folder / CHANNELS[channel]) for channel in channels]


# ---------------------------------------------------------------------------------- the script


def scripted(situation: str, facts: dict[str, Any]) -> list[Story]:
    """Return the runs of a script, in the order of their starts."""
    script = SITUATIONS[situation]
    calls = {(call["turn"], n): call for n, call in _numbered(facts["calls"])}
    stories: list[Story] = []
    position = 0

    def play(prompt: str, answers: Sequence[ModelTurn | Failure], sub: bool) -> Story:
        nonlocal position
        story = Story(prompt, is_sub_agent=sub, tokens=0)
        stories.append(story)
        for answer in answers:
            if isinstance(answer, Failure):
                story.status = "error"
                continue
            story.status = "success"
            position += 1
            usage = answer.usage(position)
            assert story.tokens is not None
            story.tokens += usage.input + usage.output
            own = position
            story.thoughts += filter(None, [answer.reasoning])
            if answer.actions:
                story.thoughts += filter(None, [answer.text])
            else:
                story.output = answer.text
            report = calls.get((own, 0))
            if report is not None and not answer.actions:  # the tool that a sub-agent answers by
                told = Call(report["id"], report["tool"], report["arguments"], outcome="ok")
                story.calls.append(told)
            for n, action in enumerate(answer.actions):
                call = calls[own, n]
                story.calls.append(_scripted_call(action, call, script))
                if isinstance(action, Delegate):
                    play(action.prompt, action.turns, True)
        return story

    for prompt in script.prompts:
        play(prompt.text, prompt.answers, False)
    if script.kill:
        stories[0].status, stories[0].calls[-1].outcome = "in_progress", "open"
    own = [row for row in facts["requests"] if row["answer"] == "of the agent itself"]
    for story in stories:
        story.tokens = story.tokens or None
        story.own_tokens = tuple(
            row.get("input_tokens", 0) + row.get("output_tokens", 0) for row in own
        )
    return stories


def _numbered(calls: list[dict[str, Any]]) -> Iterator[tuple[int, dict[str, Any]]]:
    counts: dict[int, int] = {}
    for call in calls:
        if call["action"] != "own":
            number = counts.get(call["turn"], 0)
            counts[call["turn"]] = number + 1
            yield number, call


def _scripted_call(action: object, call: dict[str, Any], script: Situation) -> Call:
    told = Call(call["id"], call["tool"], call["arguments"], outcome="ok")
    if isinstance(action, Read):
        told.result = FILES[action.path]
    elif isinstance(action, Mcp):
        told.result = MCP_ANSWERS[str(action.arguments["key"])]
    elif isinstance(action, Shell):
        told.result = _OUTPUTS.get(action.command)
        if "exit 3" in action.command:
            told.outcome = "failed"
        if action.command.startswith(script.denied or ("\0",)):
            told.outcome = "denied"
    else:
        assert isinstance(action, (Edit, Delegate))
    return told


# --------------------------------------------------------------------------------- the rebuild


def rebuilt(files: Sequence[str]) -> list[Story]:
    """Return the runs that are rebuilt from files, in the order of their starts; a sub-agent's
    follow the run that it worked for."""
    source = open_spans(files)
    runs = sorted(rebuild(source.spans()), key=lambda run: run.document.get("started_at") or "")
    assert not source.problems, source.problems
    return list(map(_story, runs))


def _story(run: Rebuilt) -> Story:
    document = run.document
    results = {
        step["tool_result"].get("call_id"): step["tool_result"]
        for step in document["steps"]
        if step["type"] == "tool_result" and "timestamp" in step  # else it has not ended
    }
    story = Story(document.get("input"), document.get("output"), document["status"])
    story.session = document.get("session_id")
    story.is_sub_agent = "parent_trace_id" in document.get("metadata", {})
    story.tokens = document["metrics"].get("total_tokens")
    for step in document["steps"]:
        if step["type"] == "reasoning":
            story.thoughts.append(step["content"])
        elif step["type"] == "tool_call":
            call = step["tool_call"]
            story.calls.append(_call(call, results.get(call.get("id"))))
    return story


def _call(call: dict[str, Any], result: dict[str, Any] | None) -> Call:
    told = Call(call.get("id"), call["name"], call.get("arguments"), outcome="open")
    if result is not None:
        error, output = result.get("error"), result.get("output")
        told.result = output if isinstance(output, str) or output is None else json.dumps(output)
        succeeded = error is None and not result.get("exit_code")
        told.outcome = "ok" if succeeded else "failed"
        if isinstance(error, str) and error.startswith(_DENIED):
            told.outcome = "denied"
    return told


# ------------------------------------------------------------------------------ the comparison


def differences(expected: list[Story], found: list[Story], missing: frozenset[str]) -> list[str]:
    """Return where a rebuild differs from the script.

    Args:
        expected: the script's runs.
        found: the rebuilt runs.
        missing: fields that the channel does not have; where one is there, it has to be right.
    """
    if "some runs" in missing:
        expected = expected[: len(found)]
    if [story.is_sub_agent for story in expected] != [story.is_sub_agent for story in found]:
        return [f"{len(expected)} runs expected, got {found}"]
    different: list[str] = []

    def compare(where: str, name: str, wanted: object, got: object, same: bool) -> None:
        absent = got in (None, [], "")
        if not same and not (absent and name in missing):
            different.append(f"{where} {name}: expected {wanted!r}, got {got!r}")

    for n, (story, run) in enumerate(zip(expected, found, strict=True)):
        where = f"run {n}"
        for name in ("input", "output", "status", "tokens"):
            wanted, got = getattr(story, name), getattr(run, name)
            if name == "status" and "status" in missing and got == "in_progress":
                got = wanted  # its end is not there
            if name == "tokens" and "some tokens" in missing and got is None:
                got = wanted
            if name == "input" and "prompts of sub-agents" in missing and story.is_sub_agent:
                wanted = got
            same = wanted == got
            if name == "tokens" and got is not None:
                same = _may_be(got, story, "some tokens" in missing)
            same = same or f"false {name}" in missing
            compare(where, name, wanted, got, same)
        compare(where, "session", "one", run.session, run.session == found[0].session is not None)
        said = [text for text in story.thoughts if text not in run.thoughts]
        compare(where, "thoughts", said, run.thoughts, not said or "some thoughts" in missing)
        by_id = {call.id: call for call in run.calls}
        known = {call.id for call in story.calls}
        for call in story.calls:
            got_call = by_id.get(call.id)
            if got_call is None:
                compare(where, f"call {call.tool}", call.id, None, "calls" in missing)
                continue
            at = f"{where} call {call.id}"
            compare(at, "tool", call.tool, got_call.tool, call.tool == got_call.tool)
            wanted, got = call.arguments, got_call.arguments
            if "arguments" in missing and isinstance(got, dict):
                wanted = {name: wanted[name] for name in got if name in wanted}  # some of them
            same = _holds(got, wanted)
            compare(at, "arguments", call.arguments, got_call.arguments, same)
            same = call.result is None or call.result.strip() in (got_call.result or "")
            compare(at, "result", call.result, got_call.result, same)
            same = call.outcome == got_call.outcome
            if "outcome" in missing:  # an error that is not there, or not its kind
                same = same or got_call.outcome == "ok" or call.outcome == "denied"
            compare(at, "outcome", call.outcome, got_call.outcome, same)
        for other in run.calls:
            if other.id not in known and other.id is not None and other.id.startswith("call_0"):
                different.append(f"{where}: a call too many, {other}")
    return different


def _may_be(tokens: int, story: Story, less: bool) -> bool:
    """Return whether a token count is a story's, with any of the agent's own requests.

    Args:
        tokens: the count.
        story: the story.
        less: whether it may lack some.
    """
    counts = [(story.tokens or 0) + sum(story.own_tokens[:n])
              for n in range(len(story.own_tokens) + 1)]  # fmt: skip
    return tokens in counts or (less and tokens < counts[-1])


def _holds(got: Any, wanted: Any) -> bool:
    """Return whether arguments have all that was asked for; agents add some of their own."""
    if isinstance(got, dict) and isinstance(wanted, dict):
        return all(name in got and got[name] == value for name, value in wanted.items())
    return bool(got == wanted)
