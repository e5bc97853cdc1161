"""Raise an exception of a signal handler at each place in our code where Python may run one.

    python interrupted.py ENDPOINT|- KIND once|twice

Prints what the calls did, as JSON. Python runs signal handlers after a call and when a function
begins; here a trace function does so, at the n-th such place of the n-th call. Twice: the handler
raises again where the pipeline begins to handle that.
"""

from __future__ import annotations

import dis
import json
import signal
import sys
from itertools import pairwise
from types import CodeType, FrameType
from typing import Any

from opentelemetry.context import get_current

import agentool_otel
from agentool_otel.testing.loopback_model import LoopbackModel
from agentool_otel.tracing.export.disk.journal import Journal
from agentool_otel.tracing.export.pipeline import Pipeline

OURS = agentool_otel.__file__.rpartition("/")[0] + "/"
CALLS = {op for name, op in dis.opmap.items() if name.startswith("CALL")}
LIMIT = 5000


class Late(TimeoutError):
    """As an `OSError` it is hard to tell from an error of the disk."""


def too_late(number: int, frame: FrameType | None) -> None:
    raise Late(number)


def places(code: CodeType, known: dict[CodeType, set[int]] = {}) -> set[int]:  # noqa: B006
    """Return the offsets of the instructions before which a handler may run."""
    if code not in known:
        instructions = list(dis.get_instructions(code))
        known[code] = {
            after.offset
            for before, after in pairwise(instructions)
            if before.opcode in CALLS or before.opname == "RESUME"
        }
    return known[code]


class Interruption:
    """A trace function that raises at the n-th place."""

    def __init__(self, number: int):
        self.left = number
        self.where = ""

    def __call__(self, frame: FrameType, event: str, arg: Any) -> Any:
        if not frame.f_code.co_filename.startswith(OURS) or "/testing/" in frame.f_code.co_filename:
            return None
        frame.f_trace_opcodes, frame.f_trace_lines = True, False
        if event == "opcode" and frame.f_lasti in places(frame.f_code):
            self.left -= 1
            if not self.left:
                sys.settrace(None)
                self.where = f"{frame.f_code.co_filename}:{frame.f_lineno}"
                too_late(signal.SIGALRM, frame)
        return self


def raise_again() -> None:
    finish = Pipeline._finish_abandoned

    def interrupted(*arguments: Any) -> None:
        if sys.exc_info()[0] is not None:  # not the second time
            too_late(signal.SIGALRM, sys._getframe())
        finish(*arguments)

    Pipeline._finish_abandoned = interrupted  # type: ignore # where no trace reaches


def note_ids(noted: list[str]) -> None:
    """Collect the ids of the spans that a kill would not lose."""
    note = Journal.note

    def collected(self: Journal, span: Any, span_id: int, line: Any) -> None:
        note(self, span, span_id, line)
        noted.append(f"{span_id:016x}")

    Journal.note = collected  # type: ignore[method-assign] # after the note, where no trace reaches


def main() -> None:
    endpoint, kind, times = sys.argv[1:]
    noted: list[str] = []
    note_ids(noted)
    if times == "twice":
        raise_again()
    signal.signal(signal.SIGALRM, too_late)
    agentool_otel.instrument(None if endpoint == "-" else endpoint, content=True)

    @agentool_otel.tool
    def tool(mark: str) -> str:
        return "ok"

    @agentool_otel.agent
    def agent(mark: str) -> str:
        return "ok"

    if kind == "openai":
        from openai import OpenAI

        model = LoopbackModel().start()
        client = OpenAI(base_url=model.env()["OPENAI_BASE_URL"], api_key="k")

        def call(mark: str) -> Any:
            return client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": mark}]
            )
    else:
        call = {"tool": tool, "agent": agent}[kind]
    call("#0#")
    base = get_current()
    result: dict[str, list[Any]] = {"returned": [], "swallowed": [], "left": [], "broken": []}
    number = 0
    for number in range(1, LIMIT):
        interruption = Interruption(number)
        mark = f"#{number}#"
        try:
            sys.settrace(interruption)
            call(mark)
            sys.settrace(None)
        except Late:
            pass
        except Exception as error:
            result["broken"].append((interruption.where, repr(error)))
        else:
            sys.settrace(None)
            if interruption.left <= 0:
                result["swallowed"].append(interruption.where)
            result["returned"].append(number)
        if get_current() is not base:
            result["left"].append(interruption.where)
            break
        if interruption.left > 0:
            break
    else:
        result["broken"].append(("", "the call never ended"))
    agentool_otel.flush()
    print(json.dumps({**result, "places": number, "noted": noted}))


if __name__ == "__main__":
    main()
