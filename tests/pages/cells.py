"""The cells: features of an agent's run that a person needs, each judged by a page.

A cell is a function of everything shown. It is seen only if every span it is about shows it, and
there is one: an empty page shows nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from tests.pages.shown import Kind, Shown, Span

__all__ = ["CELLS", "Cell", "missing", "seen"]

Cell = Callable[[Shown], bool]
CELLS: dict[str, Cell] = {}
"""Name to cell, in the order of the table; the docstring of each describes what a person sees."""

T = TypeVar("T")
_AGENT, _TOOL, _CHAT = "invoke_agent", "execute_tool", "chat"
_DOCUMENTS = ("A trip needs a ticket.", "Night trains run all year.")
_ANSWER = "ES 475 runs every night."


def _cell(name: str) -> Callable[[Cell], Cell]:
    def add(cell: Cell) -> Cell:
        CELLS[name] = cell
        return cell

    return add


def seen(shown: Shown) -> dict[str, bool]:
    """Judge every cell."""
    return {name: cell(shown) for name, cell in CELLS.items()}


def missing(judged: dict[str, bool]) -> list[str]:
    """Return the names of the cells that are not seen."""
    return [name for name, is_seen in judged.items() if not is_seen]


def _every(things: Iterable[T], test: Callable[[T], bool]) -> bool:
    result = list(things)
    return bool(result) and all(map(test, result))


def _marked(spans: list[Span], kind: Kind) -> bool:
    return _every(spans, lambda span: span.kind == kind)


def _answers(shown: Shown) -> list[Span]:
    """The model calls that were answered: none but the last of `client` is refused."""
    return [span for span in shown.everywhere(_CHAT) if not span.error]


# ------------------------------------------------------------------------------------- the spans


@_cell("agent kind")
def _agent_kind(shown: Shown) -> bool:
    """Agents are marked as agents."""
    return _marked(shown.everywhere(_AGENT), "agent")


@_cell("tool kind")
def _tool_kind(shown: Shown) -> bool:
    """Tools are marked as tools."""
    return _marked(shown.everywhere(_TOOL), "tool")


@_cell("model kind")
def _model_kind(shown: Shown) -> bool:
    """Model calls are marked as model calls."""
    return _marked(shown.everywhere(_CHAT), "model")


# ------------------------------------------------------------------------------------- the model


@_cell("model name")
def _model_name(shown: Shown) -> bool:
    """Every model call shows its model."""
    return _every(shown.everywhere(_CHAT), lambda span: span.model == "gpt-5")


@_cell("tokens")
def _tokens(shown: Shown) -> bool:
    """Every answer shows how many tokens it took, input and output together."""
    return _every(_answers(shown), lambda span: span.tokens == 101 + 41)


@_cell("cost")
def _cost(shown: Shown) -> bool:
    """Every answer has a price."""
    return _every(_answers(shown), lambda span: bool(span.cost_usd))


@_cell("messages")
def _messages(shown: Shown) -> bool:
    """A model call is a readable chat, and an agent's answer is a message or plain text."""
    calls, agents = shown.spans("decorated", _CHAT), shown.spans("decorated", _AGENT)
    return (
        _every(shown.everywhere(_CHAT), lambda span: any(span.asked))
        and _every(calls, lambda span: "You write one sentence." in span.asked)
        and _every(calls, lambda span: _ANSWER in span.answered)
        and _every(agents, lambda span: _ANSWER in (*span.answered, span.output))
    )


@_cell("cached tokens")
def _cached_tokens(shown: Shown) -> bool:
    """Every answer shows how many of its input tokens came from a cache."""
    return _every(_answers(shown), lambda span: span.cached_tokens == 64)


@_cell("reasoning tokens")
def _reasoning_tokens(shown: Shown) -> bool:
    """Every answer shows how many of its output tokens were thoughts."""
    return _every(_answers(shown), lambda span: span.reasoning_tokens == 16)


@_cell("time to first token")
def _first_token(shown: Shown) -> bool:
    """A streamed answer shows how long its reader waited for the first word."""
    return _every(shown.spans("decorated", _CHAT), lambda span: span.first_token_s is not None)


# --------------------------------------------------------------------------------------- the run


