"""Real coding agents against a loopback model, and the files with what they record.

`situations.py` has the scripts, `agents/` one file per agent, `running.py` one run,
`recordings.py` the files in `tests/fixtures/coding_agents/`.

    python -m tests.coding_agents record                     every agent in every situation
    python -m tests.coding_agents record codex/killed        one situation of one agent
    python -m tests.coding_agents check                      record anew, and compare
    python -m tests.coding_agents upgrade                    pin the newest versions
"""
