"""Read written files with the packages they are meant for: `python check_with_packages.py FOLDER`.

For an environment of its own with harbor (Python 3.12), google-adk, inspect_ai or openai; what is
not installed there is skipped. FOLDER holds, for any of the formats F, what
`agentool-otel rebuild --format F -o FOLDER/F.json` wrote.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any


def _atif(file: Path) -> None:
    model: Any = import_module("harbor.models.trajectories").Trajectory
    for line in file.read_text().splitlines():
        model.model_validate_json(line)


def _adk_evalset(file: Path) -> None:
    model: Any = import_module("google.adk.evaluation.eval_set").EvalSet
    model.model_validate_json(file.read_text())


def _inspect(file: Path) -> None:
    import_module("inspect_ai.log").read_eval_log(str(file))


def _openai_messages(file: Path) -> None:
    message: Any = import_module("openai.types.chat").ChatCompletionMessageParam
    adapter: Any = import_module("pydantic").TypeAdapter(list[message])
    for line in file.read_text().splitlines():
        adapter.validate_python(json.loads(line)["messages"])


CHECKS: dict[str, Callable[[Path], None]] = {
    "atif": _atif,
    "adk-evalset": _adk_evalset,
    "inspect": _inspect,
    "openai-messages": _openai_messages,
}


def main(folder: Path) -> None:
    for name, check in CHECKS.items():
        file = folder / f"{name}.json"
        if not file.exists():
            continue
        try:
            check(file)
        except ModuleNotFoundError as error:
            print(f"{name}: skipped, {error.name} is not installed")
        else:
            print(f"{name}: read")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
