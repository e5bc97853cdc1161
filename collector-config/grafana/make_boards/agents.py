"""The board of agents: their runs and their tools."""

from __future__ import annotations

from links import column, label, spans, to_traces
from panels import at_once, board, chart, choice, figure, found, over_time, table
from queries import (
    AGENT,
    BAR,
    ERROR,
    FAILED,
    LINE,
    RANGE,
    TOOL,
    WENT_WELL,
    quantile,
    runs,
    share,
    tool_calls,
    total,
)

__all__ = ["AGENTS"]

_RUN = "invoke_agent"
_OF_THE_CHOSEN = 'span.gen_ai.agent.name =~ "${agent:pipe}"'
_TO_THE_RUNS = to_traces("Runs", spans(operation=_RUN))
_HALF, _MOST = "half within", "95 of 100 within"
_OWN_METRICS = "programs that send metrics of their own; spans alone do not have it."
"""Why a figure is missing with `metrics.yaml`."""

_ended = runs("duration_seconds_count", RANGE)
_failed = runs("duration_seconds_count", RANGE, FAILED)
_took = runs("duration_seconds_bucket", RANGE)
_took_then = runs("duration_seconds_bucket", LINE)
_model_calls = runs("inference_calls_sum", RANGE), runs("inference_calls_count", RANGE)
_tool_calls = runs("tool_calls_sum", RANGE), runs("tool_calls_count", RANGE)
_calls = tool_calls("count", RANGE)
_calls_failed = tool_calls("count", RANGE, FAILED)
_calls_took = tool_calls("bucket", RANGE)

_SUMMARY = [
    figure("Runs", "Runs that ended in the time shown.", "short", at_once(total(_ended))),
    figure(
        "Runs that failed",
        "Share of the runs that ended with an error.",
        "percentunit",
        at_once(share(_failed, _ended)),
    ),
    figure(
        "Time a run takes",
        "From the start of a run to the end of its answer.",
        "s",
        at_once(quantile(0.5, _took), _HALF),
        at_once(quantile(0.95, _took), _MOST),
        width=8,
    ),
    figure(
        "Model calls a run",
        f"On average. Calls of an agent inside another's run are its own. From {_OWN_METRICS}",
        "short",
        at_once(share(*_model_calls)),
        decimals=1,
    ),
    figure(
        "Tool calls a run",
        f"On average. Calls of an agent inside another's run are its own. From {_OWN_METRICS}",
        "short",
        at_once(share(*_tool_calls)),
        decimals=1,
    ),
]

_WHEN = [
    chart(
        "When do agents run, and fail?",
        "Runs by how they ended, an error by its type.",
        "short",
        over_time(total(runs("duration_seconds_count", BAR, WENT_WELL)), "went well"),
        over_time(total(runs("duration_seconds_count", BAR, FAILED), ERROR), f"{{{{{ERROR}}}}}"),
        bars=True,
        links=(
            _TO_THE_RUNS,
            to_traces("Runs with this error", spans(operation=_RUN, error=label(ERROR))),
        ),
    ),
    chart(
        "How long do runs take?",
        "A dot is a single run, and leads to its trace.",
        "s",
        over_time(quantile(0.5, _took_then), _HALF),
        over_time(quantile(0.95, _took_then), _MOST, exemplars=True),
        links=(_TO_THE_RUNS, _TO_THE_RUNS),
    ),
]

_WHO = [
    table(
        "Which agent?",
        "All of it by agent. A name leads to the agent's runs. "
        f"Calls a run are from {_OWN_METRICS}",
        {AGENT: "agent"},
        to_traces("Runs of this agent", spans(operation=_RUN, agent=column("agent"))),
        {
            "runs": (total(_ended, AGENT), "short"),
            "failed": (share(_failed, _ended, AGENT), "percentunit"),
            _HALF: (quantile(0.5, _took, AGENT), "s"),
            _MOST: (quantile(0.95, _took, AGENT), "s"),
            "model calls a run": (share(*_model_calls, AGENT), "short"),
            "tool calls a run": (share(*_tool_calls, AGENT), "short"),
        },
        sort="runs",
    ),
]

_TOOLS = [
    table(
        "Which tools are slow, which fail?",
        "The slowest first. A name leads to the tool's calls.",
        {TOOL: "tool"},
        to_traces("Calls of this tool", spans(tool=column("tool"))),
        {
            "calls": (total(_calls, TOOL), "short"),
            "failed": (share(_calls_failed, _calls, TOOL), "percentunit"),
            _HALF: (quantile(0.5, _calls_took, TOOL), "s"),
            _MOST: (quantile(0.95, _calls_took, TOOL), "s"),
            "time in all": (total(tool_calls("sum", RANGE), TOOL), "s"),
        },
        sort=_MOST,
        width=14,
    ),
    table(
        "With which errors do tools fail?",
        "Calls that failed, by tool and type of the error. A name leads to them.",
        {TOOL: "tool", ERROR: "error"},
        to_traces("Calls with this error", spans(tool=column("tool"), error=column("error"))),
        {"calls": (total(_calls_failed, TOOL, ERROR), "short")},
        sort="calls",
        width=10,
    ),
]

_RUNS = [
    found(
        "Which runs were slow?",
        "The slowest first.",
        spans(_OF_THE_CHOSEN, operation=_RUN, select=("agent",)),
        sortBy=[{"displayName": "Duration", "desc": True}],
    ),
    found(
        "Which runs failed?",
        "The newest first.",
        spans(_OF_THE_CHOSEN, "status = error", operation=_RUN, select=("agent", "error")),
    ),
]

_SERIES = "gen_ai_invoke_agent_duration_seconds_count"
AGENTS = board(
    "agentool-agents",
    "Agents: runs and tools",
    "How often agents run, fail and how long they take, and what their tools do. A run of an agent "
    "inside another's run is a run too.",
    [
        choice("program", "Program", f"label_values({_SERIES}, job)"),
        choice("agent", "Agent", f'label_values({_SERIES}{{job=~"$program"}}, {AGENT})'),
    ],
    *(_SUMMARY, _WHEN, _WHO, _TOOLS, _RUNS),
)
