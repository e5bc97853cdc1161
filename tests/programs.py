"""Programs of agents for laws about files: drawn, written in a vocabulary, rebuilt by the command.

A law writes one program twice, in the ordinary form and in another one, and expects the same
documents.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple, cast

from hypothesis import strategies as st

from agentool_otel.cli import main
from agentool_otel.dialects.gen_ai.dialect import GenAI
from agentool_otel.dialects.kit.dialect import WritingDialect, writing_dialect
from agentool_otel.model import operations as ops
from agentool_otel.model.messages import message, text
from agentool_otel.model.spans import SpanRecord
from agentool_otel.semconv.table import GENERATIONS
from tests.click_runner import CliRunner

__all__ = [
    "START",
    "WRITERS",
    "Reading",
    "numbered",
    "programs",
    "read_file",
    "rebuilt",
    "spans_of",
    "words",
]

START = 1_790_000_000_000_000_000
_SECOND = 10**9
WRITERS: dict[str, WritingDialect] = {
    **{f"GenAI {name}": cast("WritingDialect", GenAI(name)) for name in GENERATIONS},
    "OpenInference": writing_dialect("openinference"),
    "OpenLLMetry": writing_dialect("traceloop"),
}
"""Every dialect that writes, GenAI in each generation of the conventions."""
_IDS = re.compile(r"\b(?:[0-9a-f]{32}|[0-9a-f]{16})\b")

words = st.text("abcdefgh", min_size=1, max_size=6)
_calls = st.one_of(
    st.builds(
        ops.Inference,
        operation=st.just("chat"),
        request_model=words,
        usage=st.builds(ops.Usage, input_tokens=st.integers(1, 99)),
        input=words.map(lambda word: [message("user", [text(word)])]),
        output=words.map(lambda word: [message("assistant", [text(word)])]),
    ),
    st.builds(
        ops.ToolExecution,
        name=words,
        call_id=words,
        arguments=st.dictionaries(words, words, max_size=2),
        result=words,
    ),
)


@st.composite
def programs(draw: st.DrawFn) -> list[ops.Operation]:
    """Draw an agent's run, then its calls."""
    agent = ops.AgentInvocation(agent_name=draw(words))
    return [agent, *draw(st.lists(_calls, min_size=1, max_size=3))]


def spans_of(program: Sequence[ops.Operation], dialect: WritingDialect) -> list[SpanRecord]:
    """Write operations as one trace, the first one around the others."""
    spans: list[SpanRecord] = []
    for n, operation in enumerate(program):
        written = dialect.write(operation)
        spans.append(
            SpanRecord(
                f"{0xA1B2C3D4E5F60718 << 64 | 1:032x}",
                _span_id(n),
                None if n == 0 else _span_id(0),
                written.name,
                written.kind,
                START + n * _SECOND,
                START + (100 * _SECOND if n == 0 else n * _SECOND + 10**8),
                written.attributes,
                scope="app",
                resource={"service.name": "app"},
            )
        )
    return spans


def _span_id(number: int) -> str:
    return f"{0xC0FFEE0000000001 + number:016x}"


class Reading(NamedTuple):
    """Output of the command for a file."""

    documents: list[Any]
    words: str
    """Standard error."""
    code: int


def read_file(data: bytes, command: str = "rebuild", *options: str) -> Reading:
    """Run a command on a file."""
    with TemporaryDirectory() as folder:
        (file := Path(folder) / "spans").write_bytes(data)
        result = CliRunner().invoke(main, [command, str(file), *options])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    documents = [json.loads(line) for line in result.stdout.splitlines()]
    return Reading(documents, result.stderr, result.exit_code)


def rebuilt(data: bytes) -> list[Any]:
    """Return the documents that `agentool-otel rebuild` prints for a file."""
    return read_file(data).documents


def numbered(documents: list[Any]) -> list[Any]:
    """Return documents with each trace and span id replaced by its number, in order."""
    numbers: dict[str, str] = {}
    encoded = _IDS.sub(
        lambda match: numbers.setdefault(match[0], f"id {len(numbers)}"), json.dumps(documents)
    )
    result: list[Any] = json.loads(encoded)
    return result
