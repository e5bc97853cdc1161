"""Every framework in the same situations, against the model server on this machine.

    situations    what they are, and what the model says in each
    drivers/      one file a framework: how it gets into each situation, or why it cannot
    readable      spans and the trajectory rebuilt of them, as text that a person can read
    expected/     that text, per framework and situation; `python -m tests.situations` writes it
    test_expected what is recorded is what stands there
    test_contract what holds for every framework: tokens, errors, no double spans, a good guest

A framework that is not installed is skipped; `poe frameworks` has environments with each.
"""
