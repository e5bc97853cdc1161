"""What tools of Codex returned, in the words that the model was sent.

    Chunk ID: 4c80a3
    Wall time: 0.0000 seconds
    Process exited with code 3
    Output:
    the check is broken

Source: records of Codex 0.169.0 and 0.171.0.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from agentool_otel.dialects.kit.session_entries import DENIED
from agentool_otel.ground import lazy_re as re
from agentool_otel.model.operations import ToolExecution

__all__ = ["ended", "exit_code_in", "output_text"]

_HEADER = re.compile(r"(?:(?:Chunk ID|Wall time|Exit code|Original token count): [^\n]*\n|"
                     r"Process exited with code -?\d+\n)+Output:(?:\n|\Z)")  # fmt: skip
_EXIT_CODE = re.compile(r"(?:Process exited with code|Exit code:) (-?\d+)$", re.MULTILINE)
_FAILED = re.compile(
    r"(?:apply_patch verification failed|failed to parse function arguments|unsupported call|"
    r"(?:exec_command|write_stdin) failed)\b"
)
"""Beginnings of the outputs of calls that Codex could not make."""
_ABORTED = re.compile(r"(?:Wall time: [^\n]*\n)?aborted by user\b[^\n]*\Z")
"""Of a call that was under way when the user stopped the turn."""
_INTERRUPTED = "interrupted"
"""The reason that Codex has for the end of such a turn."""
_DENIED = re.compile(r"Rejected\(|rejected by (?:the )?user|declined by (?:the )?user")


def output_text(output: Any) -> Any:
    """Return the output of a tool without the lines about it.

    Args:
        output: a text, or a list of texts as the model's API has them; anything else is returned.
    """
    if isinstance(output, list):
        texts = [part.get("text") if isinstance(part, dict) else None for part in output]
        words = [text for text in texts if isinstance(text, str)]
        if len(words) < len(output):
            return output
        output = "\n".join(words)
    if not isinstance(output, str):
        return output
    header = _HEADER.match(output)
    return output[header.end() :] if header is not None else output


def exit_code_in(output: Any) -> int | None:
    """Return the exit code that is named before an output; None if there is none."""
    if not isinstance(output, str):
        return None
    header = _HEADER.match(output)
    code = _EXIT_CODE.search(header[0]) if header is not None else None
    return int(code[1]) if code is not None else None


def ended(
    call: ToolExecution, output: Any, exit_code: int | None, succeeded: bool | None
) -> ToolExecution:
    """Return a tool call with its outcome.

    Args:
        call: the call.
        output: what the model was sent, without the lines about it.
        exit_code: of a command; one other than 0 is a failure, though the telemetry has it as a
            success.
        succeeded: what Codex says; None if nothing.
    """
    words = output if isinstance(output, str) else None
    if words is not None and _DENIED.search(words):
        return replace(call, error_type=DENIED, error_message=words)
    if words is not None and _ABORTED.match(words):
        return replace(call, error_type=_INTERRUPTED, error_message=words.rpartition("\n")[2])
    if words is not None and _FAILED.match(words):
        succeeded = False
    if exit_code or (succeeded is False):
        kind = f"exit code {exit_code}" if exit_code else "_OTHER"
        return replace(call, error_type=kind, error_message=words or kind)
    return replace(call, result=output)
