"""Claude Code's session files: `~/.claude/projects/<folder>/<session>.jsonl`, events line by line.

    {"type": "user", "message": {"role", "content"}, "promptId", "uuid", "sessionId", "timestamp"}
    {"type": "assistant", "message": {"id", "model", "content", "stop_reason", "usage"},
     "requestId"}
    {"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id", "content",
     "is_error"}]}, "toolUseResult", "permissionDecision"}

- A message of the model is a line for each of its blocks, each with all of its usage.
- A sub-agent has a file of its own, `<session>/subagents/agent-<id>.jsonl`, whose lines have
  `agentId`. `agent-<id>.meta.json` beside it has its type, the id of the tool call that started it,
  and that of the sub-agent which made this call. The result of the call in the main file has the
  sub-agent's id, that in a sub-agent's file has not.
- A result is what the model was sent, and `toolUseResult` what the tool returned, as spans have it.
- A user's line with `<task-notification>` is Claude Code's: background work has ended.
- Lines of other types hold requests, notes and totals, and are no events of the session.

Source: files of Claude Code 2.1.330 and 2.1.332.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from msgspec import UNSET

from agentool_otel.dialects.kit.provider_messages import messages_from
from agentool_otel.dialects.kit.session_entries import DENIED
from agentool_otel.ground import json_codec
from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.ownership import open_regular
from agentool_otel.integrations.claude_code.events.names import AGENT, FILE, is_notification
from agentool_otel.model.messages import message, only_block, text
from agentool_otel.model.operations import AgentInvocation, Inference, ToolExecution, Usage
from agentool_otel.model.spans import SpanRecord
from agentool_otel.providers.finish_reasons import finish_reason
from agentool_otel.reading.sources.session_spans import SessionSpans, count_or_none
from agentool_otel.reading.sources.stores import values as v
from agentool_otel.reading.sources.stores.store_format import Object

__all__ = ["ClaudeCodeSession"]

_WITHOUT_SESSION = frozenset({"file-history-snapshot", "summary"})
_LINE = re.compile(r"[a-z]+(-[a-z]+)*")
_OTHERS = frozenset({"projectHash", "traceId", "name", "kind", "payload"})
"""Members that the lines of no type have, but objects of others with `sessionId` and `type`."""
_EXIT_CODE = re.compile(r"Exit code (\d+)\n?")
_INTERRUPTED = "[Request interrupted by user"
_LOCAL_OUTPUT = "<local-command-stdout>"
_TAG = re.compile(r"</?local-command-stdout>")
_API_ERROR = re.compile(r"API Error: (\d+ )?")
_LINE_NUMBER = re.compile(r"\s*(\d+)\t(.*)")
_LARGEST_METADATA = 1 << 20
_NO_API = "<synthetic>"
"""Model of a message that Claude Code has written itself."""


class ClaudeCodeSession:
    """Turns the lines of one file into spans, in their order."""

    name = "sessions of Claude Code"
    members = ("sessionId", "leafUuid")

    def __init__(self) -> None:
        self._spans = SessionSpans(FILE, AGENT)
        self._turn: list[SpanRecord] = []
        """The spans of the turn that is under way."""
        self._prompt: dict[str | None, str] = {}
        """By sub-agent, the id of its prompt."""
        self._last_ns: dict[str | None, int] = {}
        """By sub-agent, the time of its last line that a model answers."""
        self._message: list[Object] = []
        """The lines of the message that is under way."""
        self._message_ns: int | None = None
        """The time of what it answers."""
        self._calls: dict[str, tuple[ToolExecution, str, str | None, int | None]] = {}
        """By id, calls without a result, each with its turn, its sub-agent and its start."""
        self._about: Object = {}
        """The metadata beside a sub-agent's file."""

    def read_beside(self, file: Path) -> None:
        """Read the metadata of a sub-agent; a file without any is a session's."""
        try:
            with open(open_regular(file.with_suffix(".meta.json")), "rb") as stream:
                self._about = v.obj(json_codec.loads(stream.read(_LARGEST_METADATA)))
        except (OSError, ValueError):
            self._about = {}

    @staticmethod
    def recognises(event: Object) -> bool:
        """Return whether an object is a line of such a file."""
        kind = event.get("type")
        if not isinstance(kind, str):
            return "agentType" in event and "toolUseId" in event  # beside a sub-agent's file
        if not isinstance(event.get("sessionId"), str):
            return kind in _WITHOUT_SESSION and ("leafUuid" in event or "messageId" in event)
        if "uuid" in event:
            return "isSidechain" in event and "parts" not in v.obj(event.get("message"))
        is_line = _LINE.fullmatch(kind) is not None
        return is_line and _OTHERS.isdisjoint(event)

    def spans(self, event: Object) -> Iterator[SpanRecord]:
        """Yield the spans that a line completes."""
        kind, part = event.get("type"), v.obj(event.get("message"))
        if kind == "assistant" and (part.get("model") != _NO_API or event.get("isApiErrorMessage")):
            if self._message and _message_id(event) != _message_id(self._message[0]):
                self._end_message()
            self._add_to_message(event, part)
        elif kind == "user" and not (event.get("isMeta") or event.get("isCompactSummary")):
            yield from self._read_user(event, part.get("content"))

    def rest(self) -> Iterator[SpanRecord]:
        """Yield the spans that were still open at the end of the file."""
        self._end_message()
        for call_id, (call, turn, agent, start_ns) in self._calls.items():
            self._turn.append(self._tool(call, call_id, turn, agent, start_ns, None))
        self._calls.clear()
        yield from self._turn
        self._turn = []

    def _read_user(self, event: Object, content: Any) -> Iterator[SpanRecord]:
        results = [block for block in map(v.obj, v.array(content)) if _is_result(block)]
        words = _words(content)
        if results:
            for block in results:
                self._end_call(event, block)
        elif words.startswith(_INTERRUPTED):
            self._end_turn(event, error_type="interrupted", error_message=words.strip("[]"))
            return
        elif words.startswith(_LOCAL_OUTPUT):
            printed = _TAG.sub("", words).strip()
            self._end_turn(event, output=[message("assistant", [text(printed)])])
            return
        elif is_notification(words) and _agent(event) in self._prompt:
            self._end_message()  # the model answers in the turn that is under way
        else:
            yield from self._start_turn(event, content, words)
        self._last_ns[_agent(event)] = v.time_ns(event.get("timestamp")) or 0

    def _start_turn(self, event: Object, content: Any, words: str) -> Iterator[SpanRecord]:
        """Begin a turn, and yield the spans of the one before. Of prompts with one id, all but the
        last are copies from the session that this one was forked from, whose file has them."""
        self._end_message()
        session, agent = v.text(event.get("sessionId")), _agent(event)
        prompt_id = v.text(event.get("promptId")) or v.text(event.get("uuid"))
        if agent is not None or self._prompt.get(agent) != prompt_id:
            yield from self._turn
        else:
            self._calls.clear()
        self._turn = []
        self._prompt[agent] = prompt_id
        if command := _command_in(words):
            prompt = [message("user", [text(command)])]
        elif isinstance(content, str):
            prompt = [message("user", [text(content)])] if content else []
        else:
            prompt = messages_from([{"role": "user", "content": content}], "user")
        operation = AgentInvocation(
            agent_name=AGENT if agent is None else v.text(self._about.get("agentType")) or None,
            conversation_id=session,
            input=prompt or None,
        )
        names = {"prompt.id": prompt_id, "agent_id": agent, "cwd": event.get("cwd")}
        if agent is not None:
            names["tool_use_id"] = v.text(self._about.get("toolUseId")) or None
            names["parent_agent_id"] = v.text(self._about.get("parentAgentId")) or None
        start_ns = v.time_ns(event.get("timestamp"))
        self._turn.append(
            self._spans.span(operation, prompt_id, agent or "", start_ns, None, names)
        )

    def _end_turn(self, event: Object, **fields: Any) -> None:
        """Add what a line of Claude Code's own says of the end of a turn."""
        self._end_message()
        agent = _agent(event)
        prompt_id = self._prompt.get(agent) or v.text(event.get("promptId"))
        operation = AgentInvocation(conversation_id=v.text(event.get("sessionId")), **fields)
        end_ns = v.time_ns(event.get("timestamp"))
        names = {"prompt.id": prompt_id, "agent_id": agent}
        key = f"{agent or ''}\0end"
        self._turn.append(self._spans.span(operation, prompt_id, key, None, end_ns, names))

    def _add_to_message(self, event: Object, part: Object) -> None:
        """Add a line to the message that is under way, and keep the tools that it asks for."""
        agent = _agent(event)
        if not self._message:
            self._message_ns = self._last_ns.get(agent)
        self._message.append(event)
        turn = self._prompt.get(agent) or v.text(event.get("sessionId"))
        for block in map(v.obj, v.array(part.get("content"))):
            if block.get("type") == "tool_use" and (call_id := v.text(block.get("id"))):
                asked = ToolExecution(
                    name=v.text(block.get("name")),
                    call_id=call_id,
                    arguments=block.get("input", UNSET),
                    conversation_id=v.text(event.get("sessionId")),
                )
                at_ns = v.time_ns(event.get("timestamp"))
                self._calls[call_id] = (asked, turn, agent, at_ns)

    def _end_message(self) -> None:
        """Add the model call whose lines have been read."""
        lines, self._message = self._message, []
        if not lines:
            return
        first, last = lines[0], lines[-1]
        agent, session = _agent(first), v.text(first.get("sessionId"))
        turn = self._prompt.get(agent) or session
        parts = [v.obj(line.get("message")) for line in lines]
        content = [block for part in parts for block in v.array(part.get("content"))]
        end_ns = v.time_ns(last.get("timestamp"))
        request = v.text(first.get("requestId")) or None
        names = {"prompt.id": turn, "agent_id": agent, "request_id": request}
        call = _model_call(first, parts[-1], content, session)
        key, start_ns = request or _message_id(first), self._message_ns or end_ns
        self._turn.append(self._spans.span(call, turn, key, start_ns, end_ns, names))

    def _end_call(self, event: Object, block: Object) -> None:
        call_id = v.text(block.get("tool_use_id"))
        agent, session = _agent(event), v.text(event.get("sessionId"))
        end_ns = v.time_ns(event.get("timestamp"))
        turn = self._prompt.get(agent) or session
        known = ToolExecution(name="", call_id=call_id, conversation_id=session)
        call, turn, agent, start_ns = self._calls.pop(call_id, (known, turn, agent, end_ns))
        returned = event.get("toolUseResult")
        started = v.text(v.obj(returned).get("agentId"))
        if started:
            self._turn.append(self._sub_agent(started, call, turn, call_id, end_ns))
        self._turn.append(self._tool(call, call_id, turn, agent, start_ns, end_ns, event, block))

    def _sub_agent(
        self, agent: str, call: ToolExecution, turn: str, call_id: str, at_ns: int | None
    ) -> SpanRecord:
        """Return the span that places a sub-agent below the call that started it."""
        named = v.obj(call.arguments).get("subagent_type")
        operation = AgentInvocation(
            agent_name=v.text(named) or None, conversation_id=call.conversation_id
        )
        names = {"agent_id": agent, "tool_use_id": call_id, "prompt.id": turn}
        return self._spans.span(operation, turn, f"{agent}\0{call_id}", at_ns, None, names)

    def _tool(
        self,
        call: ToolExecution,
        call_id: str,
        turn: str,
        agent: str | None,
        start_ns: int | None,
        end_ns: int | None,
        event: Object | None = None,
        block: Object | None = None,
    ) -> SpanRecord:
        names: dict[str, Any] = {"prompt.id": turn, "agent_id": agent, "tool_use_id": call_id}
        if event is not None and block is not None:
            call, exit_code = _ended(call, event, block)
            names["process.exit.code"] = exit_code
        return self._spans.span(call, turn, call_id, start_ns, end_ns, names)


