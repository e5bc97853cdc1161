"""Print the table of ends for the APIs that are installed: `python -m tests.endings [API …]`."""

from __future__ import annotations

import sys

from tests.endings.table import cell, cells, installed
from tests.situations.conftest import stages


def main(names: list[str]) -> int:
    with stages() as stage:
        stage.set()
        for api in installed():
            if names and not any(name in f"{api.name} {api.kind}" for name in names):
                continue
            for end in cells(api):
                print(f"{api.name:18} {api.kind:13} {end:19} {tuple(cell(stage, api, end))}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
