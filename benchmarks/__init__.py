"""Speed, memory and size, measured: `python -m benchmarks` prints one table."""
