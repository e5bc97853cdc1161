"""python -m tests.pages.pictures [--only NAME] [--environments FOLDER]

Write the pictures of the documents to docs/pictures: the demo on a terminal, the HTML report of its
failed run, and its trace in Phoenix. All three are of one run of the real command.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import click
from rich.console import Console
from rich.text import Text

from tests.environments import NotInstalled, prepare
from tests.pages._screenshots import take
from tests.pages._server import NotReady, warm_up
from tests.pages.phoenix import Phoenix

__all__ = ["PICTURES", "main", "sections", "svg_of"]

PICTURES = Path(__file__).resolve().parent.parent.parent / "docs" / "pictures"
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agentool-otel-tests"
_COLUMNS = 110
_SECTIONS = ("its spans", "its steps, rebuilt from the spans", "what holds of it")
"""Parts of the demo's output that are in the picture; the others are a line of three dots."""
_PROJECT = "demo"
_PATIENCE_S = 60.0
_TRIES = 6
_FONT_FACE = re.compile(r"\s*@font-face \{.*?\}", re.S)
_RULE = re.compile(r"(\S.*?) ─+")


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--only", multiple=True, type=click.Choice(["terminal", "report", "phoenix"]))
@click.option(
    "--environments",
    type=click.Path(path_type=Path),
    default=_CACHE / "environments",
    help="Folder of Phoenix' environment; kept for the next time.",
)
def main(only: tuple[str, ...], environments: Path) -> None:
    """Write the pictures; exit 1 where one could not be made."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    makers: dict[str, Callable[[Path, str], str]] = {
        "terminal": _terminal,
        "report": _report,
        "phoenix": lambda folder, _: _phoenix(folder, environments),
    }
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary)
        output = _on_terminal(folder, "demo")
        texts = [make(folder, output) for name, make in makers.items() if name in (only or makers)]
    for words in texts:
        click.echo(words, err=True)
    raise SystemExit(any(words.startswith("no picture") for words in texts))


def _terminal(folder: Path, output: str) -> str:
    path = PICTURES / "terminal.svg"
    path.write_text(svg_of("agentool-otel demo", sections(output)), encoding="utf-8")
    return str(path)


def _report(folder: Path, output: str) -> str:
    """Evaluate the demo's run by the checks it prints, and take a picture of the page."""
    checks = re.findall(r"^[✓✗-] (\{.*\})$", Text.from_ansi(output).plain, re.M)
    (folder / "checks.json").write_text(f"[{','.join(checks)}]", encoding="utf-8")
    _run(folder, "eval", "checks.json", "--html", "report.html", expected=1)
    page = (folder / "report.html").as_uri()
    return take({"report": page}, PICTURES, size=(1200, 1080))[0]


def _phoenix(folder: Path, environments: Path) -> str:
    """Send the demo's spans to Phoenix in OpenInference, and take a picture of the trace."""
    try:
        python = prepare(environments / "phoenix", Phoenix.packages)
        backend = Phoenix(python, folder / "phoenix")
        with backend.server:
            backend.server.wait()
            warm_up(backend.url, backend.place("warm-up"))
            headers = ",".join(f"{name}={value}" for name, value in backend.place(_PROJECT).items())
            options = ("--dialect", "openinference", "--endpoint", backend.url, ".agentool")
            _run(folder, "export", *options, OTEL_EXPORTER_OTLP_HEADERS=headers)
            _wait(lambda: backend.count(_PROJECT) >= _span_count(folder))
            page = backend.pages(_PROJECT)["run"]
            return _settled("phoenix", page)
    except (NotInstalled, NotReady) as error:
        return f"no picture of Phoenix: {error}"


def _settled(name: str, page: str) -> str:
    """Take pictures of a page until two are alike: moving parts differ in each."""
    path, before = PICTURES / f"{name}.png", b""
    for _ in range(_TRIES):
        words = take({name: page}, PICTURES, size=(1400, 900))[0]
        if not path.exists() or path.read_bytes() == before:
            return words
        before = path.read_bytes()
    return f"no picture of {name}: it does not come to rest"


def sections(output: str) -> str:
    """Return the parts of the demo's output that are in the picture."""
    results: list[str] = []
    wanted = True
    for line in output.splitlines():
        rule = _RULE.fullmatch(Text.from_ansi(line).plain)
        if rule is not None:
            before, wanted = wanted, rule[1] in _SECTIONS
            if before and not wanted:
                results += ["…", ""]
        if wanted:
            results.append(line)
    while results[-1] in ("", "…"):
        results.pop()
    return "\n".join(results)


def svg_of(command: str, output: str) -> str:
    """Return a terminal with a command and its output as SVG, which loads nothing."""
    console = Console(record=True, width=_COLUMNS, file=io.StringIO(), color_system="truecolor")
    console.print(Text.assemble(("$ ", "dim"), (command, "bold")))
    console.print(Text.from_ansi(output), soft_wrap=True)
    svg = console.export_svg(title=command, unique_id="terminal")
    return _FONT_FACE.sub("", svg)


def _on_terminal(folder: Path, *arguments: str) -> str:
    """Run the command on a terminal of its own and return its output, with its colours."""
    import pty  # no terminals of this kind on Windows

    leader, follower = pty.openpty()
    process = subprocess.Popen(
        _command(*arguments),
        cwd=folder,
        env=_environment(COLUMNS=str(_COLUMNS), TERM="xterm-256color"),
        stdin=follower,
        stdout=follower,
        stderr=follower,
    )
    os.close(follower)
    pieces: list[bytes] = []
    try:
        while piece := os.read(leader, 1 << 16):
            pieces.append(piece)
    except OSError:  # Linux ends a terminal so whose other side is closed
        pass
    finally:
        os.close(leader)
    if process.wait():
        raise SystemExit(f"{arguments} ended with {process.returncode}")
    return b"".join(pieces).decode().replace("\r\n", "\n")


def _run(folder: Path, *arguments: str, expected: int = 0, **variables: str) -> None:
    done = subprocess.run(
        _command(*arguments),
        cwd=folder,
        env=_environment(**variables),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != expected:
        raise SystemExit(f"{arguments} ended with {done.returncode}: {done.stderr}")


def _command(*arguments: str) -> list[str]:
    return [str(Path(sys.executable).with_name("agentool-otel")), *arguments]


def _environment(**variables: str) -> dict[str, str]:
    settings = ("OTEL_", "AGENTOOL_", "NO_COLOR", "FORCE_COLOR")
    values = {name: value for name, value in os.environ.items() if not name.startswith(settings)}
    path = os.pathsep.join((str(Path(sys.executable).parent), values.get("PATH", "")))
    return {**values, "PATH": path, **variables}  # hints name a program on PATH as it is typed


def _span_count(folder: Path) -> int:
    from agentool_otel.reading.sources.opening import open_source

    return sum(1 for _ in open_source(folder / ".agentool").spans())


def _wait(ready: Callable[[], bool]) -> None:
    until = time.monotonic() + _PATIENCE_S
    while not ready():
        if time.monotonic() > until:
            raise NotReady("it does not show all spans")
        time.sleep(0.5)


if __name__ == "__main__":
    main()
