"""The text and the stack trace of an exception.

An exception's own `__str__` is called, because its text is what it is for. The objects that an
exception holds are not asked: Python's own `__str__` would, as would its hints after an
`AttributeError` (`__dir__`), and the compiled `__str__` of a failed validation, which shows the
value that failed.

Source: pydantic-core `src/errors/validation_exception.rs` at 2.50, `ValidationError.errors`.
"""

from __future__ import annotations

import traceback
import types
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import Any, cast

from agentool_otel.content.encoding.encoder import as_text, encode, is_plain
from agentool_otel.content.encoding.introspection import (
    class_dict,
    class_name,
    is_a,
    mro,
    type_name,
)
from agentool_otel.ground.interruptions import let_through
from agentool_otel.ground.untrusted_text import count_text

__all__ = ["cause_of", "stack_of", "str_of"]

_MEMBERS = vars(BaseException)
_args: Callable[[BaseException], tuple[Any, ...]] = _MEMBERS["args"].__get__
_cause: Callable[[BaseException], BaseException | None] = _MEMBERS["__cause__"].__get__
_context: Callable[[BaseException], BaseException | None] = _MEMBERS["__context__"].__get__
_suppressed: Callable[[BaseException], bool] = _MEMBERS["__suppress_context__"].__get__
_traceback: Callable[[BaseException], TracebackType | None] = _MEMBERS["__traceback__"].__get__

_SCALARS = (str, int, float, bool, type(None))
_C_MEMBERS = ("errno", "filename", "filename2", "msg", "name", "name_from", "path", "strerror")
"""Members of Python's own exceptions that their `__str__` shows."""
_HINTS = (AttributeError, NameError, ImportError)
_CHAIN = 64


def cause_of(error: BaseException) -> BaseException | None:
    """Return the exception that another one was raised from."""
    return _cause(error)


def str_of(error: BaseException) -> str:
    """Return an exception's text; its class where the text cannot be made."""
    has_own = not _is_pythons(error, "__str__")
    if has_own and (faults := _faults(error)) is not None:
        return "\n".join((count_text(len(faults), "validation error"), *map(_fault_text, faults)))
    if not has_own and not _holds_scalars(error):
        return _text_of_args(error)
    try:
        return str(error)
    except Exception as failure:  # a user's __str__
        let_through(failure)
        return class_name(type(error))


def stack_of(error: BaseException) -> str:
    """Return the stack trace of an exception and of those before it, as Python prints it."""
    chain = list(_chain(error))
    if len(chain) < _CHAIN and all(map(_is_simple, chain)):
        # Compact: `format_exception` makes texts of contexts, too, that a cause hides.
        shown = traceback.TracebackException(type(error), error, _traceback(error), compact=True)
        return "".join(shown.format())
    return "".join(line for item in reversed(chain) for line in _lines(item))


def _is_pythons(error: BaseException, name: str) -> bool:
    """Return whether a method of an exception is that of one of Python's own classes."""
    for base in mro(type(error)):
        if name in class_dict(base):
            return type_name(base) == class_name(base)  # of the module `builtins`
    return True


def _holds_scalars(error: BaseException) -> bool:
    """Return whether `__str__` of Python's own classes would show only texts and numbers."""
    members = (_member(error, name) for name in _C_MEMBERS)
    return all(_is_plain(arg) for arg in (*_args(error), *members))


def _member(error: BaseException, name: str) -> Any:
    for base in mro(type(error)):
        attribute: Any = class_dict(base).get(name)
        if type(attribute) is _MEMBER and type_name(base) == class_name(base):
            try:
                return attribute.__get__(error)
            except AttributeError:
                return None
    return None


_MEMBER: Any = type(vars(OSError)["errno"])


def _is_plain(value: Any) -> bool:
    return any(type(value) is scalar for scalar in _SCALARS) or is_plain(value)


def _text_of_args(error: BaseException) -> str:
    """Return the text that Python would print, with the user's objects among the arguments
    as JSON.
    """
    args = _args(error)
    if len(args) != 1:
        return encode(args)
    [only] = args
    return as_text(_args(only)) if is_a(only, BaseException) else as_text(only)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and its causes, newest first."""
    ids: set[int] = set()
    present: BaseException | None = error
    while present is not None and id(present) not in ids and len(ids) < _CHAIN:
        ids.add(id(present))
        yield present
        cause = _cause(present)
        if cause is None and not _suppressed(present):
            cause = _context(present)
        present = cause


def _is_simple(error: BaseException) -> bool:
    """Return whether Python prints an exception without calling an object that it holds."""
    cls = type(error)
    if any("__getattr__" in class_dict(base) for base in mro(cls)):
        return False
    if not _is_pythons(error, "__getattribute__"):
        return False
    if any(is_a(error, hint) for hint in _HINTS) and not _is_plain(_member(error, "obj")):
        return False
    if any(class_name(base) == "BaseExceptionGroup" for base in mro(cls)):
        exceptions = cast("Any", error).exceptions
        return all(_is_simple(link) for item in exceptions for link in _chain(item))
    if not _is_pythons(error, "__str__"):
        return _faults(error) is None
    return _holds_scalars(error)


def _faults(error: BaseException) -> list[dict[str, Any]] | None:
    """Return the faults of a failed validation of which one is about an object of the user's.

    None for any other exception, also for a validation of plain values.
    """
    for base in mro(type(error)):
        method: Any = class_dict(base).get("errors")
        if type(method) is types.MethodDescriptorType and "__str__" in class_dict(base):
            faults = method(error, include_url=False, include_context=False)
            return None if all(_is_plain(fault.get("input")) for fault in faults) else faults
    return None


def _fault_text(fault: dict[str, Any]) -> str:
    place = ".".join(map(str, fault["loc"]))
    return f"{place}\n  {fault['msg']} [type={fault['type']}]"


def _lines(error: BaseException) -> Iterator[str]:
    """Yield the stack of one exception, and its text as `str_of` has it."""
    if _traceback(error) is not None:
        yield "Traceback (most recent call last):\n"
        yield from traceback.format_tb(_traceback(error))
    words = str_of(error)
    name = type_name(type(error)).removeprefix("__main__.")
    yield f"{name}: {words}\n" if words else f"{name}\n"
