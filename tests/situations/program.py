"""A program without any tracing that puts one framework through one situation.

python -m tests.situations.program langchain plain http://127.0.0.1:8000/v1
"""

from __future__ import annotations

import sys

from tests.situations.situations import driver_of, possible


def main(framework: str, situation: str, url: str) -> int:
    driver = driver_of(framework)
    if driver is None:
        print(f"{framework} is not installed", file=sys.stderr)
        return 1
    print(possible(driver)[situation](url))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(*sys.argv[1:]))
