"""What the package costs: `python -m benchmarks` measures and prints one table. See README.md."""