def _agent(event: Object) -> str | None:
    return v.text(event.get("agentId")) or None


def _message_id(event: Object) -> str:
    return v.text(v.obj(event.get("message")).get("id")) or v.text(event.get("uuid"))


def _is_result(block: Object) -> bool:
    return block.get("type") == "tool_result"


def _model_call(event: Object, part: Object, content: list[Any], session: str) -> Inference:
    """Return the operation of a message, or of a request that failed."""
    model = v.text(part.get("model"))
    if event.get("isApiErrorMessage"):
        words = "\n".join(v.text(v.obj(block).get("text")) for block in content)
        words = _API_ERROR.sub("", words)
        status = event.get("apiErrorStatus")
        kind = str(status) if isinstance(status, int) else v.text(event.get("error")) or "_OTHER"
        return Inference(
            provider="anthropic", error_type=kind, error_message=words, conversation_id=session
        )
    reason = finish_reason(part.get("stop_reason"))
    output = messages_from([{"role": "assistant", "content": content}], "assistant")
    return Inference(
        provider="anthropic",
        request_model=None if model == _NO_API else model or None,
        response_model=None if model == _NO_API else model or None,
        output=output or [message("assistant", [text("")])],
        finish_reasons=[reason] if reason else None,
        usage=_usage(v.obj(part.get("usage"))),
        conversation_id=session,
    )


