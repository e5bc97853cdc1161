"""Reads trace files with agentevals-cli; runs where that is installed, not this project.

Source: agentevals-cli 0.11 `loader.auto.load_traces`, `genai.extract.extract_turns`.
"""

import json
import sys

from agentevals.genai.extract import extract_turns
from agentevals.loader.auto import load_traces


def last_text(messages):
    for message in reversed(messages):
        parts = message.get("parts") or [message]
        said = [part.get("content") for part in parts if part.get("type", "text") == "text"]
        if any(isinstance(item, str) for item in said):
            return "\n".join(item for item in said if isinstance(item, str))
    return None


def items(path):
    found = {
        name: []
        for name in (
            "tool calls",
            "arguments",
            "results",
            "errors",
            "LLM calls",
            "tokens",
            "input",
            "output",
            "sessions",
        )
    }
    found["handoffs"] = None
    for trace in load_traces(path):
        for turn in extract_turns(trace):
            found["LLM calls"].append([len(turn.llm_calls)])
            usage = [
                value
                for value in (turn.usage.input_tokens, turn.usage.output_tokens)
                if value is not None
            ]
            if usage:
                found["tokens"].append([sum(usage)])
            for aspect, messages in (("input", turn.user_input), ("output", turn.final_output)):
                said = last_text(messages)
                if said is not None:
                    found[aspect].append([said])
            if turn.conversation_id:
                found["sessions"].append([turn.conversation_id])
            for call in turn.tool_calls:
                found["tool calls"].append([call.name])
                if call.arguments is not None:
                    found["arguments"].append([call.name, call.arguments])
                if call.is_error:
                    told = call.error_type if call.result is None else call.result
                    found["errors"].append([call.name, told])
                if call.result is not None:
                    found["results"].append([call.name, call.result])
    return found


for path in sys.argv[1:]:
    try:
        line = {"path": path, "items": items(path)}
    except Exception as error:
        line = {"path": path, "reason": f"{type(error).__name__}: {error}".splitlines()[0]}
    print(json.dumps(line, default=str))
