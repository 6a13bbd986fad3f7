"""Measures what the service costs in time and memory: `python -m benchmarks` (see README.md)."""
