"""Writes `boards/*.json`:

    python collector-config/grafana/make_boards

Every expression runs in `poe backends` against a real Prometheus, with the metrics of real
programs. Grafana's drawing is not checked, for lack of a Grafana there. `boards/*.json` can be
imported into any Grafana with a Prometheus and a Tempo, whatever their names.

No panel shows the cost of models: the conventions have no metric for it, and few programs have it.
"""

from __future__ import annotations

import json
from pathlib import Path

from agents import AGENTS
from models import MODELS

boards = Path(__file__).parent.parent / "boards"
for name, it in {"agents.json": AGENTS, "models.json": MODELS}.items():
    (boards / name).write_text(json.dumps(it, indent=2) + "\n")
