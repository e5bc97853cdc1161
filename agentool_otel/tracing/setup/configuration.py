"""The configuration of the process, as set in code.

Every `instrument()` changes what it names. What it does not name stays as an earlier call, or
`agentool-otel run`, has set it; what neither has set is left to the environment.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from agentool_otel.content.policy import Redact
from agentool_otel.errors import ConfigurationError
from agentool_otel.ground import variable_values as values
from agentool_otel.tracing.export.otlp_variables import vocabulary_named

__all__ = ["Configuration", "named", "overruled"]


class Configuration(NamedTuple):
    """Settings so far; None for those that are not set."""

    endpoint: str | None = None
    service_name: str | None = None
    content: bool | None = None
    redact: Redact | None = None
    include: frozenset[str] | None = None
    exclude: frozenset[str] | None = None
    also: str | None = None
    record: bool | None = None
    redact_all: bool | None = None
    max_size: str | int | None = None
    max_age: str | None = None
    agent: str | None = None
    infer_runs: bool | None = None

    def changed_by(self, call: Configuration) -> Configuration:
        """Return the configuration after a call has added its options."""
        return self._replace(**{k: v for k, v in call._asdict().items() if v is not None})


def named(
    endpoint: str | None = None,
    service_name: str | None = None,
    content: bool | None = None,
    redact: Redact | None = None,
    include: Iterable[str] | None = None,
    exclude: Iterable[str] | None = None,
    also: str | None = None,
    record: bool | None = None,
    redact_all: bool | None = None,
    max_size: str | int | None = None,
    max_age: str | None = None,
    agent: str | None = None,
    infer_runs: bool | None = None,
) -> Configuration:
    """Return the options of one call.

    Raises:
        ConfigurationError: an option is of another type, `redact` is no function of two arguments,
            `also` is not known, or a limit cannot be read.
    """
    _check(
        _is_switch,
        "True or False",
        content=content,
        record=record,
        redact_all=redact_all,
        infer_runs=infer_runs,
    )
    _check(_is_text, "text", endpoint=endpoint, service_name=service_name, also=also, agent=agent)
    _check(_are_names, "a list of names, such as ['openai']", include=include, exclude=exclude)
    _check(_is_amount, "text, such as '500MB'", max_size=max_size)
    _check(_is_text, "text, such as '7d'", max_age=max_age)
    for option, limit, read in (
        ("max_size", max_size, values.size_limit),
        ("max_age", max_age, values.age),
    ):
        if limit is not None:
            _check_limit(option, str(limit), read)
    if redact is not None:
        _check_redact(redact)
    if also is not None:
        vocabulary_named(also, "also")
    return Configuration(
        endpoint,
        service_name or None,
        content,
        redact,
        None if include is None else frozenset(include),
        None if exclude is None else frozenset(exclude),
        also or None,
        record,
        redact_all,
        max_size,
        max_age,
        agent or None,
        infer_runs,
    )


def overruled(run: Configuration, call: Configuration) -> Iterator[tuple[str, str]]:
    """Yield the options in which a call of the program overrides `agentool-otel run`, by their
    names here and on the command line."""
    for name, run_value in run._asdict().items():
        now = getattr(call, name)
        if run_value is not None and now is not None and now != run_value:
            no = "no-" if run_value is False else ""
            yield name, f"--{no}{name.replace('_', '-')}"


def _check(valid: Callable[[Any], bool], expected: str, **options: Any) -> None:
    """Refuse values of another type: the text "false" would count as true."""
    for option, value in options.items():
        if value is not None and not valid(value):
            kind = type(value).__name__
            raise ConfigurationError(f"{option} of instrument() is of type {kind}: give {expected}")


def _is_switch(value: Any) -> bool:
    return isinstance(value, bool)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_amount(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))


def _check_limit(option: str, text: str, read: values.Reader) -> None:
    try:
        read(text)
    except ValueError as error:
        raise ConfigurationError(f"{option}={text!r} of instrument() {error}") from None


def _are_names(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, (str, bytes))


def _check_redact(redact: Any) -> None:
    """Refuse a hook that could never work, without calling it: all content would be dropped."""
    wrong = None
    if not callable(redact):
        wrong = f"an object of type {type(redact).__name__}, which cannot be called"
    elif _answers_later(redact) or _answers_later(type(redact).__call__):
        wrong = "an async function or a generator, which returns no text"
    elif not _takes_two(redact):
        wrong = "a function of other arguments"
    if wrong is not None:
        raise ConfigurationError(
            f"redact of instrument() is {wrong}: give a function of two arguments, attribute name "
            "and text, that returns the text to keep, or None to leave it out"
        )


def _answers_later(function: Any) -> bool:
    return (
        inspect.iscoroutinefunction(function)
        or inspect.isasyncgenfunction(function)
        or inspect.isgeneratorfunction(function)
    )


def _takes_two(function: Any) -> bool:
    """Return whether a callable takes two arguments. True if unknown: some built-ins have no
    signature.
    """
    try:
        # Of a decorated function it is the wrapper that is called, whatever stands inside.
        signature = inspect.signature(function, follow_wrapped=False)
    except (TypeError, ValueError):
        return True
    try:
        signature.bind("name", "text")
    except TypeError:
        return False
    return True