@_cell("run input")
def _run_input(shown: Shown) -> bool:
    """The list of runs shows the input as it was written."""
    requests = {"decorated": "What is new in tracing?", "graph": "Book me a night train."}
    return _every(
        requests.items(),
        lambda item: _every(shown.runs(item[0]), lambda run: run.listed_input == item[1]),
    )


@_cell("run output")
def _run_output(shown: Shown) -> bool:
    """An opened run shows its output."""
    roots = ("invoke_agent researcher", "invoke_agent traveller")
    return _every(roots, lambda name: _every(shown.everywhere(name), _shows_answer))


def _shows_answer(span: Span) -> bool:
    return _ANSWER in span.output


@_cell("session")
def _session(shown: Shown) -> bool:
    """A run is found under its session, or the graph's thread."""
    sessions = ("decorated", "graph")
    return _every(
        sessions, lambda item: _every(shown.runs(item), lambda run: run.session == f"s-{item}")
    )


@_cell("user")
def _user(shown: Shown) -> bool:
    """A run is found under the user it was for."""
    return _every(
        ("decorated", "graph"), lambda item: _every(shown.runs(item), lambda run: run.user == "ada")
    )


# ------------------------------------------------------------------------------------- the tools


@_cell("tool arguments")
def _tool_arguments(shown: Shown) -> bool:
    """A tool shows its arguments."""
    return _every(
        shown.everywhere("execute_tool search"), lambda item: "tracing" in item.input
    ) and (_every(shown.everywhere("execute_tool book"), lambda item: "ES 475" in item.input))


@_cell("tool result")
def _tool_result(shown: Shown) -> bool:
    """A tool shows its result."""
    everywhere = shown.everywhere("execute_tool search")
    return _every(everywhere, lambda item: "spans for agents" in item.output) and (
        _every(shown.everywhere("execute_tool look_up"), lambda item: _DOCUMENTS[0] in item.output)
    )


@_cell("handoff message")
def _handoff(shown: Shown) -> bool:
    """A handoff shows the message to the other agent."""
    handoffs = shown.everywhere("execute_tool transfer_to_writer")
    return _every(handoffs, lambda item: "Write one sentence about spans" in item.input)


# ------------------------------------------------------------------------------------ the errors


@_cell("error a tool raises")
def _error_raised(shown: Shown) -> bool:
    """A tool that raised is marked, with the error's text."""
    return _failed(shown.everywhere("execute_tool forecast"), "no weather of Berlin")


@_cell("error LangGraph handles")
def _error_handled(shown: Shown) -> bool:
    """A tool that failed is marked although its graph, or the tool itself, went on."""
    return _failed(shown.everywhere("execute_tool book"), "sold out") and _failed(
        shown.everywhere("execute_tool reserve"), "no 2 seats left"
    )


@_cell("error of the model")
def _error_of_model(shown: Shown) -> bool:
    """A model call that was refused is marked, with the provider's words, and no other one is."""
    failed = [span for span in shown.everywhere(_CHAT) if span.error]
    return len(failed) == 1 and _failed(failed, "rate limit reached")


def _failed(spans: list[Span], words: str) -> bool:
    return _every(spans, lambda span: words in span.error)


# ------------------------------------------------------------------------- what was looked up


@_cell("retriever")
def _retriever(shown: Shown) -> bool:
    """A retrieval is marked as one and shows its query."""
    everywhere = shown.everywhere("retrieval")
    return _marked(everywhere, "retriever") and _every(
        everywhere, lambda item: "What does a trip need?" in item.input
    )


@_cell("documents")
def _documents(shown: Shown) -> bool:
    """A retrieval lists the documents it found, with their text."""
    return _every(shown.everywhere("retrieval"), lambda span: span.documents == _DOCUMENTS)


@_cell("memory")
def _memory(shown: Shown) -> bool:
    """A memory search shows query and results, a write its value; both have a mark."""
    read, write = shown.everywhere("search_memory"), shown.everywhere("upsert_memory")
    return (
        _every(read + write, lambda item: bool(item.kind))
        and _every(
            read, lambda item: "what ada likes" in item.input and "short answers" in item.output
        )
        and _every(write, lambda item: "asked for news of tracing" in item.input)
    )
