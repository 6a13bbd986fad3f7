"""A turn's life: one user message to exactly one final state."""
