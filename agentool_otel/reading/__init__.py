"""From sources to rebuilt traces, where that takes more than one process.

parallel   rebuilding in several processes
"""
