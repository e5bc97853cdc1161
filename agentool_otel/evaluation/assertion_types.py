"""The assertion types by name, and the faults of an assertion that is written in a case."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from difflib import get_close_matches
from functools import cache
from typing import Any, NamedTuple, Protocol, cast

import msgspec
from msgspec import inspect

from agentool_otel.evaluation.trace_view import TraceView
from agentool_otel.evaluation.verdicts import Verdict
from agentool_otel.evaluation.wrong_values import WrongValue, wrong_values
from agentool_otel.ground.json_places import Path, path_text
from agentool_otel.ground.plugins import plugins
from agentool_otel.model.codec import describe
from agentool_otel.model.documents import EvalCase

__all__ = [
    "NOT_PARAMETERS",
    "Checking",
    "Fault",
    "WrongAssertion",
    "as_assertion",
    "assertion_type",
    "assertion_types",
    "check_of",
    "fault_at",
    "nearest_name",
]

NOT_PARAMETERS = ("type", "description")
"""Members of an assertion that are no parameters."""
_GROUP = "agentool_otel.assertions"


class Checking(Protocol):
    """A check with its parameters."""

    def check(self, trace: TraceView, case: EvalCase) -> Verdict:
        """Return whether the assertion holds of a trace."""
        ...


class Fault(NamedTuple):
    """One thing that is wrong with an assertion."""

    path: Path
    """Where, in the assertion."""
    message: str


class WrongAssertion(ValueError):
    """An assertion that cannot be checked."""

    def __init__(self, faults: list[Fault]):
        self.faults = faults
        super().__init__("; ".join(fault.message for fault in faults))


def assertion_types() -> list[str]:
    """Return the known assertion types, ours and those of plug-ins."""
    return sorted(_points())


def assertion_type(name: str) -> type:
    """Return the class of an assertion type.

    Raises:
        WrongAssertion: there is none of that name, or its plug-in cannot be loaded.
    """
    if name not in _points():
        hint = f"known types are {', '.join(assertion_types())}"
        raise fault_at(
            ("type",), f"unknown assertion type {name!r}; {nearest_name(name, _points(), hint)}"
        )
    try:
        kind = _load(name)
        inspect.type_info(kind)
        return kind
    except Exception as error:  # of a plug-in, which may be anybody's
        text = f"the assertion type {name!r} cannot be loaded: {error}"
        raise fault_at(("type",), text) from error


def as_assertion(value: Any) -> str:
    """Return the assertion, as JSON, that a value may be meant as: a name alone, or a name in place
    of `type`. Empty where nothing in it is near a name."""
    names = list(value) if isinstance(value, dict) else [value]
    for name in (name for name in names if isinstance(name, str)):
        for word in get_close_matches(name, _points(), n=1, cutoff=0.8):
            with suppress(WrongAssertion):
                meant = value[name] if isinstance(value, dict) else None
                return json.dumps(_assertion(word, meant), ensure_ascii=False)
    return ""


def _assertion(word: str, meant: Any) -> dict[str, Any]:
    """Return an assertion of a type with its known parameters."""
    info = inspect.type_info(assertion_type(word))
    fields = info.fields if isinstance(info, (inspect.StructType, inspect.DataclassType)) else ()
    needed = [field.encode_name for field in fields if field.required]
    if isinstance(meant, dict) and meant.keys() <= {field.encode_name for field in fields}:
        return {"type": word, **dict.fromkeys(needed, "..."), **meant}
    is_short = isinstance(meant, (str, int, float)) and len(needed) == 1
    return {"type": word, **dict.fromkeys(needed, meant if is_short else "...")}


def check_of(assertion: Any) -> Checking:
    """Return the check that an assertion describes.

    Raises:
        WrongAssertion: with all that is wrong with its type, its parameters and their values.
        MissingDependencyError: it needs a library that is not installed.
    """
    if not isinstance(assertion, Mapping):
        meant = as_assertion(assertion)
        end = f"; hint: write {meant}" if meant else ""
        raise fault_at((), f"expected an assertion (type), got {describe(assertion)}{end}")
    word = assertion.get("type")
    if not isinstance(word, str):
        meant = as_assertion(assertion) if "type" not in assertion else ""
        end = f"; hint: write {meant}" if meant else ""
        raise fault_at(("type",), f"an assertion needs a type, such as 'contains_tool_call'{end}")
    kind = assertion_type(word)
    parameters = {
        name: value
        for name, value in assertion.items()
        if name not in NOT_PARAMETERS and (value is not None or name == "value")
    }
    names = list(_wrong_names(inspect.type_info(kind), parameters, (), word))
    if not names:
        with suppress(msgspec.ValidationError):
            return cast("Checking", msgspec.convert(parameters, kind))
    values = [
        _of_value(wrong, kind, parameters, word)
        for wrong in wrong_values(kind, parameters)
        if not any(name.path[: len(wrong.path)] == wrong.path for name in names)
    ]
    raise WrongAssertion(names + values)


def fault_at(path: Path, message: str) -> WrongAssertion:
    """Return an error with one fault."""
    return WrongAssertion([Fault(path, message)])


def nearest_name(name: str, names: Iterable[str], otherwise: str) -> str:
    """Return the nearest name as a question, other words where none is near."""
    similar = get_close_matches(name, list(names), n=1, cutoff=0.5)
    return f"did you mean {similar[0]!r}?" if similar else otherwise


# --- names


def _wrong_names(info: inspect.Type, value: Any, path: Path, word: str) -> Iterator[Fault]:
    """Yield the members that a value must not have and those that it lacks."""
    match info:
        case inspect.Metadata():
            yield from _wrong_names(info.type, value, path, word)
        case inspect.StructType() | inspect.DataclassType() if isinstance(value, dict):
            fields = {field.encode_name: field for field in info.fields}
            unknown = [name for name in value if name not in fields]
            owner = f"{path_text(path)} of {word}" if path else word
            for name in unknown:
                free = [field for field in fields if field not in value]
                hint = f"{owner} takes {', '.join(fields) or 'no parameters'}"
                message = (
                    f"{owner} has no parameter {name!r}; {nearest_name(str(name), free, hint)}"
                )
                yield Fault((*path, str(name)), message)
            for name, field in fields.items():
                if name in value:
                    yield from _wrong_names(field.type, value[name], (*path, name), word)
                elif field.required and not unknown:
                    yield Fault(path, f"{owner} needs the parameter {name!r}")
        case inspect.ListType() if isinstance(value, list):
            for n, item in enumerate(value):
                yield from _wrong_names(info.item_type, item, (*path, n), word)
        case inspect.UnionType():
            for option in info.types:
                yield from _wrong_names(option, value, path, word)
        case _:
            pass


# --- values


def _of_value(wrong: WrongValue, kind: type, parameters: dict[str, Any], word: str) -> Fault:
    """Return the fault of a value in our words."""
    path, message = wrong
    value: Any = parameters
    for step in path:
        value = value[step]
    words = [word for word in _closed_set(inspect.type_info(kind), path) if isinstance(word, str)]
    if words and not isinstance(value, (dict, list)):
        question = f"; {nearest_name(value, words, '')}" if isinstance(value, str) else ""
        expected = f"expected one of {', '.join(words)}, got {value!r}{question.rstrip('; ')}"
    else:
        for theirs, ours in _IN_WORDS:
            message = message.replace(theirs, ours)
        expected = message.replace("`", "")
    owner = f"{path_text(path)} of {word}" if path else word
    return Fault(path, f"{owner}: {expected}")


def _closed_set(info: inspect.Type, path: Path) -> Iterator[Any]:
    """Yield the allowed words at a path."""
    match info:
        case inspect.Metadata():
            yield from _closed_set(info.type, path)
        case inspect.UnionType():
            for option in info.types:
                yield from _closed_set(option, path)
        case inspect.LiteralType() if not path:
            yield from info.values
        case inspect.StructType() | inspect.DataclassType() if path:
            for field in info.fields:
                if field.encode_name == path[0]:
                    yield from _closed_set(field.type, path[1:])
        case inspect.ListType() if path:
            yield from _closed_set(info.item_type, path[1:])
        case _:
            pass


_IN_WORDS = (
    ("Expected", "expected"),
    ("`str` of length >= 1", "a text that is not empty"),
    ("`array` of length >= 1", "a list that is not empty"),
    (r"`str` matching regex '\\S'", "a text of more than blanks"),
)
"""Words of msgspec, and what users read."""


# --- plug-ins


@cache
def _points() -> dict[str, Any]:
    return dict(plugins(_GROUP))


@cache
def _load(name: str) -> type:
    return cast("type", _points()[name].load())
