"""The board of models: calls, tokens, errors."""

from __future__ import annotations

from links import column, label, spans, to_traces
from panels import at_once, board, chart, choice, figure, over_time, table
from queries import (
    BAR,
    ERROR,
    FAILED,
    LINE,
    MODEL,
    PROVIDER,
    RANGE,
    first_chunk,
    model_calls,
    quantile,
    share,
    tokens,
    total,
)

__all__ = ["MODELS"]

_HALF, _MOST = "half within", "95 of 100 within"
_KINDS = {
    "input": "input",
    "output": "output",
    "cache_read_input": "cached (part of the input)",
    "reasoning_output": "reasoning (part of the output)",
}
_BY_MODEL = MODEL, PROVIDER
_NAME = f"{{{{{MODEL}}}}}"
_TO_THE_MODEL = to_traces("Calls of this model", spans(model=label(MODEL)))

_ended = model_calls("count", RANGE)
_failed = model_calls("count", RANGE, FAILED)
_took = model_calls("bucket", RANGE)
_took_then = model_calls("bucket", LINE)
_began = first_chunk("bucket", RANGE)
_began_then = first_chunk("bucket", LINE)
_input, _output = tokens("input", RANGE), tokens("output", RANGE)

_SUMMARY = [
    figure("Calls", "Calls that ended in the time shown.", "short", at_once(total(_ended))),
    figure(
        "Calls that failed",
        "Share of the calls that ended with an error; a second try is a call of its own.",
        "percentunit",
        at_once(share(_failed, _ended)),
    ),
    figure(
        "Time a call takes",
        "From the request to the end of the answer.",
        "s",
        at_once(quantile(0.5, _took), _HALF),
        at_once(quantile(0.95, _took), _MOST),
        width=8,
    ),
    figure(
        "Tokens",
        "All of the input, cached or not, and all of the output, reasoning included.",
        "short",
        at_once(total(_input), "input"),
        at_once(total(_output), "output"),
        width=8,
    ),
]

_WHEN = [
    chart(
        "Which models are called?",
        "Calls by model.",
        "short",
        over_time(total(model_calls("count", BAR), *_BY_MODEL), _NAME),
        bars=True,
        links=(_TO_THE_MODEL,),
    ),
    chart(
        "What are tokens used for?",
        "Tokens by kind. Conventions before 2026-10 tell cached ones and reasoning not apart.",
        "short",
        *(over_time(total(tokens(kind, BAR)), name) for kind, name in _KINDS.items()),
    ),
]

_HOW_LONG = [
    chart(
        "How long do calls take?",
        "95 of 100 are done within this time. A dot is a single call, and leads to its trace.",
        "s",
        over_time(quantile(0.95, _took_then, MODEL), _NAME, exemplars=True),
        links=(_TO_THE_MODEL,),
    ),
    chart(
        "How long until an answer begins?",
        "95 of 100 begin within this time: the first chunk of answers that are streamed. A dot is "
        "a single call; from spans alone there are none.",
        "s",
        over_time(quantile(0.95, _began_then, MODEL), _NAME, exemplars=True),
        links=(_TO_THE_MODEL,),
    ),
]

_WHICH = [
    table(
        "Which model?",
        "All of it by model and provider. A name leads to the model's calls.",
        {MODEL: "model", PROVIDER: "provider"},
        to_traces("Calls of this model", spans(model=column("model"))),
        {
            "calls": (total(_ended, *_BY_MODEL), "short"),
            "failed": (share(_failed, _ended, *_BY_MODEL), "percentunit"),
            _HALF: (quantile(0.5, _took, *_BY_MODEL), "s"),
            _MOST: (quantile(0.95, _took, *_BY_MODEL), "s"),
            "95 of 100 begin within": (quantile(0.95, _began, *_BY_MODEL), "s"),
            "input tokens": (total(_input, *_BY_MODEL), "short"),
            "output tokens": (total(_output, *_BY_MODEL), "short"),
        },
        sort="calls",
    ),
]

_ERRORS = [
    table(
        "With which errors do calls fail?",
        "By type of the error; a number is the status of an HTTP answer. An error leads to them.",
        {ERROR: "error", MODEL: "model", PROVIDER: "provider"},
        to_traces("Calls with this error", spans(model=column("model"), error=column("error"))),
        {"calls": (total(_failed, ERROR, *_BY_MODEL), "short")},
        sort="calls",
    ),
]

_SERIES = '__name__=~"gen_ai_client_(inference|operation)_duration_seconds_count"'
_OF_PROGRAM = f'{{{_SERIES}, job=~"$program"}}'
MODELS = board(
    "agentool-models",
    "Agents: models",
    "What models are asked, how long they take, with which errors they fail, and how many tokens "
    "that takes. Embeddings are calls too.",
    [
        choice("program", "Program", f"label_values({{{_SERIES}}}, job)"),
        choice("provider", "Provider", f"label_values({_OF_PROGRAM}, {PROVIDER})"),
        choice("model", "Model", f"label_values({_OF_PROGRAM}, {MODEL})"),
    ],
    *(_SUMMARY, _WHEN, _HOW_LONG, _WHICH, _ERRORS),
)
