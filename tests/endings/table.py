"""The table of ends: how each API's call is recorded, rebuilt and judged, by the way it ends.

    python -m tests.endings

prints it, for what is installed.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from typing import Any, NamedTuple

from agentool_otel import Assertion, evaluate
from agentool_otel.loading import rebuild
from agentool_otel.testing.loopback_model import LoopbackModel
from agentool_otel.testing.turns import Turn
from tests.endings.apis import APIS, Api
from tests.endings.reading import Reader, Way

__all__ = ["ENDS", "Cell", "End", "cell", "cells"]

TEXT = "OpenTelemetry is a standard for telemetry, and many vendors and programs follow it."


class End(NamedTuple):
    """How a call ends: what the server sends, and what the program does."""

    turn: Turn
    way: Way = "to its end"
    streams_only: bool = True


_SLOW = Turn(text=TEXT, chunk_delay_s=0.01)

ENDS: dict[str, End] = {
    "whole": End(Turn(text=TEXT), streams_only=False),
    "limit": End(Turn(text=TEXT, stop="length"), streams_only=False),
    "filter": End(Turn(text=TEXT, stop="content_filter"), streams_only=False),
    "refusal": End(Turn(text=TEXT, stop="refusal"), streams_only=False),
    "refused request": End(Turn(status=400), streams_only=False),
    "ended early": End(Turn(text=TEXT, end_after=5)),
    "connection dropped": End(Turn(text=TEXT, cut_after=5, chunk_delay_s=0.01)),
    "error event": End(Turn(text=TEXT, error_after=5)),
    "closed": End(_SLOW, "closed"),
    "raised": End(_SLOW, "raised"),
    "cancelled": End(_SLOW, "cancelled"),
}


class Cell(NamedTuple):
    """What is recorded of a call, and what becomes of it."""

    raised: str | None
    """Exception that reached the program."""
    finish_reasons: tuple[str, ...]
    error_type: str | None
    interrupted: str | None
    status: str | None
    """Status of the run."""
    end: str | None
    """How the answer ended, if not whole, as `metadata.unfinished` has it."""
    has_output: bool
    finished: bool | None
    no_tool_error: bool | None


def cells(api: Api) -> Iterator[str]:
    """Yield the ends that are possible for an API."""
    for name, end in ENDS.items():
        if end.streams_only and not api.streams:
            continue
        if end.way == "cancelled" and not api.is_async:
            continue
        yield name


def cell(stage: Any, api: Api, name: str) -> Cell:
    """Bring a call of an API to an end, on a stage."""
    end = ENDS[name]
    stage.forget()
    raised: str | None = None
    with LoopbackModel() as model:
        model.rule(lambda _: end.turn)  # however often it is asked
        try:
            api.use(model.base_url, Reader(end.way))
        except BaseException as error:
            raised = type(error).__name__
    gc.collect()  # streams that nobody closed
    spans = stage.recorded.spans()
    calls = [item for item in spans if item.attributes.get("gen_ai.operation.name") in _MODEL]
    documents = [item.trace.to_dict() for item in rebuild(spans)]
    outer = [item for item in documents if "parent_trace_id" not in item.get("metadata", {})]
    (run,) = outer or [{}]
    checks = [Assertion.from_dict({"type": kind}) for kind in ("finished", "no_tool_error")]
    (result,) = evaluate(checks, rebuild(spans))
    finished, no_tool_error = (item.passed for item in result.assertion_results)
    unfinished = run.get("metadata", {}).get("unfinished", [])
    last = calls[-1].attributes if calls else {}
    return Cell(
        raised,
        tuple(last.get("gen_ai.response.finish_reasons", ())),
        last.get("error.type"),
        last.get("agentool.interrupted"),
        run.get("status"),
        unfinished[-1]["end"] if unfinished else None,
        "output" in run,
        finished,
        no_tool_error,
    )


_MODEL = ("chat", "generate_content", "text_completion")


def installed() -> list[Api]:
    return [api for api in APIS if api.is_installed]
