"""Run the tests of the 88 checks, and print a line for each: `python -m tests.seed_systems`."""

from __future__ import annotations

import contextlib
import io

from tests.seed_systems.table import lines, rows, run


def main() -> int:
    with contextlib.redirect_stdout(io.StringIO()):
        outcomes = run()
    print("\n".join(lines(outcomes)))
    return 1 if any(row.state == "fails" for row in rows(outcomes)) else 0


if __name__ == "__main__":
    raise SystemExit(main())
