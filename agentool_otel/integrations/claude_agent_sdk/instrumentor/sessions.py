"""One connection to the CLI: its frames, and the runs of agents in them.

The frames are read where they arrive, before the SDK has parsed them: they have more members than
its messages, and the program may read those late or never.
"""

from __future__ import annotations

from time import time_ns
from typing import Any

from opentelemetry.context import Context, attach, create_key, get_current, set_value

from agentool_otel.integrations.claude_agent_sdk.instrumentor import values
from agentool_otel.integrations.claude_agent_sdk.instrumentor.agents import Agent, Tool
from agentool_otel.model.denials import DENIED
from agentool_otel.model.messages import Message, message, text
from agentool_otel.providers.fields import get, items, plain_text, record, string
from agentool_otel.tracing.capture.context import inject
from agentool_otel.tracing.spans.attaching import restore
from agentool_otel.tracing.spans.settings import guarded
from agentool_otel.tracing.spans.step_spans import StepSpan

__all__ = ["Session", "current_session"]

_SESSION_KEY = create_key("agentool-otel-claude-agent-sdk-session")
_ENDED = {"completed": None, "failed": "failed", "stopped": "stopped", "killed": "stopped"}
"""By the status of a task that is over, what is wrong with it."""
_SYNTHETIC = "<synthetic>"
"""Model of a message that the CLI has written itself."""
_READING = "reading a frame of the Claude Code CLI"


def current_session() -> Session | None:
    """Return the connection that the current code opens."""
    session = get_current().get(_SESSION_KEY)
    return session if isinstance(session, Session) else None


