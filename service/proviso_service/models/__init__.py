"""Models behind ports; adapters live in folders named after what they call."""
