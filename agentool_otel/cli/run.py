"""`run`: record a Python program without changing it.

The program runs as a child with `_bootstrap/sitecustomize.py` first on PYTHONPATH, which
instruments before the first import of a package that has to do with tracing. Its streams are its
own, its exit code is passed on, and what it and its child processes recorded is summed up at the
end.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from itertools import chain, starmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentool_otel.cli._output import say
from agentool_otel.errors import AgentoolError
from agentool_otel.ground import environment, instrumentors
from agentool_otel.ground import lazy_re as re
from agentool_otel.ground.near_names import instead_of
from agentool_otel.ground.ownership import create_own
from agentool_otel.ground.untrusted_text import count_text
from agentool_otel.tracing.export.disk.names import JOURNAL

if TYPE_CHECKING:
    from agentool_otel.cli._order import Place

__all__ = ["command"]

_BOOTSTRAP = Path(__file__).parent / "_bootstrap"
_NOT_FOUND = 127
_NOT_RUNNABLE = 126
_PYTHON = re.compile(r"python[\d.]*(\.exe)?")
_PROGRAM_OPTION = re.compile(r"-[bBdEiIOPqRsSuvx]*([cm])")
"""The option of Python that a program follows, maybe behind flags in the same word."""
_LITTLE = 1 << 20
"""Bytes of room below which a disk counts as full."""
_COUNTED = 50_000_000
"""Bytes of recording up to which its spans and runs are counted."""


@click.command(context_settings={"allow_interspersed_args": False})
@click.argument("program", metavar="[--] COMMAND [ARGS]...", nargs=-1, type=click.UNPROCESSED)
@click.option("--endpoint", help="OTLP endpoint: http://host:4318 or grpc://host:4317.")
@click.option(
    "--content/--no-content",
    default=None,
    help="Record messages, arguments and results; by default only where they stay local.",
)
@click.option("--service-name", help="service.name of the spans.")
@click.option(
    "--also",
    metavar="NAME",
    help=f"Second vocabulary on spans that are sent: openinference ({environment.ALSO}).",
)
@click.option(
    "--agent",
    metavar="NAME",
    help=f"Name of the agent that a loop around a client is ({environment.AGENT}).",
)
@click.option(
    "--children/--no-children",
    default=True,
    help="Record Python processes that the program starts too (default). Installers and builders, "
    "such as pip, are left alone.",
)
@click.option("-q", "--quiet", is_flag=True, help="Do not print the place of the recording.")
def command(
    program: tuple[str, ...],
    endpoint: str | None,
    content: bool | None,
    service_name: str | None,
    also: str | None,
    agent: str | None,
    children: bool,
    quiet: bool,
) -> int:
    """Record a Python program without changing it.

    COMMAND is what you would type without us: python app.py, python -m app, pytest, uvicorn
    app:app, or a script. Without an endpoint, here or in OTEL_EXPORTER_OTLP_ENDPOINT, the
    spans are recorded in .agentool/ (AGENTOOL_DIR).
    """
    if not program:
        raise click.UsageError(
            "no command to run\n hint: agentool-otel run -- python app.py",
            click.get_current_context(),
        )
    if also is not None:
        from agentool_otel.tracing.export.otlp_variables import vocabulary_named

        vocabulary_named(also, "--also")
    if endpoint is not None:
        from agentool_otel.tracing.export.send.otlp import OtlpTarget

        OtlpTarget.at(endpoint, os.environ)
    arguments = _runnable(program)
    if isinstance(arguments, int):
        return arguments
    named = {
        "endpoint": endpoint,
        "content": content,
        "service_name": service_name,
        "also": also,
        "agent": agent,
    }
    options: dict[str, Any] = {
        "instrument": {name: value for name, value in named.items() if value is not None},
        "runner": os.getpid(),
        "program": _name_of(arguments),
        "children": children,
        "packages": _packages(),
        "sums_up": not quiet,
    }
    folder = environment.recordings_folder().absolute()
    with tempfile.TemporaryDirectory(prefix="agentool-run-", ignore_cleanup_errors=True) as notes:
        options["notes"] = notes
        _keep_apart(options, Path(notes))
        try:
            code = _run(arguments, _child_environment(options, folder))
        except PermissionError:
            say(f"{program[0]} is not executable", label="error:")
            return _NOT_RUNNABLE
        except OSError as error:
            say(f"{program[0]} cannot be run: {error.strerror or error}", label="error:")
            return _NOT_FOUND if isinstance(error, FileNotFoundError) else _NOT_RUNNABLE
        if not quiet:
            with suppress(OSError):  # stderr may be closed by now
                noted = _read(Path(notes))
                recovered = not any(map(_has_unsent_spans, noted.values())) and _recover(
                    folder, endpoint
                )
                _sum_up(noted, folder, recovered)
    return code


def _packages() -> list[str]:
    """Return the packages of which none is imported by a program that leaves no span."""
    patched = starmap(instrumentors.patched_packages, instrumentors.entry_points().items())
    return ["agentool_otel", "opentelemetry", *chain.from_iterable(patched)]


def _runnable(program: Sequence[str]) -> list[str] | int:
    """Return the command to start, or an exit code after printing why it cannot be started."""
    name = program[0]
    script = Path(name)
    if script.suffix == ".py" and script.is_file() and not os.access(script, os.X_OK):
        return [sys.executable, *program]
    if shutil.which(name) is not None:
        return list(program)
    if name in ("python", "python3"):
        return [sys.executable, *program[1:]]
    if script.is_file():
        say(f"{name} is not executable", label="error:")
        say(f" hint: agentool-otel run -- python {shlex.quote(name)}")
        return _NOT_RUNNABLE
    say(_absence(script), label="error:")
    example = "agentool-otel run -- python your_app.py"
    say(f" hint: {instead_of(script, folders=False) or _program_meant(name) or example}")
    return _NOT_FOUND


def _absence(program: Path) -> str:
    """Return why a program cannot be started, in words for a file, a folder or a command."""
    if program.is_dir():
        return f"{program} is a folder, and no program"
    if program.suffix == ".py":
        return f"there is no script {program}"
    return f"command not found: {program}"


def _program_meant(name: str) -> str:
    from difflib import get_close_matches

    similar = get_close_matches(name, ("python", "python3", "pytest"), n=1)
    return f"did you mean {similar[0]!r}?" if similar else ""


def _name_of(arguments: Sequence[str]) -> str | None:
    """Return the name of the program that a command line runs: that of its script, module or
    command; None if it is given as text, as by `python -c`.
    """
    name, *remainder = arguments
    if not _PYTHON.fullmatch(Path(name).name):
        return Path(name).stem
    options = iter(remainder)
    for option in options:
        if option in ("-W", "-X"):
            next(options, None)
        elif of_program := _PROGRAM_OPTION.fullmatch(option):
            return None if of_program[1] == "c" else next(options, None)
        elif not option.startswith("-"):
            return Path(option).stem
    return None


def _keep_apart(options: dict[str, Any], notes: Path) -> None:
    """Keep the credentials of an endpoint out of the environment of child processes.

    They are in a file that only this user can read, for as long as the program runs.
    """
    from agentool_otel.ground.urls import without_credentials

    endpoint = options["instrument"].get("endpoint")
    if endpoint is None or endpoint == (shown := without_credentials(endpoint)):
        return
    path = notes / "endpoint"
    with os.fdopen(create_own(path, os.O_WRONLY), "w", encoding="utf-8") as file:
        file.write(endpoint)
    options["instrument"] = {**options["instrument"], "endpoint": shown}
    options["endpoint"] = str(path)


def _child_environment(options: dict[str, Any], folder: Path) -> dict[str, str]:
    path = [str(_BOOTSTRAP)]
    if before := os.environ.get(environment.PYTHON_PATH):
        path.append(before)
    return {
        **os.environ,
        environment.PYTHON_PATH: os.pathsep.join(path),
        environment.RUN_OPTIONS: json.dumps(options),
        environment.FOLDER: str(folder),  # absolute: the program may change its folder
    }


# ---------------------------------------------------------------------------------- the child


def _run(arguments: list[str], variables: dict[str, str]) -> int:
    """Run the command to its end and return its exit code, 128 + n if signal n ended it."""
    child: subprocess.Popen[bytes] | None = None
    early: list[int] = []

    def forward(number: int, _: object) -> None:
        if number in _FROM_TERMINAL and _in_foreground():
            return  # the terminal has sent it to the child as well
        if child is None:
            early.append(number)
        else:
            with suppress(OSError):
                child.send_signal(number)

    with _signal_handler(forward):
        child = subprocess.Popen(arguments, env=variables)
        for number in early:
            child.send_signal(number)
        code = child.wait()
    return code if code >= 0 else 128 - code


_FROM_TERMINAL = [getattr(signal, name) for name in ("SIGINT", "SIGQUIT") if hasattr(signal, name)]
_FORWARDED = [
    *_FROM_TERMINAL,
    *(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)),
]


@contextmanager
def _signal_handler(handler: Any) -> Generator[None]:
    before = {
        number: signal.signal(number, handler)
        for number in _FORWARDED
        if signal.getsignal(number) is not signal.SIG_IGN  # nohup: stays so, for the child too
    }
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


def _in_foreground() -> bool:
    """Return whether signals from the terminal's keys reach this process, and so its child
    as well.
    """
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | getattr(os, "O_NOCTTY", 0))
    except OSError:
        return os.name == "nt"
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


# ------------------------------------------------------------------------------------ the end


def _read(notes: Path) -> dict[int, dict[str, Any]]:
    """Return the note of each Python process, by process id."""
    notes_by_pid: dict[int, dict[str, Any]] = {}
    for note in notes.iterdir():
        if note.name.isdecimal():
            with suppress(OSError, ValueError):
                notes_by_pid[int(note.name)] = json.loads(note.read_bytes())
    return notes_by_pid


def _has_unsent_spans(note: dict[str, Any]) -> bool:
    """Return whether a process kept spans that its endpoint did not accept. Trying again would only
    repeat the message.
    """
    spans = note.get("spans") or {}
    return bool(spans.get("spooled") or spans.get("refused"))


def _recover(folder: Path, endpoint: str | None) -> bool:
    """Recover spans of killed processes, and send those for the endpoint of this run; return
    whether there was anything.
    """
    if not any(folder.glob(f"*{JOURNAL}")):
        return False  # loading what recovers takes as long as a small program
    try:
        from agentool_otel.cli.recover import recover
        from agentool_otel.tracing.export.send.otlp import OtlpTarget
    except ModuleNotFoundError:
        return False  # the SDK is missing here; the program may have run in another Python

    with suppress(AgentoolError):
        target = None if endpoint is None else OtlpTarget.at(endpoint, os.environ)
        return recover(folder, target, own_destination=True).had_work
    return False


def _sum_up(notes: dict[int, dict[str, Any]], folder: Path, recovered: bool) -> None:
    alone = sorted({note["left_alone"] for note in notes.values() if "left_alone" in note})
    notes = {pid: note for pid, note in notes.items() if "left_alone" not in note}
    failed = [note for note in notes.values() if "error" in note]
    if alone and not notes:
        say(f"agentool-otel: nothing recorded: {', '.join(alone)} is no agent program", fg="yellow")
        return
    if not notes:
        say(
            "agentool-otel: nothing recorded: no Python was started that reads "
            f"{environment.PYTHON_PATH}",
            fg="yellow",
        )
        say("  hint: name a Python program, and leave out python's options -I, -E and -S")
        return
    for error in sorted({note["error"] for note in failed if not note.get("reported")}):
        say(f"agentool-otel: {error}", fg="yellow")
    files = [file for pid in notes for file in sorted(folder.glob(f"traces-*-{pid}-*.jsonl"))]
    sent = [note for note in notes.values() if note.get("destination") not in (None, str(folder))]
    lost = sum(
        note["spans"]["dropped"]
        for note in notes.values()
        if note.get("destination") == str(folder)
    )
    if files:
        _sum_up_files(files, folder)
    if lost:
        problem = f"{count_text(lost, 'span')} could not be recorded in {folder}"
        say(f"agentool-otel: {problem}", fg="yellow")
        say(f"  hint: {_room_hint(folder)}")
    elif sent and not files:
        _sum_up_sent(sent)
    elif not files and notes and all(map(_is_off, notes.values())):
        say("agentool-otel: nothing recorded: recording was off in the program", fg="yellow")
        say("  hint: agentool-otel doctor names what is missing")
    elif not files and len(failed) < len(notes) and not recovered:
        say("agentool-otel: 0 spans: no agent, tool or model call was seen")
        say("  hint: agentool-otel doctor shows which frameworks are attached")


def _is_off(note: dict[str, Any]) -> bool:
    """Return whether a process ended without a destination for spans: the SDK was missing there, or
    the program has switched recording off."""
    return "destination" in note and note["destination"] is None


def _room_hint(folder: Path) -> str:
    """Return a hint for a folder in which spans could not be recorded."""
    with suppress(OSError):
        if shutil.disk_usage(folder).free < _LITTLE:
            return f"the disk is full; {environment.FOLDER} names a folder on another one"
    return f"{environment.FOLDER} names the folder; it has to be one you can write to"


def _sum_up_files(files: list[Path], folder: Path) -> None:
    from agentool_otel.cli import _text

    where = os.path.relpath(folder)
    where = str(folder) if where.startswith("..") else where
    size = sum(file.stat().st_size for file in files)
    amount = _text.size(size)
    shown = ""
    if size <= _COUNTED:
        spans, runs, listed = _count_recorded(files)
        amount = f"{count_text(spans, 'span')}, {count_text(runs, 'run')}"
        shown = f" --last {listed}" if listed else " --spans"
    names = [os.path.join(where, file.name) for file in files]
    place = names[0] if len(names) == 1 else f"{count_text(len(names), 'file')} in {where}"
    say(f"agentool-otel: {amount} recorded in {place}")
    say(f"  agentool-otel show{shown}", bold=True)


def _count_recorded(files: list[Path]) -> tuple[int, int, int]:
    """Return how many spans and runs there are, and how many of these are inside no other one."""
    from agentool_otel.cli._order import outermost, place_of
    from agentool_otel.cli._reading import Reading
    from agentool_otel.cli._steps import outside_runs
    from agentool_otel.loading import rebuild
    from agentool_otel.reading.sources.files.span_files import SpanFiles

    reading = Reading(SpanFiles(files), bar=False)
    runs = 0
    places: list[Place] = []
    with suppress(AgentoolError):
        for rebuilt in rebuild(reading.spans()):
            runs += not outside_runs(rebuilt.trace)
            places.append(place_of(rebuilt.trace))
    return reading.count, runs, len(set(outermost(places)))


def _sum_up_sent(notes: list[dict[str, Any]]) -> None:
    for destination in sorted({str(note["destination"]) for note in notes}):
        of_destination = [note for note in notes if note["destination"] == destination]
        spans = [note["spans"] for note in of_destination]
        created = sum(count["created"] for count in spans)
        number = sum(count["spooled"] + count["refused"] for count in spans)
        failed = number + sum(count["dropped"] for count in spans)
        reasons = sorted({reason for note in of_destination if (reason := note.get("reason"))})
        why = f": {'; '.join(reasons)}" if reasons else ""
        if destination.startswith("the application"):
            say(f"agentool-otel: spans went to {destination}")
        elif failed:
            say(
                f"agentool-otel: {failed:,} of {count_text(created, 'span')} could not be "
                f"delivered to {destination}{why}",
                fg="yellow",
            )
            if number:
                verb = "is" if number == 1 else "are"
                say(f"  {number:,} {verb} kept in {environment.recordings_folder()}")
                say("  agentool-otel recover", bold=True)
            say("  hint: agentool-otel doctor checks whether the endpoint answers")
        else:
            from agentool_otel.cli._sent_to import say_next_steps

            is_bare = any(note.get("content") is False for note in of_destination)
            without = "; without messages, which --content sends" if created and is_bare else ""
            say(f"agentool-otel: {count_text(created, 'span')} sent to {destination}{without}")
            if created:
                services = {name for note in of_destination if (name := note.get("service"))}
                say_next_steps(destination, services)
