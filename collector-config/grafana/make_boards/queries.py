"""Queries for Prometheus: expressions over the metrics of the GenAI conventions.

Names are those that Prometheus's own OTLP receiver and the Collector's exporter both use. A metric
with different names in several generations of the conventions is queried under each of them, joined
by `or`. A window is one of Grafana's variables: all of the time shown, one bar of a chart, or as
long as a line needs to be smooth.
"""

from __future__ import annotations

__all__ = [
    "AGENT",
    "BAR",
    "ERROR",
    "FAILED",
    "LINE",
    "MODEL",
    "PROVIDER",
    "RANGE",
    "TOOL",
    "WENT_WELL",
    "first_chunk",
    "model_calls",
    "quantile",
    "runs",
    "share",
    "tokens",
    "tool_calls",
    "total",
]

RANGE, BAR, LINE = "$__range", "$__interval", "$__rate_interval"
AGENT, TOOL, ERROR = "gen_ai_agent_name", "gen_ai_tool_name", "error_type"
PROVIDER, MODEL = "gen_ai_provider_name", "gen_ai_request_model"

FAILED, WENT_WELL = f'{ERROR}!=""', f'{ERROR}=""'
_AGENTS = ('job=~"$program"', f'{AGENT}=~"$agent"')
_MODELS = ('job=~"$program"', f'{PROVIDER}=~"$provider"', f'{MODEL}=~"$model"')
_CALLS = 'gen_ai_operation_name=~"chat|generate_content|text_completion|embeddings"'
"""Until 2026-08 a model call is one operation of a client among others; embeddings still are."""


def runs(part: str, window: str, *also: str) -> str:
    """Return the increase of a metric of agents' runs; a part of it is `duration_seconds_count`,
    say.
    """
    return _gained(f"gen_ai_invoke_agent_{part}", window, *_AGENTS, *also)


def tool_calls(part: str, window: str, *also: str) -> str:
    return _gained(f"gen_ai_execute_tool_duration_seconds_{part}", window, *_AGENTS, *also)


def model_calls(part: str, window: str, *also: str) -> str:
    new = f"gen_ai_client_inference_duration_seconds_{part}"
    old = f"gen_ai_client_operation_duration_seconds_{part}"
    return _either(
        _gained(new, window, *_MODELS, *also), _gained(old, window, *_MODELS, _CALLS, *also)
    )


def first_chunk(part: str, window: str) -> str:
    new = f"gen_ai_client_inference_time_to_first_chunk_seconds_{part}"
    old = f"gen_ai_client_operation_time_to_first_chunk_seconds_{part}"
    return _either(_gained(new, window, *_MODELS), _gained(old, window, *_MODELS))


def tokens(kind: str, window: str) -> str:
    """Tokens used. Input and output are a histogram until 2026-08; other kinds are not counted."""
    new = _gained(f"gen_ai_client_inference_usage_{kind}_tokens_total", window, *_MODELS)
    if kind not in ("input", "output"):
        return new
    of_kind = f'gen_ai_token_type="{kind}"'
    return _either(new, _gained("gen_ai_client_token_usage_sum", window, *_MODELS, of_kind))


def total(values: str, *by: str) -> str:
    return f"sum by ({', '.join(by)}) ({values})" if by else f"sum({values})"


def share(part: str, complete: str, *by: str) -> str:
    """A part of a whole: 0 where there is none of it, nothing where there is no whole."""
    everything = total(complete, *by)
    return f"({total(part, *by)} or {everything} * 0) / ({everything} > 0)"


def quantile(q: float, buckets: str, *by: str) -> str:
    return f"histogram_quantile({q}, {total(buckets, 'le', *by)})"


def _gained(metric: str, window: str, *matchers: str) -> str:
    """Return the increase of a counter, or of a part of a histogram, in a window.

    Not `increase()`: a program that runs for seconds sends its metrics once, at its end, and a
    series with one value has no increase. Here a series begins at zero, and one that was silent for
    less than an hour goes on from where it was.
    """
    series = f"{metric}{{{', '.join(matchers)}}}"
    now = f"last_over_time({series}[{window}])"
    before = f"last_over_time({series}[1h] offset {window})"
    return f"({now} - {before} >= 0 or {now})"


def _either(new: str, old: str) -> str:
    return f"({new} or {old})"
