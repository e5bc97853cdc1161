"""An agent in plain Python, recorded: no framework, no model, no key.

    python examples/plain_agent.py
    agentool-otel show

The decorators cover all six step types of a trace: reasoning, tool_call and tool_result,
memory_read and memory_write, and handoff.
"""

from __future__ import annotations

import agentool_otel

agentool_otel.instrument(service_name="library")

BOOKS = {
    "Momo": "Michael Ende",
    "Solaris": "Stanisław Lem",
    "The Dispossessed": "Ursula K. Le Guin",
}
NOTES = {"reader": "likes science fiction, has read Solaris"}


@agentool_otel.step("memory_read")
def recall(query: str) -> list[str]:
    return [text for key, text in NOTES.items() if key in query]


@agentool_otel.step("memory_write")
def remember(key: str, content: str) -> None:
    NOTES[key] = content


@agentool_otel.step("reasoning")
def think(thought: str) -> str:
    return thought


@agentool_otel.tool
def search_books(author: str) -> list[str]:
    """Find the books of an author."""
    return [title for title, name in BOOKS.items() if author in name]


@agentool_otel.tool
def check_shelf(title: str) -> dict[str, object]:
    """Return whether a book is on its shelf."""
    if title not in BOOKS:
        raise LookupError(f"no book called {title!r}")
    return {"title": title, "shelf": "SF 12", "available": True}


@agentool_otel.agent(name="desk")
def desk(request: str) -> str:
    """Another agent, with a run of its own inside the first one's."""
    place = check_shelf(request.removeprefix("Put aside: "))
    return f"It waits for you at {place['shelf']}."


@agentool_otel.step("handoff")
def ask_the_desk(to_agent: str, message: str) -> str:
    return desk(message)


@agentool_otel.agent(name="librarian")
def librarian(question: str) -> str:
    entries = recall("what do I know about this reader?")
    think(f"The reader {entries[0]}, so something by Le Guin.")
    try:
        check_shelf("The Left Hand of Darkness")
    except LookupError:
        think("We do not have that one. What else is there?")
    title = search_books("Le Guin")[0]
    answer = ask_the_desk("desk", f"Put aside: {title}")
    remember("reader", f"was given {title}")
    return f"Read {title!r} next. {answer}"


if __name__ == "__main__":
    print(librarian("What should I read next?"))
    agentool_otel.flush()
    print("recorded in", agentool_otel.status().get("recording"))
