"""Logs and traces of the service. `spans` starts spans, `tracing` sends them, `logging` sets up the logs."""
