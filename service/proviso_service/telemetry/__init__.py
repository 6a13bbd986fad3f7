"""Logs, traces and metrics of the service. `spans` starts spans, `tracing` sends them, `metrics` sends numbers,
`logging` sets up the logs."""