def _usage(counts: Object) -> Usage | None:
    """Return token counts: those of the input exclude cached ones, as of Anthropic's API."""
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
    parts = [count_or_none(counts.get(name)) for name in names]
    known = [count for count in parts if count is not None]
    details = v.obj(counts.get("output_tokens_details"))
    if not known and count_or_none(counts.get("output_tokens")) is None:
        return None
    return Usage(
        input_tokens=sum(known) if known else None,
        output_tokens=count_or_none(counts.get("output_tokens")),
        cache_read_tokens=parts[1],
        cache_write_tokens=parts[2],
        reasoning_tokens=count_or_none(details.get("thinking_tokens")),
    )


def _ended(call: ToolExecution, event: Object, block: Object) -> tuple[ToolExecution, int | None]:
    """Return a call with its outcome, and the exit code of a command."""
    from msgspec.structs import replace

    sent = only_block(block.get("content"))
    decision = v.obj(event.get("permissionDecision")).get("decision")
    if decision in ("reject", "deny"):
        words = sent if isinstance(sent, str) else None
        return replace(call, error_type=DENIED, error_message=words), None
    if block.get("is_error") is True:
        words = sent if isinstance(sent, str) else None
        code = _EXIT_CODE.match(words or "")
        failed = replace(call, error_type="tool_error", error_message=words)
        return failed, int(code[1]) if code else None
    returned = event.get("toolUseResult")
    exit_code = 0 if call.name == "Bash" and _has_ended(v.obj(returned)) else None
    result = _returned(returned, sent)
    if call.name == "Read" and isinstance(result, str):
        result = _without_line_numbers(result)
    return replace(call, result=result), exit_code