class Session:
    """A connection to the CLI.

    Args:
        options: `ClaudeAgentOptions`.
        single: whether it is one run, of one prompt, until it closes; else each prompt is a run
            that ends with its result.
    """

    def __init__(self, options: Any, single: bool):
        self.options = options
        self.single = single
        self.run: Agent | None = None
        self.follows_iterator = False
        """Whether the iterator of `query()` ends it."""
        self.hides_events = False
        """Whether the program has not asked for the events of streams, which we read."""
        self.hides_texts = False
        """Whether the program has not asked for the texts of sub-agents, which we read."""
        self._parent: Context = get_current()
        self._id = values.session_id(options)
        self._model = string(options, "model")
        self._names: Any = None
        self._listed: dict[str, dict[str, Any]] = {}
        self._history: list[Message] = []
        self._prompts: list[Message] = []
        self._tools: dict[str, Tool] = {}
        self._requested: dict[str, tuple[Agent, Any]] = {}
        """By id, calls in a message that goes on, and the agent whose they are."""
        self._tasks: dict[str, str] = {}
        self._rejected: set[str | None] = set()
        self._asked: dict[str, str] = {}
        self._closed = False
        self._reported = False
        """Whether the CLI has reported the end of a single run: its program may leave then."""
        self._interrupted: str | None = None

    def context(self) -> Context:
        """Return the context in which the SDK works for it."""
        parent = self._parent if self.run is None else self.run.step.context
        return set_value(_SESSION_KEY, self, parent)

    # ---- the program's side
    def prompt(self, prompt: Any, parent: Context | None = None) -> None:
        """Take a prompt: the input of the run that it begins, or of the next one."""
        words = values.prompt_of(prompt)
        if words is None or self._closed:
            return
        if self.run is None:
            self.begin([words], parent)
        elif not self.run.prompted:
            self.run.prompt(words)
        else:
            self._prompts.append(words)

    def begin(self, prompts: list[Message], parent: Context | None = None) -> Agent:
        """Begin the run of the main agent."""
        self.run = Agent(
            self._parent if parent is None else parent,
            name=values.agent_name(self.options),
            model=self._model,
            conversation_id=self._id,
            system=values.instructions(get(self.options, "system_prompt")),
            history=self._history,
            prompts=prompts,
            at_ns=time_ns(),
        )
        self.run.tools = values.offered_tools(self._names, self._listed)
        return self.run

    # ---- the CLI's side
    def hides(self, frame: Any) -> bool:
        """Return whether a frame is there for us alone."""
        kind = string(frame, "type")
        if self.hides_events:
            if kind == "stream_event":
                return True
            if kind == "system" and string(frame, "subtype") == "status":
                return string(frame, "status") == "requesting"
        if self.hides_texts and kind == "assistant" and string(frame, "parent_tool_use_id"):
            blocks = items(get(frame, "message"), "content")
            kinds = {string(block, "type") for block in blocks}
            return bool(kinds) and kinds <= {"text", "thinking", "redacted_thinking"}
        return False

    def read(self, frame: Any) -> None:
        """Read a frame that the CLI has written."""
        if self._closed:
            return
        with guarded(_READING):
            self._read(frame, time_ns())

    def _read(self, frame: Any, at_ns: int) -> None:
        kind = string(frame, "type")
        if kind == "control_request":
            self._control_request(frame)
            return
        session_id = string(frame, "session_id")
        if session_id and kind in ("system", "assistant", "result"):
            self._id = session_id
            if self.run is not None:
                self.run.identify(session_id)
        match kind:
            case "stream_event":
                agent = self._agent(string(frame, "parent_tool_use_id"), at_ns)
                agent.event(get(frame, "event"), at_ns)
                if agent.call is None:
                    self._begin_tools()
            case "assistant":
                self._assistant(frame, at_ns)
            case "user":
                self._user(frame, at_ns)
            case "system":
                self._system(frame, at_ns)
            case "result":
                self._result(frame)
            case _:
                pass

    def _agent(self, tool_id: str | None, at_ns: int) -> Agent:
        """Return the agent that a frame is of; it begins if it has not."""
        tool = None if tool_id is None else self._tool(tool_id)
        if tool is not None:
            return tool.agent or self._delegate(tool, None, at_ns)
        if self.run is None:
            prompts, self._prompts = self._prompts, []
            return self.begin(prompts)
        return self.run

    def _delegate(self, tool: Tool, frame: Any, at_ns: int) -> Agent:
        """Begin the sub-agent that a tool runs."""
        name = string(frame, "subagent_type") or string(tool.arguments, "subagent_type")
        prompt = string(frame, "prompt") or string(tool.arguments, "prompt")
        definition = values.agent_definition(self.options, name)
        model = string(definition, "model") or "inherit"
        tool.agent = Agent(
            tool.step.context,
            name=name,
            description=string(definition, "description"),
            model=self._model if definition is not None and model == "inherit" else None,
            conversation_id=self._id,
            system=values.instructions(string(definition, "prompt")),
            prompts=[message("user", [text(prompt)])] if prompt else [],
            at_ns=at_ns,
        )
        return tool.agent

    def _system(self, frame: Any, at_ns: int) -> None:
        match string(frame, "subtype"):
            case "init":
                self._model = string(frame, "model") or self._model
                self._names = get(frame, "tools")
                run = self._agent(None, at_ns)
                run.ready(at_ns)
                run.model = self._model
                run.tools = values.offered_tools(self._names, self._listed)
            case "status" if string(frame, "status") == "requesting":
                self._agent(None, at_ns).requested(at_ns)
            case "permission_denied":
                self._rejected.add(string(frame, "tool_use_id"))
            case "compact_boundary":
                self._history.clear()
            case "task_started":
                self._task_started(frame, at_ns)
            case "task_notification":
                self._task_ended(frame, string(frame, "status"), at_ns)
            case "task_updated":
                self._task_ended(frame, string(get(frame, "patch"), "status"), at_ns)
            case _:
                pass

    def _task_started(self, frame: Any, at_ns: int) -> None:
        task_id, tool_id = string(frame, "task_id"), string(frame, "tool_use_id")
        tool = self._tool(tool_id)
        if task_id is None or tool is None or not tool.delegates:
            return
        self._tasks[task_id] = tool.call_id
        if tool.agent is None:
            self._delegate(tool, frame, at_ns)

    def _task_ended(self, frame: Any, status: str | None, at_ns: int) -> None:
        tool = self._tools.get(self._tasks.get(string(frame, "task_id") or "", ""))
        if tool is None or tool.agent is None or status not in _ENDED:
            return
        failure = _ENDED[status]
        if failure == "failed":
            tool.agent.step.set(error_type=failure)
        if not tool.waits:  # else the result of the tool follows, with the last token counts
            _finish(tool.agent, interrupted=failure if failure == "stopped" else None)
            self._tools.pop(tool.call_id, None)

    def _assistant(self, frame: Any, at_ns: int) -> None:
        envelope = get(frame, "message")
        agent = self._agent(string(frame, "parent_tool_use_id"), at_ns)
        failure = string(frame, "api_error_type") or string(frame, "error")
        if failure is not None:
            blocks = items(envelope, "content")
            words = "\n".join(filter(None, (string(block, "text") for block in blocks)))
            agent.failed(failure, words or None, at_ns)
            return
        if string(envelope, "model") == _SYNTHETIC:
            return
        agent.blocks(envelope, at_ns)
        for block in items(envelope, "content"):
            call_id = string(block, "id")
            if string(block, "type") == "tool_use" and call_id is not None:
                self._requested[call_id] = (agent, block)
        if not agent.streams:
            self._begin_tools()

    def _begin_tools(self) -> None:
        """Begin the tools that a complete message requests."""
        for call_id in list(self._requested):
            self._tool(call_id)

    def _tool(self, call_id: str | None) -> Tool | None:
        """Return a tool under way; it begins now if the model's message goes on meanwhile."""
        agent, block = self._requested.pop(call_id or "", (None, None))
        if agent is not None:
            listed = self._listed.get(string(block, "name") or "")
            tool = agent.tool(block, string(listed, "description"))
            if tool is not None:
                self._tools[tool.call_id] = tool
        return self._tools.get(call_id or "")

    def _user(self, frame: Any, at_ns: int) -> None:
        self._rejected |= values.rejected_ids(frame)
        for block in values.result_blocks(frame):
            tool = self._tool(string(block, "tool_use_id"))
            if tool is not None:
                self._returned(tool, block, get(frame, "tool_use_result"), at_ns)

    def _returned(self, tool: Tool, block: Any, structured: Any, at_ns: int) -> None:
        """End a tool with its result."""
        result = values.report_of(structured) if tool.delegates else None
        result = values.result_of(block) if result is None else result
        tool.owner.returned(tool.call_id, result, at_ns)
        failed = get(block, "is_error") is True
        rejected = tool.call_id in self._rejected or (failed and values.is_refusal(result))
        if failed or rejected:
            self._rejected.discard(tool.call_id)
            tool.step.set(error_type=DENIED if rejected else "tool_error")
            tool.step.add(lambda: {"error_message": plain_text(result)})
        else:
            tool.step.add(result=result)
        in_background = string(structured, "status") == "async_launched"
        if tool.agent is not None and not in_background:
            tool.agent.reported(structured, at_ns)
            _finish(tool.agent)
        tool.step.end()
        if in_background and tool.agent is not None:
            tool.waits = False
        else:
            self._tools.pop(tool.call_id, None)

    def _result(self, frame: Any) -> None:
        """End a run, or note how a single one ends that goes on until the connection closes."""
        run = self._agent(None, time_ns())
        reason = string(frame, "terminal_reason") or ""
        interrupted = "interrupted" if reason.startswith("aborted") else None
        failed = (
            get(frame, "is_error") is True or (string(frame, "subtype") or "success") != "success"
        )
        if failed and interrupted is None:  # the CLI puts the text of the error in `result`
            run.step.set(error_type=values.failure_of(frame))
            run.step.add(lambda: {"error_message": string(frame, "result")})
        else:
            run.step.add(lambda: {"output": values.final_output(frame)})
        if self.single:
            run.end_call(interrupted=interrupted)
            self._reported = True
            self._interrupted = interrupted
            return
        self._end_tools(run, interrupted)
        run.end(interrupted=interrupted)
        self.run = None

    def _end_tools(self, owner: Agent | None, interrupted: str | None) -> None:
        """End the tools of an agent, or all, that have not returned."""
        self._begin_tools()
        for tool in list(self._tools.values()):
            if owner is not None and (tool.owner is not owner or not tool.waits):
                continue
            if tool.agent is not None:
                self._end_tools(tool.agent, interrupted)
                _finish(tool.agent, interrupted=interrupted or "closed")
            tool.step.end(interrupted=interrupted or "closed")
            self._tools.pop(tool.call_id, None)

    # ---- control requests
    def _control_request(self, frame: Any) -> None:
        """Note which call a request for permission is about."""
        request = get(frame, "request")
        tool_id, request_id = string(request, "tool_use_id"), string(frame, "request_id")
        if string(request, "subtype") == "can_use_tool" and tool_id and request_id:
            self._asked[request_id] = tool_id

    def answered(self, frame: Any) -> None:
        """Read the program's answer to a request of the CLI."""
        response = get(frame, "response")
        tool_id = self._asked.pop(string(response, "request_id") or "", None)
        if tool_id is not None and string(get(response, "response"), "behavior") == "deny":
            self._rejected.add(tool_id)

    def listed(self, server: str, response: Any) -> None:
        """Note the tools that a server in this process lists."""
        for tool in items(get(response, "result"), "tools"):
            members = record(tool)
            name = string(tool, "name")
            if members is not None and name is not None:
                self._listed[f"mcp__{server}__{name}"] = members
        if self.run is not None and self._names is not None:
            self.run.tools = values.offered_tools(self._names, self._listed)

    def joined(self, request: Any) -> tuple[Context | None, Any]:
        """Return the context of a request to a server in this process, and the request with it."""
        params = record(get(request, "params"))
        if string(request, "method") != "tools/call" or params is None:
            return None, request
        meta = record(params.get("_meta")) or {}
        step = self._tool_step(string(meta, "claudecode/toolUseId"), params)
        if step is None or not step.recording:
            return None, request
        carrier: dict[str, str] = {}
        token = attach(step.context)
        inject(carrier)
        restore(token)
        joined = {**request, "params": {**params, "_meta": {**meta, **carrier}}}
        return step.context, joined

    def _tool_step(self, call_id: str | None, params: dict[str, Any]) -> StepSpan | None:
        tool = self._tool(call_id)
        if tool is None and call_id is None:
            self._begin_tools()
            name, arguments = string(params, "name") or "", params.get("arguments")
            fitting = [
                item
                for item in self._tools.values()
                if item.name.endswith(f"__{name}") and item.arguments == arguments
            ]
            tool = fitting[0] if len(fitting) == 1 else None
        return None if tool is None else tool.step

    # ---- its end
    def close(self, error: BaseException | None = None, interrupted: str | None = None) -> None:
        """End everything that is open: the connection is closed."""
        if self._closed:
            return
        self._closed = True
        if self._reported:  # leaving a run that has ended is no interruption
            interrupted = self._interrupted
        with guarded("finishing a run of an agent"):
            self._end_tools(None, interrupted if error is None else type(error).__name__)
            run, self.run = self.run, None
            if run is not None:
                run.end(error, interrupted=interrupted)


def _finish(agent: Agent, interrupted: str | None = None) -> None:
    """End a sub-agent with its last message as its output."""
    agent.end_call(interrupted=interrupted) if interrupted else agent.end_call()
    agent.end(interrupted=interrupted, output=None if agent.output is None else [agent.output])
