"""What decorators and public functions promise to a type checker.

`poe types` checks it, by mypy and pyright. Nothing here runs.
"""