def _has_ended(returned: Object) -> bool:
    """Return whether a command has ended by itself: it may go on in the background."""
    return not (returned.get("interrupted") or returned.get("backgroundTaskId"))


def _command_in(words: str) -> str:
    """Return a command of Claude Code's own with its arguments, such as `/compact`; "" for any
    other text."""
    if not words.lstrip().startswith(("<command-name>", "<command-message>")):
        return ""
    return f"{_between(words, 'command-name')} {_between(words, 'command-args')}".strip()


def _between(words: str, tag: str) -> str:
    inside, end, _ = words.partition(f"<{tag}>")[2].partition(f"</{tag}>")
    return inside.strip() if end else ""


def _words(content: Any) -> str:
    """Return the text of a user's line."""
    if isinstance(content, str):
        return content
    return "\n".join(v.text(v.obj(block).get("text")) for block in v.array(content))


def _without_line_numbers(text: str) -> str:
    """Return the lines of a file as they are, of a text that numbers them for the model."""
    lines = [_LINE_NUMBER.fullmatch(line) for line in text.split("\n")]
    found = [line for line in lines if line is not None]
    first = int(found[0][1]) if found else 0
    if len(found) < len(lines) or [int(line[1]) - first for line in found] != [*range(len(found))]:
        return text
    return "\n".join(line[2] for line in found)


def _returned(returned: Any, sent: Any) -> Any:
    """Return what a tool returned, as Claude Code's spans have it; else what the model was sent."""
    match returned:
        case {"file": {"content": str(content)}}:
            return content
        case {"structuredPatch": list(patch)} if patch:
            return patch
        case {"stdout": str(out), "stderr": str(errors)}:
            return "\n".join(filter(None, (out, errors)))
        case _:
            return sent
