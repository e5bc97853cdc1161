"""Run the tests of the 88 checks, and print a line for each.

python -m tests.seed_systems
python -m tests.seed_systems --outcomes amplifier      for another environment: JSON, of one folder
"""

from __future__ import annotations

import contextlib
import json
import sys

from tests.seed_systems.table import FOLDER, lines, outcomes_here, rows, run


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["--outcomes"]:
        with contextlib.redirect_stdout(sys.stderr):
            result = outcomes_here(FOLDER / arguments[1])
        print(json.dumps({number: sorted(of) for number, of in result.of.items()}))
        return 0
    if arguments:
        print(__doc__, file=sys.stderr)
        return 2
    with contextlib.redirect_stdout(sys.stderr):
        outcomes = run()
    print("\n".join(lines(outcomes)))
    return 1 if any(row.state == "fails" for row in rows(outcomes)) else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
