"""Write the current spans down as expected. Read the difference before it is committed.

python -m tests.situations                 every framework that is installed
python -m tests.situations openai langchain
"""

from __future__ import annotations

import sys

from tests.situations.conftest import stages
from tests.situations.expected import path_of
from tests.situations.readable import readable
from tests.situations.situations import driver_of, frameworks, possible


def main(names: list[str]) -> int:
    with stages() as stage:
        for framework in names or frameworks():
            driver = driver_of(framework)
            if driver is None:
                print(f"{framework} is not installed", file=sys.stderr)
                continue
            for situation in possible(driver):
                stage.set()
                outcome, error = stage.play(driver, situation)
                path = path_of(framework, situation)
                path.parent.mkdir(exist_ok=True)
                path.write_text(readable(stage.recorded.spans()), encoding="utf-8")
                print(f"{framework} {situation}: {error!r} {outcome!r}"[:160], file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
