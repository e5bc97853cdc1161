"""Scripts of what a user asks, a model answers and a machine does; no script knows an agent."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

__all__ = ["FILES", "MCP_ANSWERS", "NOT_RECORDED", "SITUATIONS", "STARTED", "Action", "Delegate",
           "Edit", "Failure", "Mcp", "ModelTurn", "Prompt", "Read", "Shell", "Situation",
           "Usage"]  # fmt: skip


@dataclass(frozen=True)
class Read:
    """Read a file of the project."""

    path: str


@dataclass(frozen=True)
class Edit:
    """Replace a text in a file of the project."""

    path: str
    old: str
    new: str


@dataclass(frozen=True)
class Shell:
    """Run a command in the project's folder."""

    command: str


@dataclass(frozen=True)
class Mcp:
    """Call a tool of the MCP server `demo`."""

    tool: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Delegate:
    """Start a sub-agent, which gets turns of its own."""

    prompt: str
    turns: tuple[ModelTurn, ...]


Action = Read | Edit | Shell | Mcp | Delegate


@dataclass(frozen=True)
class Usage:
    """Token counts of one turn: `cached` is a part of `input`, `reasoning` a part of `output`."""

    input: int
    cached: int
    output: int
    reasoning: int = 0


@dataclass(frozen=True, kw_only=True)
class ModelTurn:
    """One answer of the model."""

    text: str | None = None
    actions: tuple[Action, ...] = ()
    reasoning: str | None = None

    def usage(self, position: int) -> Usage:
        """Return the token counts of the turn at this position of the script, beginning with 1."""
        reasoning = 7 if self.reasoning else 0
        return Usage(1000 + 100 * position, 400, 20 + position + reasoning, reasoning)


@dataclass(frozen=True)
class Failure:
    """One answer of the model's server with an HTTP status other than 200."""

    status: int
    message: str


@dataclass(frozen=True)
class Prompt:
    """One prompt of the user, and the answers until the agent is done."""

    text: str
    answers: tuple[ModelTurn | Failure, ...]


@dataclass(frozen=True, kw_only=True)
class Situation:
    """One script. A prompt after the first one resumes the session in a new process."""

    prompts: tuple[Prompt, ...]
    content: bool = True
    """Whether the agent's switches for content in telemetry are on."""
    kill: bool = False
    """Whether the agent gets SIGKILL as soon as the file `STARTED` is there."""
    denied: tuple[str, ...] = ()
    """Programs that the shell tool may not run."""
    mcp: bool = False
    """Whether the MCP server `demo` is configured."""

    def turns(self) -> Iterator[tuple[int, ModelTurn]]:
        """Yield the model's turns with their positions; a sub-agent's follow the turn of its call.

        A failure has no position.
        """
        position = 0
        for prompt in self.prompts:
            for answer in prompt.answers:
                for turn in _with_delegated(answer):
                    position += 1
                    yield position, turn


def _with_delegated(answer: ModelTurn | Failure) -> Iterator[ModelTurn]:
    if isinstance(answer, ModelTurn):
        yield answer
        for action in answer.actions:
            if isinstance(action, Delegate):
                for turn in action.turns:
                    yield from _with_delegated(turn)


FILES = {"notes.txt": "Colour: red\nSize: 4\n", "prices.csv": "apple,3\npear,5\n"}
"""Files of the project."""
MCP_ANSWERS = {"colour": "The colour in the catalogue is green."}
"""Results of the MCP tool `lookup` by its argument `key`."""
STARTED = "started.txt"


def _says(text: str) -> ModelTurn:
    return ModelTurn(text=text)


def _does(*actions: Action, text: str | None = None, reasoning: str | None = None) -> ModelTurn:
    return ModelTurn(text=text, actions=actions, reasoning=reasoning)


def _situation(prompt: str, *answers: ModelTurn | Failure, **options: Any) -> Situation:
    return Situation(prompts=(Prompt(prompt, answers),), **options)


_CHANGE = Prompt(
    "Read notes.txt, change the colour to blue and count the lines.",
    (
        _does(Read("notes.txt"), text="I read the notes first."),
        _does(Edit("notes.txt", "Colour: red", "Colour: blue")),
        _does(Shell("wc -l < notes.txt")),
        _says("The colour is blue now, and the file has 2 lines."),
    ),
)

SITUATIONS: dict[str, Situation] = {
    "answer": _situation(
        "What is the capital of France?", _says("The capital of France is Paris.")
    ),
    "read_edit_shell": Situation(prompts=(_CHANGE,)),
    "failing_tool": _situation(
        "Run the check.",
        _does(Shell("echo the check is broken >&2; exit 3")),
        _says("The check failed with exit code 3."),
    ),
    "parallel_tools": _situation(
        "Show both files and the date of the release.",
        _does(
            Read("notes.txt"),
            Read("prices.csv"),
            Shell("echo released on 2026-01-31"),
            text="I look at all three at once.",
        ),
        _says("Red, size 4; apples cost 3 and pears 5; released on 2026-01-31."),
    ),
    "sub_agent": _situation(
        "Let a sub-agent find the size.",
        _does(
            Delegate(
                "Find the size in the file notes.txt and report it.",
                (_does(Read("notes.txt")), _says("The notes say size 4.")),
            )
        ),
        _says("The sub-agent has found size 4."),
    ),
    "mcp_tool": _situation(
        "Which colour does the catalogue have?",
        _does(Mcp("lookup", {"key": "colour"})),
        _says("The catalogue says green."),
        mcp=True,
    ),
    "second_turn": Situation(
        prompts=(
            Prompt("Remember the number 17.", (_says("I remember 17."),)),
            Prompt(
                "Which number was it? Look into prices.csv, too.",
                (_does(Read("prices.csv")), _says("It was 17, and apples cost 3.")),
            ),
        )
    ),
    "thinking": _situation(
        "Is the size even?",
        _does(Read("notes.txt"), reasoning="The size is in the notes, so I open them."),
        ModelTurn(text="Yes, 4 is even.", reasoning="Four is divisible by two."),
    ),
    "retried": _situation(
        "What is the capital of Italy?",
        Failure(429, "Too many requests, try again."),
        Failure(500, "The server had a hiccup."),
        _says("The capital of Italy is Rome."),
    ),
    "refused": _situation(
        "What is the capital of Spain?", Failure(400, "This request is not supported.")
    ),
    "killed": _situation(
        "Read the notes, then run the long job.",
        _does(Read("notes.txt")),
        _does(Shell(f"echo started > {STARTED}; sleep 45"), text="Now the long job."),
        kill=True,
    ),
    "denied": _situation(
        "Delete prices.csv.",
        _does(Shell("rm prices.csv")),
        _says("I may not delete the file."),
        denied=("rm",),
    ),
    "content_off": Situation(prompts=(_CHANGE,), content=False),
}

NOT_RECORDED: dict[str, str] = {}
"""Reasons by `agent/situation`."""
