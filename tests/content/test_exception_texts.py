"""Stack traces: as Python prints them, without a call of an object that an exception holds."""

from __future__ import annotations

import traceback
from collections.abc import Callable

import pydantic
import pytest

from agentool_otel.content.encoding.exception_texts import stack_of, str_of


class Held:
    """A value that notes who asks it for a text."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def __repr__(self) -> str:
        self.calls.append("__repr__")
        return "held"


def _raised(work: Callable[[], object]) -> Exception:
    try:
        work()
    except Exception as error:
        return error
    raise AssertionError("nothing was raised")


def _from_a_cause(held: Held) -> None:
    try:
        raise KeyError(held)
    except KeyError:
        raise RuntimeError("later") from ValueError("cause")


def _without_context(held: Held) -> None:
    try:
        raise KeyError(held)
    except KeyError:
        raise RuntimeError("later") from None


def _in_a_context(held: Held) -> None:
    try:
        raise KeyError(held)
    except KeyError:
        raise RuntimeError("later")  # noqa: B904 the implicit context is what is tested


@pytest.mark.parametrize("raising", [_from_a_cause, _without_context, _in_a_context])
def test_what_an_earlier_exception_holds_is_not_asked(raising: Callable[[Held], None]) -> None:
    held = Held()
    stack = stack_of(_raised(lambda: raising(held)))
    assert held.calls == []
    assert stack.endswith("RuntimeError: later\n")


def _with_a_cause() -> None:
    try:
        raise KeyError("k")
    except KeyError:
        raise RuntimeError("later") from ValueError("cause")


def _with_a_context() -> None:
    try:
        raise KeyError("k")
    except KeyError:
        raise RuntimeError("later")  # noqa: B904 the implicit context is what is tested


@pytest.mark.parametrize("raising", [_with_a_cause, _with_a_context])
def test_a_plain_chain_is_as_python_prints_it(raising: Callable[[], None]) -> None:
    error = _raised(raising)
    assert stack_of(error) == "".join(traceback.format_exception(error))


class _Model(pydantic.BaseModel):
    name: str


def test_a_value_that_fails_validation_is_not_asked() -> None:
    held = Held()
    error = _raised(lambda: _Model.model_validate({"name": held}))
    assert str_of(error) == (
        "1 validation error\nname\n  Input should be a valid string [type=string_type]"
    )
    assert "Input should be a valid string" in stack_of(error)
    assert held.calls == []


@pytest.mark.parametrize("value", [7, None, {"a": [1]}])
def test_a_failed_validation_of_plain_values_has_its_own_text(value: object) -> None:
    error = _raised(lambda: _Model.model_validate({"name": value}))
    assert str_of(error) == str(error)
