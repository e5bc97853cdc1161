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
        contents = [part.get("content") for part in parts if part.get("type", "text") == "text"]
        if any(isinstance(item, str) for item in contents):
            return "\n".join(item for item in contents if isinstance(item, str))
    return None


def items(path):
    results = {
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
    results["handoffs"] = None
    for trace in load_traces(path):
        for turn in extract_turns(trace):
            results["LLM calls"].append([len(turn.llm_calls)])
            usage = [
                value
                for value in (turn.usage.input_tokens, turn.usage.output_tokens)
                if value is not None
            ]
            if usage:
                results["tokens"].append([sum(usage)])
            for aspect, messages in (("input", turn.user_input), ("output", turn.final_output)):
                text = last_text(messages)
                if text is not None:
                    results[aspect].append([text])
            if turn.conversation_id:
                results["sessions"].append([turn.conversation_id])
            for call in turn.tool_calls:
                results["tool calls"].append([call.name])
                if call.arguments is not None:
                    results["arguments"].append([call.name, call.arguments])
                if call.is_error:
                    error_type = call.error_type if call.result is None else call.result
                    results["errors"].append([call.name, error_type])
                if call.result is not None:
                    results["results"].append([call.name, call.result])
    return results


for path in sys.argv[1:]:
    try:
        line = {"path": path, "items": items(path)}
    except Exception as error:
        line = {"path": path, "reason": f"{type(error).__name__}: {error}".splitlines()[0]}
    print(json.dumps(line, default=str))
