"""Types of decorators and public functions, for type checkers.

`poe types` checks it, by mypy and pyright. Nothing here runs.
"""
