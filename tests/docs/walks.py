"""Run the blocks of a page in one shell with a terminal, so that output is as for a reader.

    python -m tests.docs.walks docs/start/ten-minutes.md        # writes real output into the page

If one output is outdated, each output without a gap is written again, so that ids and figures agree
from point to point; `--all` does so in any case.

`tests.docs.blocks` has the languages and marks of blocks. The folder has the data files that lie
beside the page. Output of the page and of the block are compared without ids, times and large
numbers.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from socket import socket
from tempfile import TemporaryDirectory
from typing import NamedTuple

from tests.docs.blocks import Block, blocks
from tests.docs.terminal import run_in_terminal

__all__ = [
    "Outcome",
    "failures",
    "fits",
    "jaeger_ports",
    "outdated",
    "walk",
    "with_real_outputs",
]

ROOT = Path(__file__).parent.parent.parent
LOOPBACK_PORT = "8900"
"""The port of the loopback model in pages; a run takes a free one."""
_TIMEOUT_S = 300
_BASH = ("bash", "-c")


class Outcome(NamedTuple):
    """Output of a block."""

    block: Block
    output: str
    failures: tuple[int, ...]
    """Exit codes other than 0 of the commands in the block."""

    @property
    def as_stated(self) -> bool:
        """Return whether the exit codes are those of the page."""
        expected = (int(self.block.value),) if self.block.mark == "exit" else ()
        return self.failures == expected


def walk(
    page: Path,
    folder: Path,
    *,
    servers: frozenset[str] = frozenset(),
    ports: Mapping[str, str] = {},
) -> list[Outcome]:
    """Run the blocks of a page.

    Args:
        page: file of the page.
        folder: an empty folder to run in.
        servers: names of the servers that run.
        ports: ports that replace those in the page.
    """
    for file in page.parent.iterdir():
        if file.suffix in (".json", ".yaml") and folder != page.parent:
            shutil.copy(file, folder)
    ports = {LOOPBACK_PORT: str(_free_port()), **ports}
    runnable = list(_runnable(page, servers))
    script = "\n".join(
        [_PROLOGUE, *(_script(n, item) for n, item in enumerate(runnable)), _EPILOGUE]
    )
    for stated, taken in ports.items():
        script = re.sub(rf"\b{stated}\b", taken, script)
    _, output = run_in_terminal((*_BASH, script), folder, _environment(), _TIMEOUT_S)
    for stated, taken in ports.items():
        output = re.sub(rf"\b{taken}\b", stated, output)
    matches = re.findall(r"\x02(\d+)\x03(.*?)\x02end\x03([ \d]*)\x02", output, re.S)
    assert len(matches) == len(runnable), f"the shell ended early: {output[-500:]}"
    return [
        Outcome(block, text, tuple(int(code) for code in codes.split()))
        for block, (_, text, codes) in zip(runnable, matches, strict=True)
    ]


def failures(outcomes: Iterable[Outcome]) -> list[str]:
    """Return each block whose exit codes are not as the page states."""
    return [
        f"{outcome.block.place}: {outcome.failures}\n{outcome.output}"
        for outcome in outcomes
        if not outcome.as_stated
    ]


def outdated(page: Path, outcomes: Iterable[Outcome]) -> list[str]:
    """Return each output in the page that differs from the output of the block."""
    printed = {outcome.block: outcome.output for outcome in outcomes}
    return [
        f"{shown.place}:\n{printed[producer]}"
        for producer, shown in _expected_outputs(page)
        if producer in printed and not fits(shown.text, printed[producer])
    ]


def fits(shown: str, printed: str) -> bool:
    """Return whether the output in a page matches the printed one."""
    pattern = "".join(
        r"(?:.*\n)*?" if line in ("…", "...") else f"{_line(line)}\n"
        for line in _comparable(shown).splitlines()
    )
    return re.fullmatch(pattern, f"{_comparable(printed)}\n") is not None


def _line(line: str) -> str:
    return ".*?".join(re.escape(part) for part in line.split("…"))


def _expected_outputs(page: Path) -> Iterator[tuple[Block, Block]]:
    """Yield each block with output in the page, after the block that prints it."""
    earlier = None
    for block in blocks(page):
        if block.mark == "output":
            assert earlier is not None, f"line {block.line}: no block before this output"
            yield earlier, block
        else:
            earlier = block


def with_real_outputs(page: Path, outcomes: list[Outcome], *, every: bool = False) -> str:
    """Return the text of a page with the outputs of its blocks in place of outdated ones.

    Args:
        page: file of the page.
        outcomes: what its blocks have printed.
        every: write current outputs, too. One outdated output has the same effect, because ids and
            figures of two runs do not agree. Current outputs with gaps (`…`) stay.
    """
    printed = {outcome.block: outcome.output for outcome in outcomes}
    every = every or bool(outdated(page, outcomes))
    lines = page.read_text(encoding="utf-8").splitlines()
    for producer, shown in reversed(list(_expected_outputs(page))):
        if producer not in printed:
            continue
        current = fits(shown.text, printed[producer])
        if not current or (every and not _gaps(shown.text, printed[producer])):
            new = [line.rstrip() for line in printed[producer].strip("\n").splitlines()]
            lines[shown.line : shown.line + shown.text.count("\n")] = new
    return "\n".join(lines) + "\n"


def _gaps(shown: str, printed: str) -> bool:
    """Return whether the output in a page has gaps; a printed `…` is none."""
    return shown.count("…") != printed.count("…")


def _comparable(output: str) -> str:
    """Return output without parts that differ from run to run: ids, times, large numbers,
    layout.
    """
    for pattern, name in _VARIABLE:
        output = re.sub(pattern, name, output)
    lines = (" ".join(line.split()) for line in output.splitlines())
    return "\n".join(line for line in lines if line)


_VARIABLE = (
    (r"traces-\S+?\.jsonl", "RECORDING"),
    (r"\d{4}-\d\d-\d\d[ T][\d:.]+Z", "TIME"),
    (r"\b(\d\d-\d\d \d\d:\d\d|\d\d:\d\d:\d\d|\d{4}-\d\d-\d\d)\b", "TIME"),
    (r"\b[0-9a-f]{8,}(:[0-9a-f]{4}\b)?", "ID"),
    (r"[+-]?\d[\d.,]* (ms|s|µs)\b", "DURATION"),
    (r"[+-]\d[\d.,]*%", "CHANGE"),
    (r"(?<![\d.])\d{3,}\b", "NUMBER"),  # ports and tokens; small numbers and scores are compared
    (r"[-─]{2,}", "--"),
)


def _runnable(page: Path, servers: frozenset[str]) -> Iterator[Block]:
    for block in blocks(page):
        if block.mark == "with" and block.value not in servers:
            return
        runs = block.language in ("python", "sh") or block.mark == "file"
        if runs and block.mark != "not run":
            yield block


def _script(number: int, block: Block) -> str:
    # Marks have lines of their own, since a carriage return removes what stands before it.
    start = f"printf '\\002{number}\\003\\n'; failures="
    end = "printf '\\n\\002end\\003%s\\002' \"$failures\""
    return "\n".join([start, *_commands(number, block), end])


def _commands(number: int, block: Block) -> list[str]:
    if block.mark == "file":
        name = shlex.quote(block.value)
        return [f'mkdir -p "$(dirname {name})"', *_here_document(name, block.text)]
    if block.language == "python":
        program = f'"$blocks/example{number}.py"'
        return [*_here_document(program, block.text), f"python {program}"]
    if block.mark == "background":
        log = f'"$blocks/{number}.log"'
        wait = f"for _ in $(seq 200); do [ -s {log} ] && break; sleep 0.1; done"
        return [f'{block.text.strip()} > {log} 2>&1 & started="$started $!"', wait, f"cat {log}"]
    return [block.text.rstrip("\n")]


def _here_document(name: str, text: str) -> list[str]:
    return [f"cat > {name} <<'END_OF_FILE'", text.rstrip("\n"), "END_OF_FILE"]


_PROLOGUE = """\
blocks=$(mktemp -d); started=
trap 'failures="$failures $?"' ERR"""
_EPILOGUE = """\
trap - ERR; [ -z "$started" ] || kill $started; rm -r "$blocks" """


def _environment() -> dict[str, str]:
    values = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("OTEL_", "AGENTOOL_", "OPENAI_", "PYTEST_", "PYTHON", "COLUMNS"))
    }
    return values | {
        "PATH": f"{Path(sys.executable).parent}:{values['PATH']}",
        "CHECKOUT": str(ROOT),
        "NO_COLOR": "1",
        "TERM": "dumb",
    }


def _free_port() -> int:
    with socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def main(arguments: list[str]) -> None:
    from tests.backends.built import built
    from tests.backends.servers import jaeger

    every = "--all" in arguments
    for name in arguments:
        if name == "--all":
            continue
        page = Path(name)
        with ExitStack() as stack:
            folder = Path(stack.enter_context(TemporaryDirectory()))
            ports, servers = dict[str, str](), frozenset[str]()
            if "<!-- with: jaeger -->" in page.read_text(encoding="utf-8") and built("jaeger"):
                running = stack.enter_context(jaeger(folder))
                ports, servers = jaeger_ports(running.http, running.query), frozenset({"jaeger"})
            (folder / "project").mkdir()
            outcomes = walk(page, folder / "project", servers=servers, ports=ports)
        for outcome in outcomes:
            if not outcome.as_stated:
                print(f"{outcome.block.place}: {outcome.failures}\n{outcome.output}")
        page.write_text(with_real_outputs(page, outcomes, every=every), encoding="utf-8")


def jaeger_ports(http: str, query: str) -> dict[str, str]:
    """Return the ports of a Jaeger at these URLs, by the ports that pages name."""
    return {"4318": http.rpartition(":")[2], "16686": query.rpartition(":")[2]}


if __name__ == "__main__":
    main(sys.argv[1:])
