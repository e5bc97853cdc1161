"""Functions that are patched: wrapt's wrappers, which are copied and pickled like functions.

A function is its own copy, and is pickled by its name. wrapt's wrappers can be neither.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import wrapt

if TYPE_CHECKING:

    class _FunctionWrapper:
        """Types of wrapt's wrapper for type checkers."""

        __wrapped__: Any
        _self_instance: Any
        _self_parent: Any

        def __init__(self, wrapped: Any, wrapper: Any, enabled: Any) -> None: ...

    _BoundFunctionWrapper = _FunctionWrapper
else:
    _FunctionWrapper = wrapt.FunctionWrapper
    _BoundFunctionWrapper = wrapt.BoundFunctionWrapper

__all__ = ["Patched"]


class _Bound(_BoundFunctionWrapper):
    """A patched method, of an object or of its class."""

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        instance = self._self_instance
        if instance is None:
            return self
        return getattr(copy.deepcopy(instance, memo), self.__wrapped__.__name__)

    def __reduce_ex__(self, protocol: Any) -> Any:
        if self._self_instance is None:
            return self._self_parent.__reduce_ex__(protocol)
        return getattr, (self._self_instance, self.__wrapped__.__name__)


class Patched(_FunctionWrapper):
    """A patched function."""

    __bound_function_wrapper__ = _Bound

    _self_place: tuple[Any, str]
    """The class or module that holds it, and its name there."""

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self

    def __reduce_ex__(self, protocol: Any) -> Any:
        owner, name = self._self_place
        if isinstance(owner, type):
            return getattr, (owner, name)
        # A copy of a function is that function: one without a patch, found by its own name.
        return copy.copy, (self.__wrapped__,)
