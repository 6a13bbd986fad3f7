"""What the service costs: `python -m benchmarks` (see README.md)."""
