"""The agent's tools, one file each. They are also unary RPCs."""
