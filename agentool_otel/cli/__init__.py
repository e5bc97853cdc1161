"""The command `agentool-otel`: one file per command, each imported when it is called.

    run        record a Python program without changing it
    demo       an agent runs here and now; its spans, its steps
    show       the steps of recorded runs, for people
    eval       recorded runs held against cases
    diff       what differs between recorded runs
    rebuild    spans to ReasoningTrace JSON Lines
    export     ReasoningTrace documents to spans
    validate   any document or recording
    doctor     what is attached, where spans go, and whether they arrive

Data goes to stdout, words and progress to stderr. Exit codes: 0 good, 1 input partly unreadable or
something found wrong, 2 usage, 3 input unreadable.
"""

from __future__ import annotations

from agentool_otel.cli._main import main

__all__ = ["main"]
