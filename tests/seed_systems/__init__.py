"""Requirements of the five systems, in 88 numbered checks.

    checks        the promise of each, and why some cannot be shown here
    table         which tests show what; `python -m tests.seed_systems` runs them and prints it
    test_...      the tests, each with the number of its check in its name

A check without a test is printed as missing.
"""
