"""python -m tests.pages [--only BACKEND] [--environments FOLDER] [--pictures FOLDER]

What a person sees of our spans in Phoenix and in MLflow: both are started for real, programs send
to them, and what their own APIs have made of it is judged cell by cell.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

import click

from tests.environments import NotInstalled, prepare
from tests.pages import _screenshots
from tests.pages._model import the_model
from tests.pages._server import NotReady, warm_up
from tests.pages._table import Column, failures, print_cells, print_figures
from tests.pages.cells import seen
from tests.pages.mlflow import MLflow
from tests.pages.phoenix import Phoenix
from tests.pages.sending import MODES, PROGRAMS, SenderFailed, Sent, measure, send

Backend = Phoenix | MLflow
_BACKENDS: dict[str, type[Backend]] = {"phoenix": Phoenix, "mlflow": MLflow}
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agentool-otel-tests"
_PATIENCE_S = 60.0


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--only", multiple=True, type=click.Choice(list(_BACKENDS)), help="This one.")
@click.option(
    "--environments",
    type=click.Path(path_type=Path),
    default=_CACHE / "environments",
    help="Folder of the servers' environments; kept for the next time.",
)
@click.option(
    "--pictures",
    type=click.Path(path_type=Path),
    default=_CACHE / "pictures",
    help="Folder of the pictures of their pages, where there is a chromium.",
)
def main(only: tuple[str, ...], environments: Path, pictures: Path) -> None:
    """Print the table of cells.

    Exit 1 where a floor is not reached or a server does not do what it should; a backend whose
    packages cannot be had is skipped.
    """
    started = time.monotonic()
    judged: dict[Column, dict[str, bool]] = {}
    try:
        with ExitStack() as stack:
            backends = _backends(only or tuple(_BACKENDS), environments, stack)
            model = stack.enter_context(the_model())
            sent = _measure(model.env())
            for backend in backends:
                judged.update(_judge(backend, model.env(), sent))
                _say(_screenshots.take(_named(backend), pictures))
    except (NotReady, SenderFailed) as error:
        _say([f"failed: {error}"])
        raise SystemExit(1) from None
    if judged:
        print_cells(judged)
    print_figures(sent)
    missed = failures(judged)
    _say([*missed, f"{time.monotonic() - started:.0f} s"])
    raise SystemExit(1 if missed else 0)


def _backends(names: tuple[str, ...], environments: Path, stack: ExitStack) -> list[Backend]:
    """Start the servers; one whose packages cannot be had is left out with the reason."""
    backends: list[Backend] = []
    for name in names:
        kind = _BACKENDS[name]
        _say([f"{kind.name}: installing {', '.join(kind.packages)} in {environments / name}"])
        try:
            python = prepare(environments / name, kind.packages)
        except NotInstalled as error:
            _say([f"{kind.name}: skipped: {error}"])
            continue
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        backend = kind(python, folder)
        stack.enter_context(backend.server)
        backends.append(backend)
        _say([f"{kind.name}: {_version(python, name)} starts at {backend.url}"])
    for backend in backends:
        waited = backend.server.wait()
        warm_up(backend.url, backend.place("warm-up"))
        _say([f"{backend.name}: ready, after {waited:.0f} s more"])
    return backends


def _version(python: Path, name: str) -> str:
    distribution = {"phoenix": "arize-phoenix"}.get(name, name)
    code = "import importlib.metadata as m, sys; print(m.version(sys.argv[1]))"
    command = [str(python), "-c", code, distribution]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def _measure(model: dict[str, str]) -> dict[str, dict[str, Sent]]:
    modes = {**MODES, "copies on": {"AGENTOOL_SPAN_COPIES": "on"}}
    _say(["what is sent: " + ", ".join(modes)])
    return {
        mode: {program: measure(program, {**model, **variables}) for program in PROGRAMS}
        for mode, variables in modes.items()
    }


def _judge(
    backend: Backend, model: dict[str, str], sent: dict[str, dict[str, Sent]]
) -> dict[Column, dict[str, bool]]:
    judged: dict[Column, dict[str, bool]] = {}
    for mode, variables in MODES.items():
        places = {program: f"{program}-{mode}" for program in PROGRAMS}
        for program, place in places.items():
            _say([f"{backend.name}: {place}"])
            send(program, backend.url, {**model, **variables}, backend.place(place))
        for program, place in places.items():
            _arrived(backend, place, sent[mode][program].spans)
        judged[backend.name, mode] = seen(backend.shown(places))
    return judged


def _arrived(backend: Backend, place: str, expected: int) -> None:
    """Wait until a backend has all spans, and the values it derives from them."""
    until = time.monotonic() + _PATIENCE_S
    while (count := backend.count(place)) < expected:
        if time.monotonic() > until:
            raise NotReady(f"{backend.name} shows {count} of {expected} spans of {place}")
        time.sleep(0.5)


def _named(backend: Backend) -> dict[str, str]:
    return {
        f"{backend.name}-{mode}-{page}".lower(): url
        for mode in MODES
        for page, url in backend.pages(f"decorated-{mode}").items()
    }


def _say(lines: list[str]) -> None:
    for line in lines:
        print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
