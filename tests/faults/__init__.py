"""System calls that fail at every place where one is made: SQLite's method.

    python -m tests.faults              every command, call and error
    python -m tests.faults record       one command

A fault is injected below Python, by a library that takes the place of libc's functions.
"""
