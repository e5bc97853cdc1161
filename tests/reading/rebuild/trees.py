"""Random span trees of agent runs, in every dialect that writes."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import strategies as st

from agentool_otel.dialects import writing_dialect
from agentool_otel.model.messages import message, reasoning, text, tool_call, tool_response
from agentool_otel.model.operations import (
    AgentInvocation,
    Inference,
    McpRequest,
    MemoryOperation,
    Operation,
    Retrieval,
    ToolExecution,
    Usage,
    WorkflowInvocation,
)
from agentool_otel.model.spans import SpanRecord

__all__ = ["DIALECTS", "SECOND", "TRACE", "span_trees"]

DIALECTS = ("gen_ai", "openinference", "traceloop")
TRACE = "0af7651916cd43dd8448eb211c80319c"
SECOND = 1_000_000_000


class _Grower:
    """Grows one OTel trace, each span a second after the one before."""

    def __init__(self, dialect: str, chance: random.Random):
        self.spans: list[SpanRecord] = []
        self._write = writing_dialect(dialect).write
        self._chance = chance
        self._clock = 1_700_000_000 * SECOND

    def grow(self) -> list[SpanRecord]:
        parent = None
        if self._chance.random() < 0.3:
            parent = self._add(WorkflowInvocation(workflow_name="crew"), None)
        for n in range(self._chance.choice([1, 1, 2])):
            self._agent(parent, f"agent {n}", depth=0)
            if parent is None:
                break
        return self.spans

    def _agent(self, parent: SpanRecord | None, name: str, depth: int) -> None:
        requests = [message("user", [text(f"question for {name}")])]
        texts = [message("assistant", [text(f"answer of {name}")])]
        root = self._add(AgentInvocation(agent_name=name, input=requests, output=texts), parent)
        history = list(requests)
        for _ in range(self._chance.randint(0, 3)):
            self._turn(root, history, depth)
        self._model(root, history, [text(f"answer of {name}")])
        root.end_ns = self._clock

    def _turn(self, root: SpanRecord, history: list[Any], depth: int) -> None:
        calls = [
            tool_call(self._chance.choice("abc"), {"n": len(self.spans), "of": n}, self._id(n))
            for n in range(self._chance.randint(0, 2))
        ]
        parts = [reasoning("hm")] if self._chance.random() < 0.5 else []
        self._model(root, history, [*parts, *calls] or [text("well")])
        for call in calls:
            result = {"done": call["arguments"]}
            self._tool(root, call, result)
            history.append(message("tool", [tool_response(result, call["id"])]))
        extra = self._chance.random()
        if extra < 0.15:
            self._add(Retrieval(query="q", documents=[{"id": "d"}]), root)
        elif extra < 0.3:
            self._add(MemoryOperation(operation="upsert_memory", record_id="k", content="v"), root)
        elif extra < 0.45 and depth < 2:
            self._agent(root, f"helper {len(self.spans)}", depth + 1)

    def _model(self, root: SpanRecord, history: list[Any], parts: list[Any]) -> None:
        answer = message("assistant", parts)
        usage = Usage(input_tokens=len(history), output_tokens=1)
        self._add(Inference(provider="p", input=list(history), output=[answer], usage=usage), root)
        history.append(answer)

    def _tool(self, root: SpanRecord, call: Any, result: Any) -> None:
        shown = self._chance.random()
        if shown < 0.2:
            return  # told by messages only
        call_id = call["id"] if shown < 0.8 else None
        execution = ToolExecution(
            name=call["name"], call_id=call_id, arguments=call["arguments"], result=result
        )
        tool = self._add(execution, root)
        if shown > 0.9:
            name, arguments = call["name"], call["arguments"]
            self._add(McpRequest(tool_name=name, arguments=arguments, result=result), tool)

    def _id(self, n: int) -> str:
        return f"call_{len(self.spans)}_{n}"

    def _add(self, operation: Operation, parent: SpanRecord | None) -> SpanRecord:
        name, kind, attributes = self._write(operation)
        self._clock += SECOND
        span = SpanRecord(
            trace_id=TRACE,
            span_id=f"{len(self.spans) + 1:016x}",
            parent_id=parent.span_id if parent else None,
            name=name,
            kind=kind,
            start_ns=self._clock,
            end_ns=self._clock + SECOND,
            attributes=attributes,
            scope="some.sdk",
        )
        self.spans.append(span)
        return span


def span_trees(dialect: str) -> st.SearchStrategy[list[SpanRecord]]:
    """Return the spans of one OTel trace with one or more runs in it."""
    return st.randoms(use_true_random=False).map(lambda chance: _Grower(dialect, chance).grow())
