"""Files as ToolSmith has them, written after its description: of 1.0, 1.1 and 0.1."""

from __future__ import annotations

from typing import Any

__all__ = ["CATEGORIES", "RUN", "RUN_0_1", "RUN_1_1", "TASKS", "TOOLS"]

Object = dict[str, Any]

CATEGORIES = (
    "wrong_tool",
    "missing_tool_call",
    "hallucinated_tool",
    "invalid_arguments",
    "missing_required_argument",
    "unnecessary_tool_call",
    "unsafe_tool_attempt",
    "should_have_asked_clarifying_question",
    "should_not_have_asked_clarifying_question",
    "unknown_error",
)

TOOLS: Object = {
    "name": "travel-desk",
    "version": "1.0.0",
    "description": "Tools of a travel desk.",
    "safety": {"network": False, "realSideEffects": False},
    "tools": [
        {
            "name": "book_train",
            "description": "Book a train. Nothing is booked.",
            "sideEffects": "mock-only",
            "requiresConfirmation": True,
            "examples": ["Book me a train to Lyon."],
            "inputSchema": {
                "type": "object",
                "properties": {"to": {"type": "string"}, "seats": {"type": "integer"}},
                "required": ["to"],
            },
            "outputSchema": {"type": "object"},
        },
        {
            "name": "cancel_train",
            "sideEffects": "destructive external side effect if connected to a real API",
            "inputSchema": {},
        },
        {"name": "look_up", "antiExamples": ["a member of a version to come"]},
    ],
}

TASKS: Object = {
    "name": "travel-desk",
    "version": "1.0.0",
    "tasks": [
        {
            "id": "to-lyon",
            "prompt": "I need to be in Lyon at noon.",
            "expectedTool": "book_train",
            "successCriteria": ["A train is booked.", "Nothing is cancelled."],
        },
        {"id": "thanks", "prompt": "Thank you!", "expectedTool": "none"},
        {"id": "bye", "prompt": "Bye.", "expectedTool": "None", "tags": ["smalltalk"]},
        {"id": "cancel", "prompt": "Cancel that.", "expectedTool": "cancel_train"},
    ],
}


def _result(
    task: Object, tool: str | None, category: str, arguments: Any = None, **more: Any
) -> Object:
    passed = category == "passed"
    call = {"toolName": tool, "arguments": arguments, "reason": f"It says {tool}."}
    return {
        "taskId": task["id"],
        "prompt": task["prompt"],
        "expectedTool": task["expectedTool"],
        "actualTool": tool,
        "passed": passed,
        "failureCategory": category,
        **({} if passed else {"failureReason": category}),
        "reason": "As expected." if passed else f"Expected {task['expectedTool']}, got {tool}.",
        "recommendation": "Nothing to do." if passed else "Say in the description when not to.",
        "toolCall": call if tool else None,
        **more,
    }


_TASK = TASKS["tasks"]
RUN: Object = {
    "id": "run-7d1",
    "version": "1.0.0",
    "createdAt": "2026-06-03T00:00:00.000Z",
    "examplePath": "examples/travel-desk",
    "toolsPath": "examples/travel-desk/tools.json",
    "tasksPath": "examples/travel-desk/tasks.json",
    "agent": {"name": "keyword-mock-agent", "version": "1.0.0"},
    "provider": {"name": "mock"},
    "summary": {
        "total": 4,
        "passed": 2,
        "failed": 2,
        "score": 50,
        "scoreBreakdown": {"correct_tool_selection": 75, "error_recovery": 100},
        "failureCategories": {"unnecessary_tool_call": 1, "wrong_tool": 1},
    },
    "results": [
        _result(_TASK[0], "book_train", "passed", {"to": "Lyon"}),
        _result(_TASK[1], None, "passed"),
        _result(_TASK[2], "look_up", "unnecessary_tool_call", {}),
        _result(_TASK[3], "book_train", "wrong_tool", {"to": ""}, suggestion="Rename it."),
    ],
}

RUN_1_1: Object = {
    **RUN,
    "version": "1.1.0",
    "agent": {"name": "openai-agent", "version": "1.1.0", "model": "a-model"},
    "provider": {"name": "openai", "model": "a-model"},
    "results": [
        _result(_TASK[0], None, "missing_tool_call", textResponse="Take the train at nine."),
        _result(_TASK[1], None, "passed", textResponse=""),
    ],
}

RUN_0_1: Object = {
    "id": "run-1",
    "version": "0.1.0",
    "createdAt": "2026-05-01T12:00:00Z",
    "results": [
        {
            "taskId": "to-lyon",
            "prompt": "I need to be in Lyon at noon.",
            "expectedTool": "book_train",
            "actualTool": None,
            "passed": False,
            "failureReason": "NO_TOOL_SELECTED",
        },
        {"taskId": "bye", "prompt": "Bye.", "expectedTool": "none", "passed": True},
    ],
}
