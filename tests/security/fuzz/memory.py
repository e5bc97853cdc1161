"""A limit to the memory of this process."""

from __future__ import annotations

import resource
from pathlib import Path

__all__ = ["limit_memory"]


def limit_memory(size: int) -> None:
    """Limit the address space to what it is now, and so many bytes. Linux only."""
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    most = pages * resource.getpagesize() + size
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
