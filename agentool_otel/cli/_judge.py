"""Options that select a judge, and the report of its calls, tokens and cost."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from agentool_otel.cli import _text
from agentool_otel.cli._output import say
from agentool_otel.cli._reading import Reading
from agentool_otel.errors import ConfigurationError
from agentool_otel.ground import environment

if TYPE_CHECKING:
    from agentool_otel.evaluation.judges.openai import OpenAIJudge

__all__ = ["judge_options", "judging_shown", "say_judging"]

_R = TypeVar("_R")


def judge_options(command: Callable[..., _R]) -> Callable[..., _R]:
    """Add the options that name a judge; the command receives it as `judge`, None without one."""

    @click.option(
        "--judge-model",
        metavar="MODEL",
        help="Model for the assertions that need a judge (needs the extra `judge`). Without it "
        "no model is called.",
    )
    @click.option(
        "--judge-url",
        metavar="URL",
        help="Its OpenAI-compatible endpoint. "
        f" [default: {environment.OPENAI_BASE_URL}, else OpenAI's]",
    )
    @click.option(
        "--judge-key-env",
        metavar="NAME",
        help=f"Environment variable with its key.  [default: {environment.OPENAI_API_KEY}]",
    )
    @click.option(
        "--judge-timeout",
        type=click.FloatRange(0, min_open=True),
        default=60.0,
        show_default=True,
        metavar="SECONDS",
        help="Seconds that one of its calls may take.",
    )
    @click.option(
        "--judge-concurrency",
        type=click.IntRange(1),
        default=4,
        show_default=True,
        metavar="N",
        help="Concurrent questions to the judge. The first one goes alone.",
    )
    @click.option(
        "--judge-max-calls",
        type=click.IntRange(1),
        metavar="N",
        help="Most calls, retries included; the rest is not evaluated.  [default: no limit]",
    )
    @click.option(
        "--no-judge-cache",
        is_flag=True,
        help="Do not use or keep answers in .agentool/judge.",
    )
    @wraps(command)
    def with_judge(
        judge_model: str | None,
        judge_url: str | None,
        judge_key_env: str | None,
        judge_timeout: float,
        judge_concurrency: int,
        judge_max_calls: int | None,
        no_judge_cache: bool,
        **options: Any,
    ) -> _R:
        judge = _judge(
            judge_model,
            judge_url,
            judge_key_env,
            cache=not no_judge_cache,
            timeout_s=judge_timeout,
            concurrency=judge_concurrency,
            max_calls=judge_max_calls,
        )
        return command(judge=judge, **options)

    return with_judge


def _judge(
    model: str | None, url: str | None, key_variable: str | None, **settings: Any
) -> OpenAIJudge | None:
    if model is None:
        if url is not None or key_variable is not None:
            raise ConfigurationError("a judge needs its model; hint: add --judge-model MODEL")
        return None
    key = None
    if key_variable is not None:
        key = environment.value(key_variable)
        if not key:
            raise ConfigurationError(
                f"--judge-key-env: the environment variable {key_variable!r} is not set"
            )
    from agentool_otel.evaluation.judges.openai import OpenAIJudge

    return OpenAIJudge(model, url, key, **settings)


def judging_shown(judge: OpenAIJudge | None, reading: Reading) -> Callable[[], None]:
    """Return a function that shows the judge's progress on a terminal. The judge calls it, too."""
    if judge is None:
        return lambda: None
    used = judge.usage

    def show() -> None:
        if used.waiting or used.calls or used.kept:
            reading.doing(_progress(judge))

    used.changed = show
    return show


def _progress(judge: OpenAIJudge) -> str:
    used = judge.usage
    name = f"{_text.line(judge.model, 40)} at {_text.line(judge.place, 60)}"
    answers = _text.count(used.answers + used.kept, "answer")
    if used.gave_up is not None:
        return f"judge {name}: {answers}, given up"
    return f"judge {name}: {answers}, {_calls(judge)}, {used.waiting:,} waiting"


def _calls(judge: OpenAIJudge) -> str:
    calls = _text.count(judge.usage.calls, "call")
    return calls if judge.max_calls is None else f"{calls} of at most {judge.max_calls:,}"


def say_judging(judge: OpenAIJudge | None) -> None:
    """Print the judge's usage and the folder of its cached answers."""
    if judge is None:
        return
    used = judge.usage
    cost = "" if used.cost_usd is None else f", ${used.cost_usd:.4f}"
    cached = f"; {_text.count(used.kept, 'answer')} known already" if used.kept else ""
    given_up = ", then given up" if used.gave_up is not None else ""
    late = f", {used.timeouts:,} too late" if used.timeouts else ""
    say(
        f"judging: {_text.count(used.answers, 'answer')} of {_text.line(judge.model)},"
        f" {used.input_tokens:,} input and {used.output_tokens:,} output tokens{cost}{cached}"
    )
    limits = f"{judge.concurrency:,} at a time, {judge.timeout_s:g} s each"
    say(f" {_calls(judge)}{late}{given_up}; {limits}, at {_text.line(judge.place)}")
    if judge.cache_folder is not None and (used.answers or used.kept):
        say(f" its answers, which have content, are kept in {judge.cache_folder}")
