"""The options that name a judge, and the report of what it used."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from agentool_otel.cli import _text
from agentool_otel.cli._output import Reading, say
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
        help="Model that tells what needs a judge (needs the extra `judge`). Without it nothing is"
        " asked of anybody.",
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
        "--no-judge-cache",
        is_flag=True,
        help="Ask again what was asked before, and keep no answers in .agentool/judge.",
    )
    @wraps(command)
    def with_judge(
        judge_model: str | None,
        judge_url: str | None,
        judge_key_env: str | None,
        no_judge_cache: bool,
        **options: Any,
    ) -> _R:
        judge = _judge(judge_model, judge_url, judge_key_env, not no_judge_cache)
        return command(judge=judge, **options)

    return with_judge


def _judge(
    model: str | None, url: str | None, key_variable: str | None, cache: bool
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

    return OpenAIJudge(model, url, key, cache=cache)


def judging_shown(judge: OpenAIJudge | None, reading: Reading) -> Callable[[], None]:
    """Return a function that shows the judge's progress on a terminal."""
    if judge is None:
        return lambda: None
    used = judge.usage

    def show() -> None:
        if used.calls or used.kept:
            reading.doing(f"judging: {_text.count(used.calls + used.kept, 'answer')}")

    return show


def say_judging(judge: OpenAIJudge | None) -> None:
    """Say what judging itself used, and where its answers are kept."""
    if judge is None:
        return
    used = judge.usage
    cost = "" if used.cost_usd is None else f", ${used.cost_usd:.4f}"
    kept = f"; {_text.count(used.kept, 'answer')} known already" if used.kept else ""
    say(
        f"judging: {_text.count(used.calls, 'answer')} of {_text.line(judge.model)},"
        f" {used.input_tokens:,} input and {used.output_tokens:,} output tokens{cost}{kept}"
    )
    if judge.cache_folder is not None and (used.calls or used.kept):
        say(f" its answers, which tell of content, are kept in {judge.cache_folder}")
