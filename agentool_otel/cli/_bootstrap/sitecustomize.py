"""Runs before the program in every Python that `agentool-otel run` starts, directly or not.

Python imports a module of this name from PYTHONPATH at its start. It leaves a note for `run`, gives
way to the `sitecustomize` the user may have, and instruments before the program imports the first
package that has to do with tracing: a program without any pays for none of it. Nothing that goes
wrong here reaches the program. It may run in any Python, so it is standard library only and simple.

Source of the mechanism: CPython Lib/site.py, `execsitecustomize`.
"""

import atexit
import importlib.machinery
import importlib.util
import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # importing `typing` takes as long as all the rest
    from typing import Any, Dict, Iterator  # noqa: UP035 - any Python may start this file

_HERE = os.path.dirname(os.path.abspath(__file__))
_VARIABLE = "AGENTOOL_OTEL_RUN"
"""`RUN_OPTIONS` of `ground.environment`, which a Python without agentool_otel cannot import."""


_NEEDED = ("agentool_otel", "msgspec", "opentelemetry")
"""Packages without which a Python cannot be instrumented: it stops at once with an error."""
_HOOKS = "agentool_otel.ground.import_hooks"


_BUILDS = frozenset(
    (
        *("pip", "ensurepip", "venv", "virtualenv", "build", "setuptools", "wheel"),
        *("hatchling", "flit", "flit_core", "twine"),
    )
)
"""Installers and builders, by module or command: no agents, and what they start is none either."""
_RUNNERS = frozenset(["hatch", "poetry", "pdm", "pipenv", "pipx", "tox", "nox", "uv", "conda"])
"""Front ends that may start the program of the user: only they themselves are none."""
_BUILD_SCRIPTS = frozenset(["setup.py", "get-pip.py", "__pip-runner__.py", "_in_process.py"])
"""Scripts that installers and builders start. Source: pip 21 to 25, pyproject_hooks 1, pep517 0.13.
"""


def _leave() -> None:
    """Take our folder off the path of this process; its children still inherit PYTHONPATH."""
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != _HERE]


def _chain() -> None:
    """Run the sitecustomize that would have run without us."""
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    ours = sys.modules.get("sitecustomize")
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        if ours is not None:
            sys.modules["sitecustomize"] = ours
        raise


def _note(options: "Dict[str, Any]", **entries: "Any") -> None:  # noqa: UP006
    """Write a note about this process for `run`, replacing an earlier one."""
    folder = options.get("notes")
    if not isinstance(folder, str):
        return
    try:
        path = os.path.join(folder, str(os.getpid()))
        with open(path + ".part", "w", encoding="utf-8") as file:
            json.dump(entries, file)
        os.replace(path + ".part", path)
    except OSError:  # `run` has ended before us
        pass


def _instrument(options: "Dict[str, Any]") -> None:  # noqa: UP006
    def note(**entries: "Any") -> None:
        _note(options, **entries)

    def at_exit() -> None:
        runtime = sys.modules.get("agentool_otel.tracing.setup.runtime")
        if runtime is None:
            return
        try:
            note(**runtime.runtime.summary())
        except Exception as error:
            note(error=f"{type(error).__name__}: {error}")

    def after_fork() -> None:
        note()

    note()
    atexit.register(at_exit)  # before the SDK's own, so that it runs after it
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=after_fork)
    names = options.get("packages", ())
    arguments = _arguments(options)  # `run` may have ended by the time that they are needed
    try:
        if _waits(names):
            _hooks().before_first(names, lambda: _begin(options, arguments))
            return
    except Exception:  # finders of others may do what they like
        pass
    _begin(options, arguments)


