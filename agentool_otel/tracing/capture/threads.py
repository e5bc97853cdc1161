"""Threads, timers, processes and pools work in the context of whoever gives them the work.

Tasks and callbacks of an event loop do so by themselves, and `asyncio.to_thread` too. In another
process only the trace and the baggage are known, as they would be in a request to a server.

A function that somebody has replaced is left as it is, and listed by `patches`.

Everything is off until `carry_into_threads()`. OpenTelemetry's own threading instrumentation may be
on as well: the same context is then made current twice, which changes nothing.
"""

from __future__ import annotations

import concurrent.futures
import concurrent.futures.thread
import functools
import sys
import threading
from collections.abc import Callable
from typing import Any

from opentelemetry.context import Context, attach, get_current

from agentool_otel.ground.attached import Attached
from agentool_otel.ground.import_hooks import after_import
from agentool_otel.tracing.capture.context import bind_context, extract, inject
from agentool_otel.tracing.spans.attaching import restore

__all__ = ["carry_into_threads", "in_trace", "patches", "stop_carrying"]

Method = Callable[..., Any]
Bind = Callable[[Any], Method]
"""Gives the original method of an instance."""

_GIVING = ("apply_async", "map", "map_async", "starmap", "starmap_async", "imap", "imap_unordered")
"""Methods of a pool of processes that give it work."""
_carrying = False
_installed: dict[tuple[type, str], tuple[Any, Method]] = {}
"""By class and name, the original method and what stands in for it."""
_attached: dict[str, Attached] = {}
"""By target, how that turned out."""
_awaited: set[str] = set()
_NOBODYS = Context()


def carry_into_threads() -> None:
    """Switch it on, also for the pools of modules that are imported later."""
    global _carrying
    _carrying = True
    _install(threading, "Thread.start", _starting)
    _install(concurrent.futures.thread, "ThreadPoolExecutor.submit", _submitting)
    for module, attach_to in (
        ("concurrent.futures.process", _attach_to_executors),
        ("multiprocessing.pool", _attach_to_pools),
        ("multiprocessing.process", _attach_to_processes),
    ):
        if module in sys.modules:
            attach_to(sys.modules[module])
        elif module not in _awaited:
            _awaited.add(module)
            after_import(module, attach_to)


def stop_carrying() -> None:
    """Switch it off; what somebody has wrapped since stays in place and lets calls pass."""
    global _carrying
    _carrying = False
    _attached.clear()
    for (owner, name), (original, ours) in list(_installed.items()):
        if vars(owner).get(name) is ours:
            setattr(owner, name, original)
            del _installed[owner, name]


def patches() -> list[Attached]:
    """Return how each patch turned out, of modules that were imported by now."""
    return list(_attached.values())


def _attach_to_executors(module: Any) -> None:
    _install(module, "ProcessPoolExecutor.submit", _submitting)


def _attach_to_processes(module: Any) -> None:
    _install(module, "BaseProcess.start", _starting_process)


def _attach_to_pools(module: Any) -> None:
    for name in _GIVING:
        _install(module, f"Pool.{name}", _giving)


def _install(module: Any, path: str, make: Callable[[Bind], Method]) -> None:
    """Stand around a method, where it is defined: somebody may have put a subclass in place of the
    class, as gevent does, and other subclasses know the one below."""
    if not _carrying:
        return
    target = f"{module.__name__}.{path}"
    class_name, _, name = path.partition(".")
    try:
        owner = _definer(getattr(module, class_name), name)
        if (owner, name) not in _installed:
            original = vars(owner)[name]
            # Bound for each call, as attribute access would: wrappers made by wrapt go by that.
            ours = functools.update_wrapper(make(original.__get__), original)
            setattr(owner, name, ours)
            _installed[owner, name] = original, ours
        _attached[target] = Attached(target, "attached")
    except Exception as error:  # whatever somebody has put there works without us
        _attached[target] = Attached(target, "failed", f"{type(error).__name__}: {error}")


def _definer(cls: type, name: str) -> type:
    for each in cls.__mro__:
        if name in vars(each):
            return each
    raise AttributeError(f"{cls.__module__}.{cls.__qualname__} has no {name}")


# --------------------------------------------------------------------------------------- wrappers


def _starting(start: Bind) -> Method:
    """Of `Thread`: its `run` is bound to the context until it has run.

    On the instance, because subclasses override `run` and need not call the one of `Thread`.
    """

    def carrying_start(self: threading.Thread) -> None:
        members = self.__dict__
        if not (_carrying and get_current()) or "run" in members:
            start(self)()
            return
        run = bind_context(self.run)

        def carried() -> None:
            del members["run"]
            run()

        members["run"] = carried
        try:
            start(self)()
        except BaseException:
            members.pop("run", None)
            raise

    return carrying_start


def _starting_process(start: Bind) -> Method:
    """Of `multiprocessing.Process`: its `run`, too, for as long as it takes to pickle it.

    A forked process has the context anyway, with all that is known of the run in progress.
    """

    def carrying_start(self: Any) -> None:
        members = self.__dict__
        carrier: dict[str, str] = {}
        if _carrying and get_current() and "run" not in members and not _forks(self):
            inject(carrier)
        if not carrier:
            start(self)()
            return
        members["run"] = functools.partial(in_trace, carrier, self.run)
        try:
            start(self)()
        finally:
            members.pop("run", None)

    return carrying_start


def _forks(process: Any) -> bool:
    # Source: CPython 3.10 to 3.14, multiprocessing/context.py; None is the default's.
    method = getattr(process, "_start_method", None)
    return bool((method or sys.modules["multiprocessing"].get_start_method()) == "fork")


def _submitting(submit: Bind) -> Method:
    """Of an executor. The threads it may start are nobody's: only the work belongs to a run."""

    def carrying_submit(self: Any, fn: Method, /, *args: Any, **kwargs: Any) -> Any:
        bound = _bound(self, fn)
        token = attach(_NOBODYS)
        try:
            return submit(self)(bound, *args, **kwargs)
        finally:
            restore(token)

    return carrying_submit


def _giving(method: Bind) -> Method:
    """Of `multiprocessing.Pool`."""

    def carrying_give(self: Any, func: Method, *args: Any, **kwargs: Any) -> Any:
        return method(self)(_bound(self, func), *args, **kwargs)

    return carrying_give


def _bound(pool: Any, fn: Method) -> Method:
    """Bind what a pool is to do to the current context, even if that is empty.

    Its threads and forked processes begin with the context in which they happened to be started.
    """
    if not _carrying:
        return fn
    if not _elsewhere(pool):
        return bind_context(fn)
    carrier: dict[str, str] = {}
    inject(carrier)
    return functools.partial(in_trace, carrier, fn)


def _elsewhere(pool: Any) -> bool:
    """True if a pool's work leaves this interpreter, and so has to be pickled."""
    interpreters: Any = getattr(concurrent.futures, "InterpreterPoolExecutor", None)  # Python 3.14
    if isinstance(pool, concurrent.futures.ThreadPoolExecutor):
        return interpreters is not None and isinstance(pool, interpreters)
    pools = sys.modules.get("multiprocessing.pool")
    return pools is None or not isinstance(pool, pools.ThreadPool)


def in_trace(carrier: dict[str, str], fn: Method, /, *args: Any, **kwargs: Any) -> Any:
    """Call a function in another process, as part of the trace in a carrier."""
    token = attach(extract(carrier))
    try:
        return fn(*args, **kwargs)
    finally:
        restore(token)
