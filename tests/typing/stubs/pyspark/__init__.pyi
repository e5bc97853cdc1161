"""What this package uses of pyspark, which is not in the development environment."""

from typing import Any

class SparkConf:
    def get(self, key: str, default: str) -> str: ...
    def contains(self, key: str) -> bool: ...

class SparkContext:
    @classmethod
    def _ensure_initialized(cls) -> None: ...
    def __getattr__(self, name: str) -> Any: ...

class StorageLevel:
    DISK_ONLY: StorageLevel