def _begin(options: "Dict[str, Any]", arguments: "Dict[str, Any]") -> None:  # noqa: UP006
    """Instrument, now."""
    import warnings

    try:
        # What is imported here may warn, and warnings may be errors: none of them is the program's.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            # First, so that the program finds the function under this name and not the package.
            from agentool_otel.tracing import setup  # noqa: F401 # pyright: ignore[reportUnusedImport]
            from agentool_otel.tracing.setup.runtime import instrument_for_run

            instrument_for_run(**arguments)
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        if isinstance(error, ImportError):
            message = f"agentool_otel cannot be used by {sys.executable} ({error})"
        reported = os.getppid() == options.get("runner")
        _note(options, error=message, reported=reported)
        if reported:
            sys.stderr.write(f"agentool-otel: not recording: {message}\n")


def _waits(names: "Any") -> bool:
    """Return whether nothing has to be instrumented before one of some packages is imported."""
    return (
        bool(names)
        and not any(name in sys.modules for name in names)
        and all(importlib.util.find_spec(name) is not None for name in _NEEDED)
        and not _has_plugins()
    )


def _has_plugins() -> bool:
    """Return whether a third party has an instrumentor for a framework of its own."""
    for folder, name in _distributions():
        try:
            with open(os.path.join(folder, name, "entry_points.txt"), "rb") as file:
                text = file.read()
        except OSError:
            continue
        if b"[opentelemetry_instrumentor]" in text and b"\nagentool-" in text:
            return True
    return False


def _distributions() -> "Iterator[tuple[str, str]]":
    """Yield folder and name of installed distributions, without this package itself."""
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        for name in names:
            if name.endswith((".dist-info", ".egg-info")) and not name.startswith("agentool_otel-"):
                yield folder, name


def _hooks() -> "Any":
    """Return `ground.import_hooks`, which is standard library only, without its package."""
    package = os.path.dirname(os.path.dirname(_HERE))
    path = os.path.join(package, "ground", "import_hooks.py")
    spec = importlib.util.spec_from_file_location(_HOOKS, path)
    if spec is None or spec.loader is None:
        raise ImportError(path)
    module = sys.modules[_HOOKS] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _arguments(options: "Dict[str, Any]") -> "Dict[str, Any]":  # noqa: UP006
    """Return the arguments for `instrument()`; an endpoint with credentials is read from a file."""
    arguments = dict(options.get("instrument", {}))
    if "endpoint" in options:
        try:
            with open(options["endpoint"], encoding="utf-8") as file:
                arguments["endpoint"] = file.read()
        except OSError:  # `run` has ended before us: spans wait until somebody has credentials
            pass
    return arguments


def _start() -> None:
    try:
        options: Any = json.loads(os.environ.get(_VARIABLE, ""))
    except ValueError:
        return
    if not isinstance(options, dict):
        return
    try:
        program = _program()
    except OSError:  # the folder we are in was deleted
        program = ""
    if not options.get("children", True) or program in _BUILDS:
        _forget()
    if program in _BUILDS | _RUNNERS:
        _note(options, left_alone=program)
    else:
        _instrument(options)


def _forget() -> None:
    """Let the children of this process be as without us."""
    os.environ.pop(_VARIABLE, None)
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    paths = [entry for entry in paths if entry and os.path.abspath(entry) != _HERE]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    if not paths:
        del os.environ["PYTHONPATH"]


def _program() -> str:
    """Return the module or command that this Python was started for, if its name identifies it.

    A module or script of that name in the folder of the user is the user's.
    """
    arguments = list(getattr(sys, "argv", None) or [""])
    if arguments[0] == "-m":
        command = getattr(sys, "orig_argv", [])  # since Python 3.10; before it nobody tells
        module = command[-len(arguments)] if len(command) >= len(arguments) else ""
        name = module.rpartition("-m")[2].partition(".")[0]
        return "" if os.path.exists(name + ".py") else name
    folder, script = os.path.split(os.path.realpath(arguments[0]))
    if script in _BUILD_SCRIPTS:
        return "setuptools"
    if folder != os.path.realpath(os.path.dirname(sys.executable)):
        return ""
    name = os.path.splitext(script)[0] if script.endswith(".exe") else script
    return "pip" if name.startswith("pip") and name[3:].replace(".", "").isdigit() else name


_leave()
try:
    _chain()
finally:
    _start()
