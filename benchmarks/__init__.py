"""Cost of the package: `python -m benchmarks` measures and prints one table. See README.md."""
